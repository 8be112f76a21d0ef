// Where things are: cells of tmux's layout to pixels. Pure; panes.ts draws.

import type { Layout, PaneBox, Side, Size } from "./wire";

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

/** The pane beside another, the one that shares most of its side with it; undefined at the edge of the window. */
export function neighbour(panes: PaneBox[], id: number, side: Side): number | undefined {
  const box = panes.find((each) => each.id === id);
  if (!box) return undefined;
  const beside: Record<Side, (other: PaneBox) => boolean> = {
    left: (other) => right(other) + 1 === box.left,
    right: (other) => right(box) + 1 === other.left,
    up: (other) => bottom(other) + 1 === box.top,
    down: (other) => bottom(box) + 1 === other.top,
  };
  const shared = (other: PaneBox): number =>
    side === "left" || side === "right"
      ? Math.min(bottom(box), bottom(other)) - Math.max(box.top, other.top)
      : Math.min(right(box), right(other)) - Math.max(box.left, other.left);
  return panes
    .filter((other) => beside[side](other) && shared(other) > 0)
    .sort((a, b) => shared(b) - shared(a))[0]?.id;
}

// So much of a pane, from each side, is a drop beside it; what is left in the middle is a drop into its place.
const dropEdge = 0.25;

/** What a pane dropped at a point of another does: beside it, or into its place. */
export function dropSide(rect: Rect, x: number, y: number): Side | "place" {
  const across = (x - rect.left) / rect.width;
  const along = (y - rect.top) / rect.height;
  const distances: [number, Side][] = [
    [across, "left"],
    [1 - across, "right"],
    [along, "up"],
    [1 - along, "down"],
  ];
  const [distance, side] = distances.reduce((nearest, each) => (each[0] < nearest[0] ? each : nearest));
  return distance < dropEdge ? side : "place";
}

/** Where a pane dropped so will be. */
export function sideRect(rect: Rect, side: Side | "place"): Rect {
  const { left, top, width, height } = rect;
  switch (side) {
    case "left":
      return { ...rect, width: width / 2 };
    case "right":
      return { left: left + width / 2, top, width: width / 2, height };
    case "up":
      return { ...rect, height: height / 2 };
    case "down":
      return { left, top: top + height / 2, width, height: height / 2 };
    case "place":
      return rect;
  }
}

/** The font size at which `size` cells fit the place, at most `fontSize`. For a tab whose size another device owns. */
export function scaledFont(place: Cell, size: Size, cell: Cell, fontSize: number): number {
  const scale = Math.min(1, place.width / (size.cols * cell.width), place.height / (size.rows * cell.height));
  return Math.max(minScaledFont, Math.floor(fontSize * scale * 2) / 2);
}

const minScaledFont = 2;
