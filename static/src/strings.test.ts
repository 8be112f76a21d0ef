import assert from "node:assert/strict";
import { test } from "node:test";
import { filter } from "./palette";
import { bytes, duration, shorten, strings } from "./strings";

test("durations are said as people do", () => {
  for (const [seconds, want] of [[0, ""], [5, "5 s"], [240, "4 min"], [7200, "2 h"], [3 * 86_400, "3 d"]] as const) {
    assert.equal(duration(seconds * 1000), want);
  }
});

test("sizes are said as people do", () => {
  assert.deepEqual([12, 2048, 1.5 * 2 ** 20, 100 * 2 ** 20].map(bytes), ["12 B", "2 KB", "1.5 MB", "100 MB"]);
});

test("texts shorten in the middle and never through a character", () => {
  assert.equal(shorten("/home/me/src/project/app", 11), "/home…t/app");
  assert.equal(shorten("short", 11), "short");
  assert.equal(shorten("😀😁😂😃😄😅", 5), "😀😁…😄😅");
});

test("counts agree with their nouns", () => {
  assert.equal(strings.keysWaiting(1), "1 key waiting");
  assert.equal(strings.keysWaiting(12), "12 keys waiting");
});

test("the palette finds by words, and begins with what begins so", () => {
  const entries = ["Close terminal", "New terminal", "Go to new thing"].map((label) => ({ label, run: () => {} }));
  assert.deepEqual(filter(entries, "new").map(({ label }) => label), ["New terminal", "Go to new thing"]);
  assert.deepEqual(filter(entries, "term cl").map(({ label }) => label), ["Close terminal"]);
  assert.equal(filter(entries, "").length, 3);
  assert.equal(filter(entries, "xyz").length, 0);
});
