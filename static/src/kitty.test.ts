import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeKey } from "./kitty";

const key = (name: string, modifiers = "", code = name.length === 1 ? `Key${name.toUpperCase()}` : name) => ({
  key: name,
  code,
  ctrlKey: modifiers.includes("C"),
  altKey: modifiers.includes("A"),
  shiftKey: modifiers.includes("S"),
  metaKey: modifiers.includes("M"),
});

test("nothing changes for programs that did not ask", () => {
  assert.equal(encodeKey(key("Enter", "S"), 0), undefined);
  assert.equal(encodeKey(key("Escape"), 0), undefined);
});

test("keys that look alike are told apart once asked for", () => {
  for (const [name, event, want] of [
    ["Enter", key("Enter"), undefined],
    ["Shift+Enter", key("Enter", "S"), "\x1b[13;2u"],
    ["Ctrl+Enter", key("Enter", "C"), "\x1b[13;5u"],
    ["Tab", key("Tab"), undefined],
    ["Shift+Tab", key("Tab", "S"), "\x1b[9;2u"],
    ["Alt+Backspace", key("Backspace", "A"), "\x1b[127;3u"],
    ["Esc", key("Escape"), "\x1b[27u"],
    ["Ctrl+I", key("i", "C"), "\x1b[105;5u"],
    ["Ctrl+Shift+A", key("A", "CS", "KeyA"), "\x1b[97;6u"],
    ["Alt+A", key("a", "A"), "\x1b[97;3u"],
    ["a", key("a"), undefined],
    ["A", key("A", "S"), undefined],
    ["Ctrl+Space", key(" ", "C", "Space"), "\x1b[32;5u"],
    ["Ctrl+я", key("я", "C", "KeyZ"), "\x1b[122;5u"],
    ["arrow", key("ArrowUp", "C"), undefined],
  ] as const) {
    assert.equal(encodeKey(event, 1), want, name);
  }
});

test("Ctrl+C interrupts whatever a program has left on", () => {
  assert.equal(encodeKey(key("c", "C"), 1), undefined);
  assert.equal(encodeKey(key("c", "CS"), 1), "\x1b[99;6u");
  assert.equal(encodeKey(key("c", "C"), 9), "\x1b[99;5u"); // it asked for every key
});

test("every key is reported to who asked for all", () => {
  assert.equal(encodeKey(key("a"), 8), "\x1b[97u");
  assert.equal(encodeKey(key("Enter"), 8), "\x1b[13u");
});

test("AltGr types characters", () => {
  assert.equal(encodeKey({ ...key("@", "CA", "KeyQ"), altGraph: true }, 1), undefined);
});
