// One pane: an xterm.js that shows exactly the bytes of the pane, in the order of its stream.

import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal, type IDisposable, type ITerminalOptions, type ITheme } from "@xterm/xterm";
import { clipboardText } from "./clipboard";
import { encodeKey, KeyboardMode } from "./kitty";
import type { Cell } from "./layout";
import { isMac } from "./keys";
import { swallowQueries } from "./queries";
import { useWebgl } from "./renderer";
import type { Font } from "./theme";
import { calmScrollbar } from "./viewport";
import { strings } from "./strings";
import { snapshotFlag, type Output, type PaneResize, type Size, type Snapshot } from "./wire";
import { follow, type Widths } from "./widths";

export interface PaneConfig {
  id: number;
  size: Size;
  theme: ITheme;
  font: PaneFont;
  options: ITerminalOptions;
  widths: Widths;
}

export interface PaneFont extends Font {
  letterSpacing: number;
}

export interface PaneEvents {
  /** Keys or a report, as the program gets them. */
  input(data: string): void;
  binary(data: string): void;
  paste(text: string): void;
  /** xterm.js has parsed everything before the offset. */
  parsed(offset: number): void;
  /** Bytes are missing: only a snapshot helps. */
  gap(): void;
  focused(): void;
  copied(text: string): void;
  bell(): void;
  /** True: the key is taken. */
  key(event: KeyboardEvent): boolean;
  /** The size of a cell is not what it was taken for. */
  cellChanged(): void;
  link(url: string | undefined): void;
}

type Step = { write: Uint8Array | string; done?: () => void } | (() => void);

const syncOn = "\x1b[?2026h";
const syncOff = "\x1b[?2026l";
const reset = "\x1bc";
// A screen that is repainted without touching the history above it: leave the alternate screen and every mode that a
// snapshot sets but does not clear, and begin on an empty screen.
const softReset =
  "\x18\x1b[?1049l\x1b[!p\x1b[?1;5;6;9;66;1000;1002;1003;1004;1005;1006;1015;1016;2004l\x1b[4;20l\x1b[?7;25h" +
  "\x1b(B\x1b)B\x0f\x1b[r\x1b[m\x1b[H\x1b[2J";

export class Pane {
  readonly term: Terminal;
  readonly element = document.createElement("div");
  /** Offset after the last byte given to xterm.js; undefined until the first snapshot. */
  offset: number | undefined;
  private whole = false; // the last snapshot had the history
  private readonly keyboard: KeyboardMode;
  private readonly steps: Step[] = [];
  private writing = 0;
  private chunks: Snapshot[] = [];
  private programSync = false;
  private webgl?: { dispose(): void };
  private syncScrollbar: () => void = () => undefined;
  private shown = false;
  private wantsFocus = false;
  private readonly hooks: IDisposable[] = [];
  private readonly abort = new AbortController();

