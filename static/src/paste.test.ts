import assert from "node:assert/strict";
import { test } from "node:test";
import { preparePaste } from "./paste";

const pasted = (text: string): string => new TextDecoder().decode(preparePaste(text).data);

test("Enter is a return, and text is kept", () => {
  assert.equal(pasted("a\nb\r\nc\rd"), "a\rb\rc\rd");
  assert.equal(pasted("日本\té €"), "日本\té €");
});

test("what would end the brackets, or is no text, is taken out", () => {
  assert.equal(pasted("ls\x1b[201~\nrm -rf x"), "ls\rrm -rf x");
  assert.equal(pasted("\x1b[200~x"), "x");
  assert.doesNotMatch(pasted("\x1b[20\x1b[201~1~id\r"), /\x1b/);
  assert.equal(pasted("a\x00\x03\x1b\x7fb\x9bc\x9d"), "abc");
});

test("lines are those that would run one after the other", () => {
  assert.equal(preparePaste("ls").lines, 1);
  assert.equal(preparePaste("ls\n").lines, 1);
  assert.equal(preparePaste("ls\r\npwd").lines, 2);
  assert.equal(preparePaste("ls\n\n").lines, 2);
});
