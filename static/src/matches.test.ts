import assert from "node:assert/strict";
import { test } from "node:test";
import headless from "@xterm/headless";
import type { Terminal } from "@xterm/xterm";
import { History } from "./history";
import { Matches, type Query } from "./matches";
import { follow, defaultWidths } from "./widths";

const plain: Query = { text: "", matchCase: false, wholeWord: false, regex: false };

function terminal(cols: number, rows: number, scrollback: number) {
  const term = new headless.Terminal({ cols, rows, scrollback, allowProposedApi: true });
  follow(term as unknown as Terminal, defaultWidths);
  const history = new History(term as unknown as Terminal);
  return {
    term,
    history,
    write: (text: string) => new Promise<void>((done) => term.write(text.replaceAll("\n", "\r\n"), done)),
    /** Rows and columns that match, and the text there. */
    find: (query: Partial<Query>): string[] => {
      const matches = new Matches(history, { ...plain, ...query });
      history.update();
      matches.update();
      return matches.list.map(({ row, at, length }) => {
        const from = history.placeAt(row, at);
        const to = history.placeAt(row, at + length);
        return `${history.rowAt(row) + from.row}:${from.column}-${history.rowAt(row) + to.row}:${to.column}`;
      });
    },
  };
}

test("case, words and expressions", async () => {
  const t = terminal(40, 5, 100);
  await t.write("Error error ERRORS a.b\nx=error_1 äerror (a.b)");
  assert.deepEqual(t.find({ text: "error" }), ["0:0-0:5", "0:6-0:11", "0:12-0:17", "1:2-1:7", "1:11-1:16"]);
  assert.deepEqual(t.find({ text: "error", matchCase: true }), ["0:6-0:11", "1:2-1:7", "1:11-1:16"]);
  assert.deepEqual(t.find({ text: "error", wholeWord: true }), ["0:0-0:5", "0:6-0:11"]);
  assert.deepEqual(t.find({ text: "a.b" }), ["0:19-0:22", "1:18-1:21"]);
  assert.deepEqual(t.find({ text: "^x=.*_", regex: true }), ["1:0-1:8"]);
  assert.deepEqual(t.find({ text: "b\\s*x", regex: true }), [], "an expression does not go over lines");
  assert.deepEqual(t.find({ text: "[^z]+$", regex: true }).length, 2);
  assert.deepEqual(t.find({ text: "z*", regex: true }), [], "nothing is no match");
  assert.throws(() => t.find({ text: "(", regex: true }));
});

test("wide, joined and wrapped text is found where it is shown", async () => {
  const t = terminal(10, 9, 100);
  await t.write("漢字 e\u0301x 👍!\n0123456789abcdef\n12345678漢字9\n123456789漢!");
  assert.deepEqual(t.find({ text: "字" }), ["0:2-0:4", "5:0-5:2"]);
  assert.deepEqual(t.find({ text: "x" }), ["0:6-0:7"]);
  assert.deepEqual(t.find({ text: "!" }), ["1:0-1:1", "7:2-7:3"]);
  assert.deepEqual(t.find({ text: "89ab" }), ["2:8-3:2"]);
  assert.deepEqual(t.find({ text: "8漢字9" }), ["4:7-5:3"]);
  assert.deepEqual(t.find({ text: "9漢!" }), ["6:8-7:3"], "a wide character that did not fit");
});

test("what scrolls away, comes and is cleared is followed", async () => {
  const t = terminal(20, 4, 3000);
  const matches = new Matches(t.history, { ...plain, text: "line 2" });
  const count = (): number => {
    t.history.update();
    matches.update();
    return matches.list.length;
  };
  const lines = (from: number, to: number): Promise<void> =>
    t.write(Array.from({ length: to - from }, (_, i) => `line ${from + i}\n`).join(""));
  await lines(0, 2000);
  assert.equal(count(), 111); // 2, 20-29, 200-299
  await lines(2000, 2500);
  assert.equal(count(), 611);
  await lines(3000, 3500); // the history is full: the first rows go
  const expected = Array.from({ length: t.term.buffer.active.length }, (_, row) => t.term.buffer.active.getLine(row)?.translateToString(true) ?? "");
  assert.equal(count(), expected.filter((text) => text.startsWith("line 2")).length);
  for (const match of matches.list) assert.ok(expected[t.history.rowAt(match.row)].startsWith("line 2"));
  t.term.resize(7, 4); // wrapped anew: "line 20" still fits, "line 200" does not
  assert.equal(count() > 0, true);
  await t.write("\x1b[H\x1b[2J\x1b[3J");
  assert.equal(count(), 0);
  await t.write("line 2\x1b[?1049h\x1b[Hline 2 line 2");
  assert.equal(count(), 2, "the screen that is shown is searched");
  await t.write("\x1b[?1049l");
  assert.equal(count(), 1);
});

test("50,000 lines are searched, and no more is kept than is bounded", async () => {
  const t = terminal(120, 40, 50_000);
  let text = "";
  for (let i = 0; i < 50_000; i++) text += `\x1b[1mmodule${i % 311}/file.c:${i}:\x1b[0m warning: line ${i} of this history, 漢字\n`;
  await t.write(text);
  assert.equal(t.find({ text: "WARNING: line 4999" }).length, 11);
  assert.equal(t.find({ text: "of this history" }).length, 50_000);
  assert.equal(t.find({ text: "e" }).length, 100_000, "what is kept is bounded");
});
