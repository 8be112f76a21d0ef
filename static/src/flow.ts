// What xterm.js has parsed is told to the server, which sends no more than a window ahead of it.

/** How long the acks of a hidden tab are held back, so that a flood there is sampled and not parsed byte by byte. */
const hiddenAckEveryMs = 250;

/**
 * Collects acks by pane: all that xterm.js parsed in one go becomes one frame. Its callbacks of one slice of parsing come
 * one after the other, so a microtask is the end of the slice and costs no delay.
 */
export class Acks {
  private readonly due = new Map<number, number>();
  private scheduled = false;
  private timer?: ReturnType<typeof setTimeout>;
  private slow = false;

  constructor(private readonly send: (pane: number, offset: number) => void) {}

  parsed(pane: number, offset: number): void {
    this.due.set(pane, Math.max(offset, this.due.get(pane) ?? 0));
    if (this.scheduled) return;
    this.scheduled = true;
    if (this.slow) this.timer = setTimeout(() => this.flush(), hiddenAckEveryMs);
    else queueMicrotask(() => this.flush());
  }

  /** Slow acks are for a tab that is not shown. */
  setSlow(slow: boolean): void {
    this.slow = slow;
    if (!slow && this.timer !== undefined) this.flush();
  }

  /** Drops what was not sent: the connection it was meant for is gone. */
  reset(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.scheduled = false;
    this.due.clear();
  }

  private flush(): void {
    const due = [...this.due];
    this.reset();
    for (const [pane, offset] of due) this.send(pane, offset);
  }
}
