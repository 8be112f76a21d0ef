import assert from "node:assert/strict";
import { test } from "node:test";
import headless from "@xterm/headless";
import type { Terminal } from "@xterm/xterm";
import { defaultWidths, follow, provider, type Widths } from "./widths";

// The columns are those that tmux of that version was seen to use.
const newer: Widths = { zwj: true, vs16: true, flags: true, skinTones: true };

async function show(text: string, widths = defaultWidths): Promise<{ row: string; column: number }> {
  const term = new headless.Terminal({ cols: 40, rows: 4, allowProposedApi: true });
  follow(term as unknown as Terminal, widths);
  await new Promise<void>((done) => term.write(text, done));
  const { active } = term.buffer;
  const shown = { row: active.getLine(active.cursorY)?.translateToString(true) ?? "", column: active.cursorX };
  term.dispose();
  return shown;
}

test("tmux 3.3a goes by wcwidth and joins after a ZWJ", async () => {
  for (const [text, column] of [
    ["👩‍🔬", 2], ["👨‍👩‍👧‍👦", 2], ["👍🏽", 4], ["🇩🇪", 2], ["❤️", 1], ["1️⃣", 1], ["漢字", 4], ["e\u0301", 1], ["한", 2],
    ["\u1112\u1161\u11ab", 2], ["क्ष", 2], ["─┐", 2], ["\ue0b0", 1], ["a\u00adb", 3], ["\u4dc0", 2], ["ශ්\u200dරී", 1],
  ] as const)
    assert.equal((await show(text)).column, column, text);
});

test("tmux 3.3a drops what it does not know and what has no cell to join", async () => {
  assert.deepEqual(await show("a\u{1fae9}b"), { row: "ab", column: 2 });
  assert.deepEqual(await show("\u0301a"), { row: "a", column: 1 });
  assert.deepEqual(await show("\u200d漢a"), { row: "a", column: 1 });
});

test("a joiner before a reset joins nothing after it", async () => {
  assert.deepEqual(await show("a\u200d\x1b[!p|漢"), { row: "a|漢", column: 4 });
  assert.deepEqual(await show("a\u200d\x1bc|漢"), { row: "|漢", column: 3 });
});

test("a mark joins the cell left of the cursor after an escape sequence too", async () => {
  assert.deepEqual(await show("e\x1b[1m\u0301"), { row: "e\u0301", column: 1 });
});

test("newer versions join flags, skin tones and VS16", async () => {
  for (const [text, column] of [
    ["👩‍🔬", 2], ["👍🏽", 2], ["x🏽", 3], ["漢🏽", 4], ["🇩🇪🇫🇷", 4], ["❤️", 2], ["1️⃣", 2], ["\u{1fae9}", 1],
  ] as const)
    assert.equal((await show(text, newer)).column, column, text);
});

test("a version before ZWJ keeps the characters apart", async () => {
  assert.equal((await show("👩‍🔬", { ...defaultWidths, zwj: false })).column, 4);
});

test("every code point has a width", () => {
  const { wcwidth } = provider(defaultWidths);
  assert.equal(wcwidth(0x10ffff), 0);
  assert.equal(wcwidth(0x10fffd), 1);
  assert.equal(wcwidth(0x7e), 1);
});

test("xterm.js moves as tmux does with a wrap pending", async () => {
  const full = "x".repeat(40);
  assert.equal((await show(full + "\b")).column, 39);
  assert.equal((await show(full + "\x1b[D")).column, 39);
  assert.equal((await show(full + "\x1b[P")).row, full);
  assert.equal((await show(full + "\nz")).row, "z");
  assert.equal((await show("abc\x1b[L")).column, 3);
});

test("lines that leave a scroll region are history", async () => {
  const term = new headless.Terminal({ cols: 10, rows: 5, allowProposedApi: true });
  follow(term as unknown as Terminal, defaultWidths);
  await new Promise<void>((done) => term.write("top\x1b[2;3r\x1b[3;1H1\r\n2\r\n3\r\n4", done));
  assert.equal(term.buffer.active.baseY, 3);
  assert.equal(term.buffer.active.getLine(1)?.translateToString(true), "1");
  assert.equal(term.buffer.active.getLine(3)?.translateToString(true), "top");
  term.dispose();
});
