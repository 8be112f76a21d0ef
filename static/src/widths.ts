// How wide characters are. tmux decides where each character of a pane goes, and the page must agree to the column, so
// xterm.js measures as the sandbox's tmux does and not by a Unicode version of its own.
//
// tmux 3.3a takes the width of each code point from the C library's wcwidth, puts a code point of no width into the cell
// left of the cursor, wherever the cursor came from, and puts the one after a zero-width joiner there too, whatever it
// is. It drops what wcwidth does not know and what would join a cell left of column 0. Older ones do not join after a
// ZWJ, newer ones also join flags and skin tones and widen by VS16, and both give one cell to what wcwidth does not know.
// A server measures which it is, see `widths` in docs/PROTOCOL.md.

import type { IUnicodeVersionProvider, Terminal } from "@xterm/xterm";
import { bend } from "./quirks";
import { runs } from "./width-table";

/** Which clusters the sandbox's tmux joins into one wide character. */
export interface Widths {
  zwj: boolean;
  vs16: boolean;
  flags: boolean;
  skinTones: boolean;
}

/** What tmux 3.3a does. */
export const defaultWidths: Widths = { zwj: true, vs16: false, flags: false, skinTones: false };

const ZWJ = 0x200d;
const VS16 = 0xfe0f;
const UNKNOWN = 3;

const isFlagHalf = (code: number): boolean => code >= 0x1f1e6 && code <= 0x1f1ff;
const isSkinTone = (code: number): boolean => code >= 0x1f3fb && code <= 0x1f3ff;
const takesSkinTone = (code: number): boolean => (code >= 0x1f300 && code < 0x20000) || (code >= 0x2600 && code < 0x27c0);

const is33 = (widths: Widths): boolean => widths.zwj && !widths.vs16;

let table: Uint8Array | undefined;

/** One byte a code point: its width, or UNKNOWN. 1 MB, made when the first terminal needs it. */
function widthTable(): Uint8Array {
  if (table) return table;
  table = new Uint8Array(0x110000);
  const marks: Record<string, number> = { "+": 2, "-": 0, "!": UNKNOWN };
  let code = 0;
  for (const run of runs.split(" ")) {
    const mark = marks[run[0]];
    const end = code + parseInt(mark === undefined ? run : run.slice(1), 36);
    table.fill(mark ?? 1, code, end);
    code = end;
  }
  return table;
}

/** tmux 3.3a forgets a joiner at the end of what it reads in one go; the page does not see that, but a pause. */
const joinMillis = 100;

// What charProperties remembers of the characters before, in the number xterm.js hands back: bit 0 join, bits 1-2 the
// width, and from bit 3 on what is ours.
const JOIN = 1;
const NARROW = 1 << 1;
const WIDE = 2 << 1;
const AFTER_ZWJ = 1 << 3;
const FLAG_HALF = 1 << 4;
const TONE_BASE = 1 << 5;
const WIDTH = 3 << 1;

/** A unicode provider for xterm.js that measures like the tmux that `widths` describes. */
export function provider(widths: Widths): IUnicodeVersionProvider {
  const table = widthTable();
  const unknown = is33(widths) ? 0 : 1;
  // 3.3a keeps the halves of a flag in a cell each, which a probe of the cursor's column cannot tell.
  const joinsFlags = widths.flags && !is33(widths);
  const wcwidth = (code: number): 0 | 1 | 2 => {
    const width = table[code];
    return width === UNKNOWN ? unknown : (width as 0 | 1 | 2);
  };
  const version = "tmux-" + (["zwj", "vs16", "flags", "skinTones"] as const).filter((k) => widths[k]).join("-");

  // Joining keeps the cluster's width: xterm.js gives the cell the width returned here, and 0 leaves it as it is. The
  // latter is what there is after an escape sequence, when xterm.js no longer knows the character left of the cursor.
  const charProperties = (code: number, before: number): number => {
    if (code < 0x7f) return NARROW; // which tmux never joins
    const width = before & WIDTH;
    if (code === ZWJ) return JOIN | width | (widths.zwj ? AFTER_ZWJ : 0);
    if (before & AFTER_ZWJ) return JOIN | width;
    if (code === VS16 && widths.vs16 && width === NARROW) return JOIN | WIDE;
    if (widths.skinTones && before & TONE_BASE && isSkinTone(code)) return JOIN | WIDE;
    const own = wcwidth(code) << 1;
    if (joinsFlags && isFlagHalf(code)) return before & FLAG_HALF ? JOIN | WIDE : own | FLAG_HALF;
    if (own) return own | (takesSkinTone(code) ? TONE_BASE : 0);
    return JOIN | width | (before & TONE_BASE);
  };
  return { version, wcwidth, charProperties };
}

/** Makes a terminal put characters where the tmux that `widths` describes puts them. */
export function follow(term: Terminal, widths: Widths): void {
  const p = provider(widths);
  if (!term.unicode.versions.includes(p.version)) term.unicode.register(p);
  if (term.unicode.activeVersion !== p.version) term.unicode.activeVersion = p.version;
  printAsTmux(term, widths);
  bend(term);
}

/**
 * Does to what is printed what a provider cannot, for it is not asked whether, nor at which column. tmux drops what has
 * no width and no cell to join (xterm.js would still move the cursor) and what wcwidth does not know. And tmux 3.3a joins
 * the next character that is not ASCII after a zero-width joiner, even with a line end in between: a bug, and so many an
 * Indic text moves, but the columns are where they are. No public API sees a character before it is printed, so this
 * wraps the one function that does; an xterm.js without it only loses this.
 */
function printAsTmux(term: Terminal, widths: Widths): void {
  const printer = (term as unknown as { _core?: { _inputHandler?: Printer } })._core?._inputHandler;
  if (!printer?.print) return;
  const table = widthTable();
  const print = (printer.plain ??= printer.print.bind(printer));
  const lateJoin = is33(widths);
  let joinUntil = 0;
  // What a snapshot draws joins nothing that came before it.
  const forget = (): boolean => {
    joinUntil = 0;
    return false;
  };
  term.parser.registerEscHandler({ final: "c" }, forget);
  term.parser.registerCsiHandler({ intermediates: "!", final: "p" }, forget);

  printer.print = (data, start, end) => {
    let from = start; // not printed yet
    for (let at = start; at < end; at++) {
      const code = data[at];
      if (code < 0x300 && !(joinUntil && code > 0x7f)) continue;
      const width = table[code] === UNKNOWN && !lateJoin ? 1 : table[code];
      if (width && width !== UNKNOWN && !joinUntil) continue;
      if (from < at) print(data, from, at);
      from = at + 1;
      if (width === UNKNOWN) continue;
      if (lateJoin && code === ZWJ) {
        joinUntil = performance.now() + joinMillis;
        continue;
      }
      const joins = joinUntil > 0 && performance.now() < joinUntil;
      joinUntil = 0;
      if (!joins && width) from = at;
      else if (term.buffer.active.cursorX === 0) continue;
      else if (joins) print(Uint32Array.of(ZWJ, code), 0, 2);
      else print(data, at, at + 1);
    }
    if (from < end) print(data, from, end);
  };
}

interface Printer {
  print(data: Uint32Array, start: number, end: number): void;
  plain?: Printer["print"];
}