  constructor(
    private readonly config: PaneConfig,
    private readonly events: PaneEvents,
  ) {
    const { font } = config;
    this.element.className = "pane";
    this.element.setAttribute("role", "group");
    this.element.dataset.pane = String(config.id);
    this.term = new Terminal({
      allowProposedApi: true,
      cols: config.size.cols,
      rows: config.size.rows,
      cursorInactiveStyle: "outline",
      ...fontOptions(font),
      linkHandler: {
        activate: (event, url) => openLink(event, url),
        hover: (_event, url) => events.link(url),
        leave: () => events.link(undefined),
      },
      macOptionClickForcesSelection: true,
      overviewRuler: { width: 10 },
      theme: config.theme,
      ...config.options,
    });
    follow(this.term, config.widths);
    this.keyboard = new KeyboardMode(this.term);
    this.hooks.push(
      this.keyboard,
      swallowQueries(this.term),
      this.term.onData((data) => this.data(data)),
      this.term.onBinary((data) => events.binary(data)),
      this.term.onBell(() => events.bell()),
      this.term.parser.registerOscHandler(52, (data) => {
        const text = clipboardText(data);
        if (text !== undefined) events.copied(text);
        return true;
      }),
      this.term.parser.registerCsiHandler({ prefix: "?", final: "h" }, (params) => {
        if (params.includes(2026)) this.programSync = true;
        return false;
      }),
      this.term.parser.registerCsiHandler({ prefix: "?", final: "l" }, (params) => {
        if (params.includes(2026)) this.programSync = false;
        return false;
      }),
    );
    this.term.attachCustomKeyEventHandler((event) => this.key(event));
    this.term.loadAddon(
      new WebLinksAddon((event, url) => openLink(event, url), {
        hover: (_event, url) => events.link(url),
        leave: () => events.link(undefined),
      }),
    );
    // Before xterm.js sees it: a paste goes to tmux as a whole, which knows whether the program wants brackets.
    this.element.addEventListener(
      "paste",
      (event) => {
        if (event.target instanceof HTMLInputElement) return; // of the search
        event.preventDefault();
        event.stopPropagation();
        events.paste(event.clipboardData?.getData("text/plain") ?? "");
      },
      { capture: true, signal: this.abort.signal },
    );
    this.element.addEventListener("focusin", (event) => this.focusMoved(event, true), { signal: this.abort.signal });
    this.element.addEventListener("focusout", (event) => this.focusMoved(event, false), { signal: this.abort.signal });
  }

  get id(): number {
    return this.config.id;
  }

  /** Where a new connection may go on: nowhere while the history is still to come, which only a snapshot brings. */
  get resumeOffset(): number | undefined {
    return this.whole ? this.offset : undefined;
  }

  /** The connection is gone, and with it the rest of what it was sending. */
  linkLost(): void {
    this.chunks = [];
  }

  output(frame: Output): void {
    if (this.offset === undefined || this.chunks.length > 0) return; // its snapshot is on the way
    if (frame.offset > this.offset) {
      this.events.gap();
      return;
    }
    const data = frame.data.subarray(Math.min(frame.data.length, this.offset - frame.offset));
    if (data.length === 0) return;
    this.offset += data.length;
    this.write(data, this.offset);
  }

  resize(frame: PaneResize): void {
    this.step(() => this.setSize(frame.size));
  }

  /**
   * Collects a snapshot and shows it as one: writing it piece by piece would take twice as long, and the last screen stays
   * until then.
   */
  snapshot(frame: Snapshot): void {
    if (frame.flags & snapshotFlag.first) this.chunks = [];
    this.chunks.push(frame);
    if ((frame.flags & snapshotFlag.last) === 0) return;
    const chunks = this.chunks;
    this.chunks = [];
    this.offset = frame.offset;
    const repaint = ((chunks[0]?.flags ?? 0) & snapshotFlag.first) === 0;
    if (!repaint) this.whole = (frame.flags & snapshotFlag.history) !== 0;
    this.show(concat(chunks.map((chunk) => chunk.data)), frame, repaint);
  }

  /** A repaint clears and sets what it needs itself, and leaves the history and who reads it alone. */
  private show(data: Uint8Array, { offset, size, flags }: Snapshot, repaint: boolean): void {
    const withHistory = (flags & snapshotFlag.history) !== 0;
    let keep: ScrollMark | undefined;
    this.step({ write: syncOn });
    this.step(() => {
      if (!repaint) keep = this.scrollMark();
      const same = this.term.cols === size.cols && this.term.rows === size.rows;
      this.setSize(size);
      if (!repaint) this.keyboard.reset();
      // Who reads the history is not disturbed by a screen without one: the full snapshot comes after it.
      const soft = keep !== undefined && same && !withHistory;
      if (soft) keep = undefined;
      this.steps.unshift(
        { write: (repaint ? "" : soft ? softReset : reset) + syncOn },
        () => (this.programSync = false), // from here on only the program's own counts
        { write: data },
        () => {
          const sync = this.programSync;
          this.steps.unshift({ write: sync ? "" : syncOff }, () => {
            if (keep) this.restore(keep);
            this.open();
            this.events.parsed(offset);
          });
        },
      );
    });
  }

