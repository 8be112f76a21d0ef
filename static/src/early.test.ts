import assert from "node:assert/strict";
import { test } from "node:test";
import { earlyText } from "./early";

const press = (key: string, modifiers = "") => ({
  key,
  ctrlKey: modifiers.includes("C"),
  altKey: modifiers.includes("A"),
  metaKey: modifiers.includes("M"),
  altGraph: modifiers.includes("G"),
});

test("characters and plain keys type what they type in any mode", () => {
  for (const [key, text] of [["a", "a"], ["é", "é"], ["😀", "😀"], [" ", " "], ["Enter", "\r"], ["Backspace", "\x7f"]]) {
    assert.equal(earlyText(press(key)), text);
  }
  assert.equal(earlyText(press("@", "CAG")), "@", "AltGr is reported as Ctrl and Alt");
});

test("what depends on modes, or is the browser's, is left alone", () => {
  for (const key of ["ArrowUp", "Home", "F5", "Shift", "Dead"]) assert.equal(earlyText(press(key)), undefined);
  for (const modifier of ["C", "A", "M"]) assert.equal(earlyText(press("r", modifier)), undefined);
});
