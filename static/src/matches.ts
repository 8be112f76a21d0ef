// Finding in the text of a terminal: what a query means, and where it matches.

import type { Block, History } from "./history";

export interface Query {
  text: string;
  matchCase: boolean;
  wholeWord: boolean;
  regex: boolean;
}

/** A place that matches: the row by its number (see History), then characters in it. */
export interface Match {
  row: number;
  at: number;
  length: number;
}

/** More are not kept: nobody steps through them, and each costs memory. */
export const maxMatches = 100_000;

const special = /[.*+?^${}()|[\]\\/]/g;
const wordCharacter = /[\p{L}\p{N}\p{M}_]/u;

/** The expression of a query. It throws what the browser says of a wrong one. */
export function expression(query: Query): RegExp {
  const source = query.regex ? query.text : query.text.replace(special, "\\$&");
  return new RegExp(source, query.matchCase ? "gm" : "gim");
}

/** Every match in a block, in order. */
export function matchesIn(block: Block, query: Query, pattern: RegExp, most = maxMatches): Match[] {
  const found: Match[] = [];
  const { text, offsets, start } = block;
  let row = 0;
  const add = (at: number, length: number): boolean => {
    if (length === 0 || (query.wholeWord && !isWord(text, at, at + length))) return false;
    while (row + 2 < offsets.length && offsets[row + 1] <= at) row++;
    found.push({ row: start + row, at: at - offsets[row], length });
    return true;
  };
  const scan = (piece: string, base: number): void => {
    pattern.lastIndex = 0;
    for (let match = pattern.exec(piece); match && found.length < most; match = pattern.exec(piece)) {
      if (!add(base + match.index, match[0].length)) pattern.lastIndex = match.index + 1;
    }
  };
  if (!query.regex) {
    scan(text, 0);
    return found;
  }
  // An expression sees one line at a time: it may match newlines otherwise.
  for (let from = 0; from <= text.length && found.length < most; ) {
    const to = text.indexOf("\n", from);
    scan(text.slice(from, to < 0 ? text.length : to), from);
    if (to < 0) break;
    from = to + 1;
  }
  return found;
}

function isWord(text: string, from: number, to: number): boolean {
  return !joined(text, from) && !joined(text, to);
}

/** Whether a place in a text lies inside of a word. */
function joined(text: string, at: number): boolean {
  const before = lastCharacter(text, at);
  const after = at < text.length ? String.fromCodePoint(text.codePointAt(at) ?? 0) : "";
  return wordCharacter.test(before) && wordCharacter.test(after);
}

function lastCharacter(text: string, at: number): string {
  if (at === 0) return "";
  const unit = text.charCodeAt(at - 1);
  const low = unit >= 0xdc00 && unit < 0xe000;
  return text.slice(Math.max(0, at - (low ? 2 : 1)), at);
}

/** The matches of one query in a history, kept up to date with it. */
export class Matches {
  /** The oldest first. */
  list: Match[] = [];
  /** There are older ones, which are not kept. */
  capped = false;
  private readonly pattern: RegExp;
  private readonly known = new WeakMap<Block, Match[]>();

  constructor(
    private readonly history: History,
    readonly query: Query,
  ) {
    this.pattern = expression(query);
  }

  /** Searches what is new in the history, the newest first. */
  update(): void {
    const { blocks, tail, first } = this.history;
    const parts = [matchesIn(tail, this.query, this.pattern)];
    let count = parts[0].length;
    let next = blocks.length - 1;
    for (; next >= 0 && count < maxMatches; next--) {
      const found = this.known.get(blocks[next]) ?? matchesIn(blocks[next], this.query, this.pattern);
      this.known.set(blocks[next], found);
      parts.push(found);
      count += found.length;
    }
    this.list = parts.reverse().flat().slice(-maxMatches);
    const gone = firstFrom(this.list, first);
    if (gone > 0) this.list = this.list.slice(gone);
    this.capped = next >= 0 || count > maxMatches;
  }
}

/** The first match in or after a row. */
export function firstFrom(list: Match[], row: number, at = 0): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const match = list[middle];
    if (match.row < row || (match.row === row && match.at < at)) low = middle + 1;
    else high = middle;
  }
  return low;
}