  /** Puts the terminal into the page; after its first content, since opening before parsing costs 50 ms more. */
  private open(): void {
    if (this.term.element) return;
    this.term.open(this.element);
    this.syncScrollbar = calmScrollbar(this.term);
    this.term.textarea?.setAttribute("enterkeyhint", "enter");
    if (this.shown) this.attachWebgl();
    if (this.wantsFocus) this.focus();
    this.events.cellChanged();
  }

  /** The size of a cell as drawn; undefined before there is a first screen. */
  get cell(): Cell | undefined {
    const core = (this.term as unknown as { _core: { _renderService?: { dimensions: { css: { cell: Cell } } } } })._core;
    const cell = this.term.element && core._renderService?.dimensions.css.cell;
    return cell && cell.width > 0 && cell.height > 0 ? cell : undefined;
  }

  setShown(shown: boolean): void {
    if (this.shown === shown) return;
    this.shown = shown;
    if (shown && this.term.element) this.attachWebgl();
    if (!shown) {
      this.webgl?.dispose();
      this.webgl = undefined;
    }
  }

  setFont(font: PaneFont): void {
    this.setOptions(fontOptions(font));
  }

  /** Sets what is other than before: xterm.js draws anew for each option that is set. */
  setOptions(options: ITerminalOptions): void {
    const { term } = this;
    for (const [name, value] of Object.entries(options) as [keyof ITerminalOptions, never][]) {
      if (term.options[name] !== value) term.options[name] = value;
    }
  }

  setTheme(theme: ITheme): void {
    this.term.options.theme = theme;
  }

  /** Names the pane to assistive technology, and lays a line over its bottom, or none. */
  setNote(title: string, note: HTMLElement | undefined): void {
    this.element.setAttribute("aria-label", strings.pane(title));
    this.element.querySelector(".pane-note")?.remove();
    if (note) this.element.append(note);
  }

  /** Scrolls so that a row of the buffer is the first one shown. */
  scrollTo(row: number): void {
    this.syncScrollbar();
    this.term.scrollToLine(row);
  }

  /** Lines of history that are kept. More than there are come with the next full snapshot. */
  setScrollback(lines: number): void {
    this.term.options.scrollback = lines;
  }

  focus(): void {
    this.wantsFocus = this.term.element === undefined;
    this.term.focus();
  }

  /** Another pane has the focus now: this one does not take it when it opens. */
  yieldFocus(): void {
    this.wantsFocus = false;
  }

  get bracketedPaste(): boolean {
    return this.term.modes.bracketedPasteMode;
  }

  dispose(): void {
    this.abort.abort();
    this.steps.length = 0;
    this.webgl?.dispose();
    for (const hook of this.hooks) hook.dispose();
    this.term.dispose();
    this.element.remove();
  }

  private attachWebgl(): void {
    this.webgl ??= useWebgl(this.term, () => {
      this.webgl = undefined;
      this.events.cellChanged();
    });
  }

  private data(data: string): void {
    // xterm.js reports focus also when a program, or a snapshot, turns the reports on. Only real ones are ours to tell.
    if (data === "\x1b[I" || data === "\x1b[O") return;
    this.events.input(data);
  }

  private focusMoved(event: FocusEvent, inside: boolean): void {
    if (event.target !== this.term.textarea) return;
    this.element.classList.toggle("focused", inside);
    if (this.term.modes.sendFocusMode) this.events.input(inside ? "\x1b[I" : "\x1b[O");
    if (inside) this.events.focused();
  }

