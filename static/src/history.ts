// The text of a terminal, to search in: rows joined to lines, in blocks that are read once. What has scrolled into the
// history does not change, so looking again costs what is new.
//
// xterm.js' public way to a row's text takes a second for 50,000 rows; read from its cells, they take a tenth of that.

import type { Terminal } from "@xterm/xterm";

/** A piece of the text, whole lines joined by newlines. */
export interface Block {
  /** Number of its first row, counted from the first row the terminal ever had. */
  start: number;
  text: string;
  /** Where each of its rows begins in the text, and the end of the last. */
  offsets: Uint32Array;
}

interface Line {
  _data: Uint32Array;
  isWrapped: boolean;
  length: number;
  getString(column: number): string;
  getTrimmedLength(): number;
}

interface Lines {
  readonly length: number;
  get(row: number): Line | undefined;
  onTrim(run: (count: number) => void): { dispose(): void };
}

interface Buffer {
  lines: Lines;
  ybase: number;
}

interface Core {
  _bufferService: { buffer: Buffer };
}

// Of a cell's first word; BufferLine.ts of the pinned version.
const codePoint = 0x1fffff;
const isCombined = 0x200000;
const widthShift = 22;
const cellWords = 3;

const blockRows = 1024;
// A line that never ends is cut, so that a block stays small.
const maxBlockRows = 4 * blockRows;

export class History {
  /** Blocks that are history whole, and are not read again. */
  readonly blocks: Block[] = [];
  /** What is below them. */
  tail: Block = emptyBlock(0);
  /** Number of the first row the terminal still has. */
  first = 0;
  private lines?: Lines;
  private cols = 0;
  private trim?: { dispose(): void };
  private units = new Uint16Array(1 << 16);

  constructor(private readonly term: Terminal) {}

  /** Reads what is new, for `budgetMs` at most. False: there is more to read. */
  update(budgetMs = Infinity): boolean {
    const buffer = this.buffer();
    if (buffer.lines !== this.lines || this.term.cols !== this.cols) this.begin(buffer.lines);
    while (this.blocks.length > 0 && end(this.blocks[0]) <= this.first) this.blocks.shift();
    const until = performance.now() + budgetMs;
    const history = this.first + buffer.ybase;
    for (;;) {
      const from = this.sealed();
      if (history - from < blockRows) break;
      const most = Math.min(history, from + maxBlockRows);
      let to = from + blockRows;
      while (to < most && this.wrapped(to)) to++;
      if (to === history && this.wrapped(to)) break; // the line goes on on the screen
      this.blocks.push(this.read(buffer.lines, from, to));
      if (performance.now() > until) return false;
    }
    this.tail = this.read(buffer.lines, this.sealed(), this.first + buffer.lines.length);
    return true;
  }

  /** The place of a row in the terminal's buffer, from its number; negative when it is gone. */
  rowAt(number: number): number {
    return number - this.first;
  }

  /** The cell of a place in the text from a row on: how many rows below it, and the column. */
  placeAt(number: number, at: number): { row: number; column: number } {
    const { lines } = this.buffer();
    const first = this.rowAt(number);
    let seen = 0;
    for (let row = first; ; row++) {
      const line = lines.get(row);
      if (!line) return { row: row - first, column: 0 };
      const next = lines.get(row + 1);
      const cells = this.cells(line, next);
      for (let column = 0; column < cells; column++) {
        const content = line._data[column * cellWords];
        if (content >> widthShift === 0) continue; // the right half of a wide one
        if (seen >= at) return { row: row - first, column };
        seen += content & isCombined ? line.getString(column).length : (content & codePoint) > 0xffff ? 2 : 1;
      }
      if (seen >= at || !next?.isWrapped) return { row: row - first, column: cells };
    }
  }

  dispose(): void {
    this.trim?.dispose();
    this.trim = undefined;
    this.lines = undefined;
    this.blocks.length = 0;
    this.tail = emptyBlock(0);
  }

  private buffer(): Buffer {
    return (this.term as unknown as { _core: Core })._core._bufferService.buffer;
  }

  /** Another buffer, or the same wrapped anew. */
  private begin(lines: Lines): void {
    this.trim?.dispose();
    this.lines = lines;
    this.cols = this.term.cols;
    this.trim = lines.onTrim((count) => (this.first += count));
    this.first = 0;
    this.blocks.length = 0;
  }

  private sealed(): number {
    const last = this.blocks.at(-1);
    return Math.max(last ? end(last) : 0, this.first);
  }

  private wrapped(number: number): boolean {
    return this.lines?.get(this.rowAt(number))?.isWrapped ?? false;
  }

  private read(lines: Lines, from: number, to: number): Block {
    const offsets = new Uint32Array(to - from + 1);
    let length = 0;
    for (let number = from; number < to; number++) {
      const line = lines.get(this.rowAt(number));
      if (!line) continue;
      if (number > from && !line.isWrapped) this.units[length++] = 10;
      offsets[number - from] = length;
      length = this.append(line, lines.get(this.rowAt(number + 1)), length);
    }
    offsets[to - from] = length;
    return { start: from, text: decode(this.units.subarray(0, length)), offsets };
  }

  /** How much of a row is text: all when it goes on in the next, else what is before the blank at its end. */
  private cells(line: Line, next: Line | undefined): number {
    if (!next?.isWrapped) return line.getTrimmedLength();
    // A wide character that did not fit left a cell free.
    const last = line._data[(line.length - 1) * cellWords];
    return (last & (codePoint | isCombined)) === 0 && next._data[0] >> widthShift === 2 ? line.length - 1 : line.length;
  }

  private append(line: Line, next: Line | undefined, length: number): number {
    const data = line._data;
    const cells = this.cells(line, next);
    // Room for all cells; a combined one, which may be long, makes its own.
    if (length + cells * 2 + 1 > this.units.length) this.grow(length + cells * 2 + 1);
    for (let column = 0; column < cells; column++) {
      const content = data[column * cellWords];
      const code = content & codePoint;
      if (content & isCombined) {
        const text = line.getString(column);
        if (length + text.length + cells * 2 + 1 > this.units.length) this.grow(length + text.length + cells * 2 + 1);
        for (let i = 0; i < text.length; i++) this.units[length++] = text.charCodeAt(i);
      } else if (code > 0xffff) {
        this.units[length++] = 0xd800 + ((code - 0x10000) >> 10);
        this.units[length++] = 0xdc00 + ((code - 0x10000) & 0x3ff);
      } else if (code !== 0) {
        this.units[length++] = code;
      } else if (content >> widthShift !== 0) {
        this.units[length++] = 32;
      }
    }
    return length;
  }

  private grow(least: number): void {
    const units = new Uint16Array(Math.max(least, this.units.length * 2));
    units.set(this.units);
    this.units = units;
  }
}

const emptyBlock = (start: number): Block => ({ start, text: "", offsets: new Uint32Array(1) });

/** Number of the row after a block. */
export const end = (block: Block): number => block.start + block.offsets.length - 1;

const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });

function decode(units: Uint16Array): string {
  return utf16.decode(units);
}
