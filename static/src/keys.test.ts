import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf, keysOf, tabNumber } from "./keys";
import { strings } from "./strings";

const press = (code: string, modifiers = "") => ({
  code,
  ctrlKey: modifiers.includes("C"),
  altKey: modifiers.includes("A"),
  shiftKey: modifiers.includes("S"),
  metaKey: modifiers.includes("M"),
});

test("nothing that shells and editors use is taken", () => {
  for (let i = 0; i < 26; i++) {
    const code = `Key${String.fromCharCode(65 + i)}`;
    for (const modifiers of ["", "S", "C", "A", "AS", "CA"]) {
      assert.equal(commandOf(press(code, modifiers), true), undefined, modifiers + code);
    }
  }
  // Ctrl+_ undoes, Ctrl+^ goes to the other file, Ctrl+@ sets the mark.
  for (const code of ["Minus", "Digit6", "Digit2"]) {
    assert.equal(commandOf(press(code, "CS"), false), undefined, code);
    assert.equal(tabNumber(press(code, "CS")), undefined, code);
  }
  for (const code of ["Enter", "Tab", "Escape", "Space", "ArrowUp", "ArrowLeft", "Home", "F1", "F12"]) {
    for (const modifiers of ["", "S", "C", "A"]) {
      assert.equal(commandOf(press(code, modifiers), false), undefined, modifiers + code);
    }
  }
});

test("shortcuts are found by their keys", () => {
  assert.equal(commandOf(press("KeyT", "CS"), false), "newTab");
  assert.equal(commandOf(press("PageUp", "CS"), false), "moveTabLeft");
  assert.equal(commandOf(press("PageUp", "C"), false), "previousTab");
  assert.equal(commandOf(press("BracketRight", "CS"), false), "nextTab");
  assert.equal(commandOf(press("KeyC", "CS"), false), "copy");
  assert.equal(commandOf(press("ArrowLeft", "CA"), false), "focusLeft");
  assert.equal(commandOf(press("ArrowDown", "CAS"), false), "swapDown");
  assert.equal(tabNumber(press("Digit3", "CA")), 3);
  assert.equal(tabNumber(press("Digit3", "C")), undefined);
  assert.equal(tabNumber({ ...press("Digit3", "CA"), altGraph: true }), undefined);
});

test("every command has a name, and its keys are spelled", () => {
  assert.equal(keysOf("newTab"), "Ctrl+Shift+T");
  assert.equal(keysOf("nextPane"), "Ctrl+Shift+;");
  for (const [command, name] of Object.entries(strings.command)) assert.ok(name, command);
});