  private key(event: KeyboardEvent): boolean {
    if (event.type !== "keydown" || event.isComposing) return true;
    if (this.events.key(event)) return false;
    const key = { ...pick(event), altGraph: event.getModifierState("AltGraph") || (isMac && event.altKey && !this.term.options.macOptionIsMeta) };
    const encoded = encodeKey(key, this.keyboard.flags);
    if (encoded === undefined) return true;
    event.preventDefault();
    this.term.input(encoded);
    return false;
  }

  private setSize(size: Size): void {
    if (this.term.cols !== size.cols || this.term.rows !== size.rows) this.term.resize(size.cols, size.rows);
  }

  private write(data: Uint8Array, offset: number): void {
    this.step({ write: data, done: () => this.events.parsed(offset) });
  }

  // xterm.js parses later than it is written to, while a resize or reset is at once. So steps that are no bytes wait until
  // all bytes before them are parsed, and bytes after them wait for those.
  private step(step: Step): void {
    this.steps.push(step);
    this.run();
  }

  private run(): void {
    for (;;) {
      const step = this.steps[0];
      if (step === undefined) return;
      if (typeof step === "function") {
        if (this.writing > 0) return;
        this.steps.shift();
        step();
        continue;
      }
      this.steps.shift();
      this.writing++;
      this.term.write(step.write, () => {
        this.writing--;
        step.done?.();
        this.run();
      });
    }
  }

  private scrollMark(): ScrollMark | undefined {
    const buffer = this.term.buffer.active;
    const selection = this.term.getSelectionPosition();
    const scrolled = buffer.viewportY < buffer.baseY;
    if (!scrolled && !selection) return undefined;
    return {
      fromBottom: buffer.baseY - buffer.viewportY,
      anchor: anchorRows(this.term, buffer.viewportY),
      scrolled,
      text: this.term.getSelection(),
      column: selection?.start.x ?? 0,
      row: (selection?.start.y ?? 0) - buffer.viewportY,
    };
  }

  private restore(mark: ScrollMark): void {
    const buffer = this.term.buffer.active;
    const at = findRows(this.term, mark.anchor, buffer.baseY - mark.fromBottom);
    if (mark.scrolled && at > 0) this.scrollTo(at);
    else this.syncScrollbar();
    if (mark.text === "") return;
    this.term.select(mark.column, at + mark.row, mark.text.replaceAll("\n", "").length);
    if (this.term.getSelection() !== mark.text) this.term.clearSelection();
  }
}

function fontOptions({ family, size, lineHeight, letterSpacing }: PaneFont): ITerminalOptions {
  return { fontFamily: family, fontSize: size, lineHeight, letterSpacing };
}

interface ScrollMark {
  fromBottom: number;
  anchor: string;
  scrolled: boolean;
  text: string;
  column: number;
  row: number;
}

const anchorHeight = 3;

function anchorRows(term: Terminal, line: number): string {
  const rows: string[] = [];
  for (let i = 0; i < anchorHeight; i++) rows.push(term.buffer.active.getLine(line + i)?.translateToString(true) ?? "");
  return rows.join("\n");
}

/** Where the rows of an anchor are now, nearest to where they would be if nothing had been printed since. */
function findRows(term: Terminal, anchor: string, guess: number): number {
  const most = term.buffer.active.baseY;
  for (let distance = 0; distance <= most; distance++) {
    for (const line of [guess - distance, guess + distance]) {
      if (line >= 0 && line <= most && anchorRows(term, line) === anchor) return line;
    }
  }
  return Math.min(most, Math.max(0, guess));
}

function concat(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0];
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function pick({ key, code, ctrlKey, altKey, shiftKey, metaKey }: KeyboardEvent) {
  return { key, code, ctrlKey, altKey, shiftKey, metaKey };
}

/** Links open with a click while Ctrl or Cmd is held, so that a click on text stays a click on text. */
function openLink(event: MouseEvent, url: string): void {
  if (!(isMac ? event.metaKey : event.ctrlKey)) return;
  if (/^(https?|mailto|ftp):/i.test(url)) window.open(url, "_blank", "noopener,noreferrer");
}
