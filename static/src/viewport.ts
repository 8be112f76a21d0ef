// xterm.js 6.0 brings its scrollbar up to date at every line that scrolls: two timers, a style and several events a line,
// which is half the time that a long history takes to parse. Once for all lines parsed in one go is enough.

import type { Terminal } from "@xterm/xterm";

interface Viewport {
  _sync(row?: number): void;
}

/** Bends an opened terminal so; the function returned brings the scrollbar up to date now. */
export function calmScrollbar(term: Terminal): () => void {
  const viewport = (term as unknown as { _core?: { _viewport?: Viewport } })._core?._viewport;
  if (!viewport?._sync) return () => undefined; // a newer xterm.js
  const sync = viewport._sync.bind(viewport);
  let due = false;
  const flush = (): void => {
    if (!due) return;
    due = false;
    sync();
  };
  viewport._sync = (row) => {
    if (row !== undefined) return sync(row);
    // A microtask runs when xterm.js has parsed its slice, before any wheel or key.
    if (!due) queueMicrotask(flush);
    due = true;
  };
  return flush;
}
