// The numbered input stream of one tab: keys and pastes are kept until tmux has taken them, so that what was typed while
// the link was down arrives once, in order, or is refused where the person can see it.

import { encodeInput, encodePaste, maxInputBytes, pasteFlag } from "./wire";

/** The most that is kept while there is no link. More would be typing blind. */
export const maxWaitingBytes = 4 * 1024;
export const maxWaitingMs = 60_000;

interface Item {
  pane: number;
  offset: number;
  data: Uint8Array;
  kind: "keys" | "paste";
  last: boolean; // of a paste
  at: number;
}

const end = (item: Item): number => item.offset + item.data.length;

export class InputStream {
  /** Names the stream to the server, which keeps its count in the tab's tmux. */
  readonly id = newStreamID();
  private items: Item[] = [];
  private next = 0; // offset of the next byte
  private sent = 0; // offset before which this link has been sent everything
  private flowing = false;

  constructor(
    private readonly send: (frame: Uint8Array) => void,
    private readonly now: () => number = Date.now,
  ) {}

  /** Types data into a pane. False: refused, since too much or too old input is waiting. */
  type(pane: number, data: Uint8Array): boolean {
    if (!this.flowing && !this.mayWait(data.length)) return false;
    for (let at = 0; at < data.length; at += maxInputBytes) {
      this.push(pane, data.subarray(at, at + maxInputBytes), "keys", true);
    }
    this.flow();
    return true;
  }

  /** Pastes a prepared text into a pane, as one. False: refused. */
  paste(pane: number, data: Uint8Array): boolean {
    if (!this.flowing && !this.mayWait(data.length)) return false;
    for (let at = 0; at < data.length; ) {
      const piece = data.subarray(at, pieceEnd(data, at));
      at += piece.length;
      this.push(pane, piece, "paste", at === data.length);
    }
    this.flow();
    return true;
  }

  /** The link is lost: what comes now waits. */
  hold(): void {
    this.flowing = false;
  }

  /**
   * A link is there and the server has taken the input before `offset`. What we know to be taken and the server does not
   * (the tab's tmux was replaced) is not sent again: the rest is renumbered.
   */
  resume(offset: number): void {
    this.acked(offset);
    const first = this.items.length > 0 ? this.items[0].offset : this.next;
    const shift = offset - first;
    for (const item of this.items) item.offset += shift;
    this.next += shift;
    this.sent = offset;
  }

  /** The screen is the one the person sees: send what waits, and from now on at once. */
  release(): void {
    this.flowing = true;
    this.flow();
  }

  acked(offset: number): void {
    while (this.items.length > 0 && end(this.items[0]) <= offset) this.items.shift();
    const first = this.items[0];
    // A paste is taken as a whole, keys byte by byte.
    if (first && first.kind === "keys" && first.offset < offset) {
      first.data = first.data.subarray(offset - first.offset);
      first.offset = offset;
    }
  }

  /** How many keystrokes and pastes wait for a link. */
  get waiting(): number {
    return this.flowing ? 0 : this.items.filter((item) => item.last).length;
  }

  /** Drops everything when the oldest has waited too long, since half of a line is worse than none; says how many. */
  expire(): number {
    if (this.flowing || this.items.length === 0 || this.now() - this.items[0].at < maxWaitingMs) return 0;
    const dropped = this.waiting;
    this.items = [];
    return dropped;
  }

  private mayWait(bytes: number): boolean {
    const waiting = this.items.reduce((sum, item) => sum + item.data.length, 0);
    return waiting + bytes <= maxWaitingBytes;
  }

  private push(pane: number, data: Uint8Array, kind: Item["kind"], last: boolean): void {
    this.items.push({ pane, offset: this.next, data, kind, last, at: this.now() });
    this.next += data.length;
  }

  private flow(): void {
    if (!this.flowing) return;
    for (const item of this.items) {
      if (item.offset < this.sent) continue;
      this.send(
        item.kind === "keys"
          ? encodeInput(item.pane, item.offset, item.data)
          : encodePaste(item.pane, item.offset, item.last ? pasteFlag.last : 0, item.data),
      );
      this.sent = end(item);
    }
  }
}

/** Ends a piece of at most maxInputBytes between two characters. */
function pieceEnd(data: Uint8Array, at: number): number {
  let to = Math.min(data.length, at + maxInputBytes);
  if (to === data.length) return to;
  while (to > at + 1 && (data[to] & 0xc0) === 0x80) to--;
  return to;
}

function newStreamID(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Mouse and focus reports: worth nothing once the screen they speak of is gone. */
export function isReport(data: string): boolean {
  return /^\x1b\[(?:<|M|[IO]$|\d+;\d+;\d+M)/.test(data);
}
