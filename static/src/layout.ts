// Where things are: cells of tmux's layout to pixels. Pure; panes.ts draws.

import type { Layout, PaneBox, Size } from "./wire";

export interface Cell {
  width: number;
  height: number;
}

export interface Rect extends Cell {
  left: number;
  top: number;
}

// Bounds of a size that the server takes: terminal/size.go.
const minCols = 2;
const minRows = 1;
const maxCols = 1000;
const maxRows = 500;

/** How many cells fit a place of width x height pixels. */
export function fit(place: Cell, cell: Cell): Size {
  // A canvas is rounded to whole pixels, so a place may be a fraction too small for the cells it was made for.
  const count = (pixels: number, size: number): number => Math.floor((pixels + 0.01) / size);
  return {
    cols: Math.min(maxCols, Math.max(minCols, count(place.width, cell.width))),
    rows: Math.min(maxRows, Math.max(minRows, count(place.height, cell.height))),
  };
}

export function sameSize(a: Size | undefined, b: Size | undefined): boolean {
  return a?.cols === b?.cols && a?.rows === b?.rows;
}

export function paneRect(box: PaneBox, cell: Cell): Rect {
  return {
    left: box.left * cell.width,
    top: box.top * cell.height,
    width: box.cols * cell.width,
    height: box.rows * cell.height,
  };
}

const right = (box: PaneBox): number => box.left + box.cols;
const bottom = (box: PaneBox): number => box.top + box.rows;

/** A line between panes, one cell thick in tmux. */
export interface Divider {
  axis: "x" | "y"; // "x": a vertical line, which moves along x
  at: number; // column or row of the line
  from: number; // first row or column beside it
  to: number; // after the last
  pane: number; // a pane before it, which resizing moves the line
}

/** The lines of a layout. Lines that go on past a crossing are one when a pane beside them does. */
export function dividers(layout: Pick<Layout, "size" | "panes">): Divider[] {
  const { panes, size } = layout;
  const vertical = lines(
    panes.filter((box) => right(box) < size.cols).map((box) => ({ at: right(box), from: box.top, to: bottom(box), pane: box.id })),
    (at, row) => panes.some((box) => (right(box) === at || box.left === at + 1) && box.top <= row && row < bottom(box)),
  );
  const horizontal = lines(
    panes.filter((box) => bottom(box) < size.rows).map((box) => ({ at: bottom(box), from: box.left, to: right(box), pane: box.id })),
    (at, col) => panes.some((box) => (bottom(box) === at || box.top === at + 1) && box.left <= col && col < right(box)),
  );
  return [
    ...vertical.map((line): Divider => ({ axis: "x", ...line })),
    ...horizontal.map((line): Divider => ({ axis: "y", ...line })),
  ];
}

type Line = Omit<Divider, "axis">;

function lines(segments: Line[], beside: (at: number, gap: number) => boolean): Line[] {
  const sorted = [...segments].sort((a, b) => a.at - b.at || a.from - b.from);
  const out: Line[] = [];
  for (const segment of sorted) {
    const last = out.at(-1);
    if (last && last.at === segment.at && last.to + 1 === segment.from && beside(segment.at, last.to)) {
      last.to = segment.to;
    } else {
      out.push({ ...segment });
    }
  }
  return out;
}

/** The pixels of a divider: a line in the middle of its cell, to the middle of the cells it meets. */
export function dividerRect(line: Divider, size: Size, cell: Cell): Rect {
  const along = line.axis === "x" ? cell.height : cell.width;
  const most = line.axis === "x" ? size.rows : size.cols;
  const start = (line.from === 0 ? 0 : line.from - 0.5) * along;
  const stop = (line.to === most ? most : line.to + 0.5) * along;
  return line.axis === "x"
    ? { left: Math.floor((line.at + 0.5) * cell.width), top: start, width: 1, height: stop - start }
    : { left: start, top: Math.floor((line.at + 0.5) * cell.height), width: stop - start, height: 1 };
}

/** A pane with the halves of the dividers around it, and which of its sides are dividers: the mark of the active one. */
export function frameRect(box: PaneBox, size: Size, cell: Cell): Rect & { sides: boolean[] } {
  const sides = [box.top > 0, right(box) < size.cols, bottom(box) < size.rows, box.left > 0];
  const left = sides[3] ? Math.floor((box.left - 0.5) * cell.width) : 0;
  const top = sides[0] ? Math.floor((box.top - 0.5) * cell.height) : 0;
  const width = (sides[1] ? Math.floor((right(box) + 0.5) * cell.width) + 1 : size.cols * cell.width) - left;
  const height = (sides[2] ? Math.floor((bottom(box) + 0.5) * cell.height) + 1 : size.rows * cell.height) - top;
  return { left, top, width, height, sides };
}

/** The font size at which `size` cells fit the place, at most `fontSize`. For a tab whose size another device owns. */
export function scaledFont(place: Cell, size: Size, cell: Cell, fontSize: number): number {
  const scale = Math.min(1, place.width / (size.cols * cell.width), place.height / (size.rows * cell.height));
  return Math.max(minScaledFont, Math.floor(fontSize * scale * 2) / 2);
}

const minScaledFont = 2;
