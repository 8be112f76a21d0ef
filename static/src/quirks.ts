// What tmux does otherwise than xterm.js with the same bytes. The page shows what tmux believes, or a reload would show
// another screen than was there before; so where the two differ, xterm.js is bent.
//
// None of this has a public API. Each change replaces one method of xterm.js's own input handler or buffer service, and
// is left out where a newer xterm.js lacks it: then only that difference comes back. The differential oracle
// (terminal/oracle) says whether they still fit.

import type { Terminal } from "@xterm/xterm";

interface Line {
  isWrapped: boolean;
}

interface Buffer {
  x: number;
  y: number;
  ybase: number;
  ydisp: number;
  savedY: number;
  scrollTop: number;
  getNullCell(): unknown;
  getBlankLine(attr: unknown): Line;
  lines: {
    readonly length: number;
    readonly maxLength: number;
    push(line: Line): void;
    get(row: number): Line | undefined;
    splice(row: number, deleted: number, ...added: Line[]): void;
  };
}

interface BufferService {
  buffer: Buffer;
  buffers: { normal: Buffer; alt: Buffer };
  scroll(attr: unknown, wrapped?: boolean): void;
}

interface Params {
  params: ArrayLike<number>;
}

type Method = (params: Params) => boolean;

interface Core {
  _bufferService: BufferService;
  _inputHandler: Record<string, Method> & { _eraseAttrData(): unknown };
}

const bent = new WeakSet<object>();

/** Makes a terminal move, erase and scroll as tmux does. */
export function bend(term: Terminal): void {
  const core = (term as unknown as { _core?: Core })._core;
  const service = core?._bufferService;
  const handler = core?._inputHandler;
  if (!service?.scroll || !handler || bent.has(service)) return;
  bent.add(service);

  const wrapPending = (): boolean => service.buffer.x >= term.cols;
  const change = (names: string[], by: (original: Method) => Method): void => {
    for (const name of names) if (handler[name]) handler[name] = by(handler[name].bind(handler));
  };

  // Inserting and deleting lines leaves the column; moving up and down leaves a pending wrap.
  change(["insertLines", "deleteLines"], (original) => (params) => {
    const x = service.buffer.x;
    original(params);
    service.buffer.x = x;
    return true;
  });
  change(["lineFeed", "index", "reverseIndex", "linePosAbsolute", "vPositionRelative"], (original) => (params) => {
    const pending = wrapPending();
    original(params);
    if (pending && service.buffer.x === term.cols - 1) service.buffer.x = term.cols;
    return true;
  });

  // With a wrap pending the cursor is right of the last column: there is nothing to shift or erase, and one step to
  // the left is the last column.
  change(["insertChars", "deleteChars", "eraseChars"], (original) => (params) => wrapPending() || original(params));
  change(["cursorBackward"], (original) => (params) => {
    if (!wrapPending()) return original(params);
    service.buffer.x = Math.max(term.cols - (params.params[0] || 1), 0);
    return true;
  });
  change(["backspace"], (original) => (params) => {
    const b = service.buffer;
    if (b.x > 0) {
      if (!wrapPending()) return original(params);
      b.x = term.cols - 1;
    } else if (b.y > 0 && b.lines.get(b.ybase + b.y)?.isWrapped) {
      b.y--;
      b.x = term.cols - 1;
    }
    return true;
  });

  // A saved cursor is a place on the screen; xterm.js lets it move with the text.
  const saved = new WeakMap<Buffer, { y: number; rows: number }>();
  change(["saveCursor"], (original) => (params) => {
    saved.set(service.buffer, { y: service.buffer.y, rows: term.rows });
    return original(params);
  });
  change(["restoreCursor"], (original) => (params) => {
    const b = service.buffer;
    const s = saved.get(b);
    if (s?.rows === term.rows) b.savedY = b.ybase + s.y;
    return original(params);
  });

  // What scrolls off any region is history, not only what leaves the top of the screen; and a line that a wrap begins
  // has no background.
  const scroll = service.scroll.bind(service);
  const inRegion = (attr: unknown, wrapped?: boolean): void => {
    const b = service.buffer;
    const top = b.scrollTop;
    const leaving = top > 0 && b === service.buffers.normal ? b.lines.get(b.ybase + top) : undefined;
    if (!leaving) return scroll(attr, wrapped);
    b.lines.splice(b.ybase + top, 1);
    b.lines.splice(b.ybase, 0, leaving);
    b.scrollTop = 0;
    scroll(attr, wrapped);
    b.scrollTop = top;
  };
  service.scroll = (attr, wrapped) => inRegion(wrapped ? service.buffer.getNullCell() : attr, wrapped);
  change(["scrollUp"], () => (params) => {
    for (let n = Math.min(params.params[0] || 1, term.rows); n > 0; n--) inRegion(handler._eraseAttrData());
    return true;
  });

  // xterm.js 6.0 can lose a row of a buffer that is not shown when it is resized, and then throws at a line feed there.
  term.onResize(({ rows }) => {
    for (const b of [service.buffers.normal, service.buffers.alt]) {
      if (b.lines.length === 0) continue; // an alternate screen that was never shown
      for (let missing = b.ybase + rows - b.lines.length; missing > 0; missing--) {
        if (b.lines.length < b.lines.maxLength) b.lines.push(b.getBlankLine(b.getNullCell()));
        else b.ybase--;
      }
      b.ydisp = Math.min(b.ydisp, b.ybase);
    }
  });
}
