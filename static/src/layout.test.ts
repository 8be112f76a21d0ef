import assert from "node:assert/strict";
import { test } from "node:test";
import { dividerRect, dividers, dropSide, fit, frameRect, neighbour, paneRect, scaledFont, sideRect } from "./layout";
import type { PaneBox } from "./wire";

const cell = { width: 8, height: 16 };
const box = (id: number, left: number, top: number, cols: number, rows: number): PaneBox => ({ id, left, top, cols, rows });

test("fit counts whole cells within the server's bounds", () => {
  assert.deepEqual(fit({ width: 640, height: 384 }, cell), { cols: 80, rows: 24 });
  assert.deepEqual(fit({ width: 639, height: 383 }, cell), { cols: 79, rows: 23 });
  assert.deepEqual(fit({ width: 0, height: 0 }, cell), { cols: 2, rows: 1 });
  assert.deepEqual(fit({ width: 1e6, height: 1e6 }, cell), { cols: 1000, rows: 500 });
  // 80 cells of 7.8 px are 623.9999999999999 px to a computer.
  assert.equal(fit({ width: 7.8 * 80 - 1e-6, height: 16 }, { width: 7.8, height: 16 }).cols, 80);
});

test("a pane is at its cells", () => {
  assert.deepEqual(paneRect(box(1, 41, 10, 39, 14), cell), { left: 328, top: 160, width: 312, height: 224 });
});

test("one pane has no divider", () => {
  assert.deepEqual(dividers({ size: { cols: 80, rows: 24 }, panes: [box(1, 0, 0, 80, 24)] }), []);
});

test("two columns have one, moved by the left pane", () => {
  const size = { cols: 80, rows: 24 };
  const [line, ...more] = dividers({ size, panes: [box(1, 0, 0, 40, 24), box(2, 41, 0, 39, 24)] });
  assert.deepEqual(line, { axis: "x", at: 40, from: 0, to: 24, pane: 1 });
  assert.deepEqual(more, []);
  assert.deepEqual(dividerRect(line, size, cell), { left: 324, top: 0, width: 1, height: 384 });
});

test("a line beside which a pane goes on is one", () => {
  // The left column is split, the right is whole.
  const panes = [box(1, 0, 0, 40, 12), box(2, 0, 13, 40, 11), box(3, 41, 0, 39, 24)];
  assert.deepEqual(dividers({ size: { cols: 80, rows: 24 }, panes }), [
    { axis: "x", at: 40, from: 0, to: 24, pane: 1 },
    { axis: "y", at: 12, from: 0, to: 40, pane: 1 },
  ]);
});

test("two lines that only meet are two", () => {
  // Two rows, each split at the same column: each half is moved by itself.
  const panes = [box(1, 0, 0, 40, 12), box(2, 41, 0, 39, 12), box(3, 0, 13, 40, 11), box(4, 41, 13, 39, 11)];
  const lines = dividers({ size: { cols: 80, rows: 24 }, panes });
  assert.deepEqual(lines.filter((line) => line.axis === "x"), [
    { axis: "x", at: 40, from: 0, to: 12, pane: 1 },
    { axis: "x", at: 40, from: 13, to: 24, pane: 3 },
  ]);
});

test("a divider reaches the middle of those it meets", () => {
  const size = { cols: 80, rows: 24 };
  const rect = dividerRect({ axis: "x", at: 40, from: 13, to: 24, pane: 3 }, size, cell);
  assert.deepEqual(rect, { left: 324, top: 12.5 * 16, width: 1, height: 11.5 * 16 });
});

test("the mark of the active pane lies on its dividers only", () => {
  const size = { cols: 80, rows: 24 };
  const whole = frameRect(box(1, 0, 0, 80, 24), size, cell);
  assert.deepEqual(whole.sides, [false, false, false, false]);
  const { sides, ...rect } = frameRect(box(2, 41, 0, 39, 24), size, cell);
  assert.deepEqual(sides, [false, false, false, true]);
  assert.deepEqual(rect, { left: 324, top: 0, width: 640 - 324, height: 384 });
});

test("another device's size is made to fit, and never enlarged", () => {
  const place = { width: 320, height: 480 };
  assert.equal(scaledFont(place, { cols: 40, rows: 20 }, cell, 13), 13);
  assert.equal(scaledFont(place, { cols: 80, rows: 24 }, cell, 13), 6.5);
  assert.equal(scaledFont(place, { cols: 1000, rows: 24 }, cell, 13), 2);
});

test("the neighbour of a pane is the one that shares most of its side", () => {
  // Left 1 over 2, right 3 whole.
  const panes = [box(1, 0, 0, 40, 8), box(2, 0, 9, 40, 15), box(3, 41, 0, 39, 24)];
  assert.equal(neighbour(panes, 3, "left"), 2);
  assert.equal(neighbour(panes, 1, "right"), 3);
  assert.equal(neighbour(panes, 2, "up"), 1);
  assert.equal(neighbour(panes, 1, "down"), 2);
  assert.equal(neighbour(panes, 1, "left"), undefined);
  assert.equal(neighbour(panes, 3, "down"), undefined);
  assert.equal(neighbour(panes, 9, "up"), undefined);
});

test("a pane is dropped beside another at its sides, and into its place in the middle", () => {
  const rect = { left: 100, top: 50, width: 200, height: 100 };
  assert.equal(dropSide(rect, 110, 100), "left");
  assert.equal(dropSide(rect, 295, 100), "right");
  assert.equal(dropSide(rect, 200, 55), "up");
  assert.equal(dropSide(rect, 200, 145), "down");
  assert.equal(dropSide(rect, 200, 100), "place");
  assert.deepEqual(sideRect(rect, "right"), { left: 200, top: 50, width: 100, height: 100 });
  assert.deepEqual(sideRect(rect, "down"), { left: 100, top: 100, width: 200, height: 50 });
  assert.deepEqual(sideRect(rect, "place"), rect);
});
