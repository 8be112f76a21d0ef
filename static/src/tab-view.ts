// One tab as it is shown: its socket, its panes, its input, and what is said over them.

import type { ITheme } from "@xterm/xterm";
import { Banner, type BannerContent } from "./banner";
import { Connection, type LinkState } from "./connection";
import { element } from "./dom";
import { Acks } from "./flow";
import { InputStream, isReport } from "./input";
import { fit, sameSize, scaledFont, type Cell } from "./layout";
import { Pane } from "./pane";
import { Panes, place } from "./panes";
import { strings } from "./strings";
import { endedPanel } from "./panels";
import { webglUsable } from "./renderer";
import type { SettingName, Settings } from "./settings";
import { measureCell, terminalOptions, type Font } from "./theme";
import { paneNote, viewBanner, type ViewState } from "./view-state";
import {
  closeCode,
  decode,
  encodeAck,
  frame,
  FrameError,
  protocol,
  type EndReason,
  type Hello,
  type Layout,
  type Op,
  type PaneState,
  type Size,
  type SizeOwner,
  type TabMessage,
  type Welcome,
} from "./wire";
import { defaultWidths, type Widths } from "./widths";

/** What a view needs of the page. */
export interface ViewHost {
  url: string;
  token: string;
  theme: ITheme;
  font: Font;
  settings: Settings;
  /** The place for cells, in pixels. */
  place(): Cell;
  /** Something that is shown outside of the view has changed. */
  changed(view: TabView): void;
  key(event: KeyboardEvent): boolean;
  notice(text: string, key?: string): void;
  copied(view: TabView, pane: Pane, text: string): void;
  bell(view: TabView): void;
  paste(view: TabView, pane: Pane, text: string): void;
  paneMenu(view: TabView, pane: number, at: { x: number; y: number }): void;
  /** A pane shall be a tab of its own, at this place in the strip. */
  breakOut(pane: number, place: number): void;
  /** The place in the strip under a point, which is marked there; undefined: none, and the mark goes. */
  stripPlace(point: { x: number; y: number } | undefined): number | undefined;
  link(url: string | undefined): void;
  version(version: string): void;
  loggedOut(): void;
  /** The link was lost before anything came: is this page still logged in, the tab still there? */
  doubt(): void;
  closeTab(): void;
  openTab(): void;
  revive(): void;
}

// What a view keeps of panes that are not shown: zoomed away, or in another window.
const maxHiddenPanes = 12;
// The server sends no more of a pane's history: terminal/wire.go.
const maxScrollback = 50_000;
// The size that was asked for may never come: tmux bounds it, or a person sized the window by hand.
const sizeGraceMs = 1_000;

export class TabView {
  readonly element: HTMLElement;
  state: ViewState = "connecting";
  layout?: Layout;
  rtt?: number;
  plain = false;
  owner?: SizeOwner;
  ended?: EndReason;
  private readonly panes = new Map<number, Pane>();
  private readonly states = new Map<number, PaneState>();
  private readonly drawing: Panes;
  private readonly banner = new Banner();
  private readonly input: InputStream;
  private readonly acks: Acks;
  private readonly link: Connection;
  private readonly ops = new Map<number, (error?: { code: string; error: string }) => void>();
  private readonly waiters: (() => void)[] = [];
  private panel?: HTMLElement;
  private opID = 0;
  private widths: Widths = defaultWidths;
  private stream = "";
  private readonly ready = new Set<number>(); // panes that are in step on this link
  private readonly deep = new Set<number>(); // panes with more history than usual
  private laidOut = false; // a layout came on this link
  private sizeAsked?: Size;
  private sizeTimer?: ReturnType<typeof setTimeout>;
  private sizeGraceOver = false;
  private ticker?: ReturnType<typeof setInterval>;
  private linkState: LinkState = { name: "connecting" };
  private shown = false;
  private exitCode?: number;
  private plainTold = false;

  constructor(
    readonly id: string,
    private readonly host: ViewHost,
  ) {
    this.element = element("div", { class: "view", hidden: true, data: { view: id, state: "connecting", testid: "view" } });
    this.drawing = new Panes({
      resizePane: (pane, size) => void this.do({ op: "resizePane", pane, ...size }),
      menu: (pane, at) => host.paneMenu(this, pane, at),
      drop: (pane, on, side) =>
        void this.do(side === "place" ? { op: "swapPane", pane, with: on } : { op: "movePane", pane, with: on, direction: side }),
      breakOut: (pane, place) => host.breakOut(pane, place),
      stripPlace: (point) => host.stripPlace(point),
    });
    this.element.append(this.drawing.element, this.banner.element);
    this.input = new InputStream((data) => this.link.send(data));
    this.acks = new Acks((pane, offset) => this.link.send(encodeAck(pane, offset)));
    this.link = new Connection({
      url: host.url,
      hello: () => this.hello(),
      onText: (message) => this.message(message as unknown as TabMessage),
      onBinary: (data) => this.binary(data),
      onState: (state) => this.linkChanged(state),
      onRtt: (milliseconds) => {
        this.rtt = milliseconds;
        this.host.changed(this);
      },
    });
  }

  start(): void {
    this.link.start();
    webglUsable(); // found out while the socket opens, since the size in the first frame depends on it
  }

  // What the page asks of a view.

  get activePane(): Pane | undefined {
    return this.layout && this.panes.get(this.layout.active);
  }

  get paneIDs(): number[] {
    return this.layout?.panes.map((box) => box.id) ?? [];
  }

  pane(id: number): Pane | undefined {
    return this.panes.get(id);
  }

  paneState(id: number): PaneState | undefined {
    return this.states.get(id);
  }

  /** Resolves when the view is live or ended. */
  settled(): Promise<void> {
    if (this.state === "live" || this.state === "ended") return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  setShown(shown: boolean): void {
    this.shown = shown;
    this.element.hidden = !shown;
    this.acks.setSlow(!shown);
    this.link.setIdle(!shown);
    for (const pane of this.panes.values()) pane.setShown(shown);
    if (shown) this.fit();
    else this.shallow();
    this.tick();
  }

  focus(): void {
    const actions = this.panel?.querySelector("button");
    if (actions) actions.focus();
    else this.activePane?.focus();
  }

  retry(): void {
    this.link.retry();
  }

  /** The tab lives: somebody has revived it, if its terminal server was gone. */
  revived(): void {
    if (this.ended !== "server_gone" || this.link.state.name !== "closed") return;
    this.ended = undefined;
    this.setPanel(undefined);
    this.setState("connecting");
    this.link.retry();
  }

  check(): void {
    this.link.check();
  }

  pause(): void {
    this.link.pause();
  }

  do(op: Op): Promise<void> {
    const id = ++this.opID;
    return new Promise((resolve) => {
      this.ops.set(id, (error) => {
        if (error) this.host.notice(strings.failed(strings.changeFailed, error.error), "do");
        resolve();
      });
      if (!this.link.send({ type: "do", id, ...op })) this.finish(id, { code: "offline", error: strings.offline });
    });
  }

  takeSize(): void {
    this.sendSize();
    this.link.send({ type: "takeSize" });
  }

  /** Pastes a prepared text. */
  pasteInto(pane: Pane, data: Uint8Array): void {
    if (data.length === 0) return;
    if (!this.input.paste(pane.id, data)) this.host.notice(strings.keysRefused, "refused");
    this.tick();
  }

  /** Fetches the older lines of a pane that tmux still holds, as far as a page can keep them. */
  deepen(pane: Pane): void {
    if (this.deep.has(pane.id) || pane.term.buffer.normal.baseY < this.host.settings.get("scrollback")) return;
    pane.setScrollback(maxScrollback);
    if (this.link.send({ type: "scrollback", pane: pane.id, lines: maxScrollback })) this.deep.add(pane.id);
  }

  /** What is not looked at costs no more memory than others. */
  private shallow(): void {
    for (const id of this.deep) {
      this.panes.get(id)?.setScrollback(this.host.settings.get("scrollback"));
      this.link.send({ type: "scrollback", pane: id, lines: this.host.settings.get("scrollback") });
    }
    this.deep.clear();
  }

  setTheme(theme: ITheme): void {
    for (const pane of this.panes.values()) pane.setTheme(theme);
  }

  /** Settings have changed. */
  configure(changed: ReadonlySet<SettingName>): void {
    const options = terminalOptions(this.host.settings);
    for (const pane of this.panes.values()) pane.setOptions(options);
    // What is beyond the old end of the history, only the server has. Without a link, hello asks for it.
    if (changed.has("scrollback")) this.link.send({ type: "scrollback", lines: options.scrollback });
  }

  /** The place or the font has changed. */
  fit(): void {
    if (!this.shown) return;
    this.sendSize();
    this.draw();
  }

  dispose(): void {
    clearInterval(this.ticker);
    clearTimeout(this.sizeTimer);
    this.link.dispose();
    this.acks.reset();
    for (const pane of this.panes.values()) pane.dispose();
    this.element.remove();
  }

  // The link.

  private hello(): Hello {
    this.sizeAsked = this.wanted();
    const panes: Record<number, number> = {};
    for (const [id, pane] of this.panes) if (pane.resumeOffset !== undefined) panes[id] = pane.resumeOffset;
    return {
      type: "hello",
      protocol,
      token: this.host.token,
      size: this.sizeAsked,
      readOnly: false,
      scrollback: this.host.settings.get("scrollback"),
      stream: this.stream,
      panes,
      input: this.input.id,
    };
  }

  private linkChanged(state: LinkState): void {
    const before = this.linkState;
    this.linkState = state;
    if (state.name !== "open") {
      this.input.hold();
      this.acks.reset();
      this.ready.clear();
      this.deep.clear(); // the next connection begins with the usual history
      for (const pane of this.panes.values()) pane.linkLost();
      this.laidOut = false;
      this.sizeGraceOver = false;
      clearTimeout(this.sizeTimer);
      for (const id of [...this.ops.keys()]) this.finish(id, { code: "offline", error: strings.noAnswer });
      if (this.state === "live") this.setState("reconnecting");
    }
    if (state.name === "waiting") {
      if (state.code === closeCode.badFrame) this.host.notice(strings.badFrame, "link");
      if (state.code === closeCode.messageTooBig) this.host.notice(strings.messageTooBig, "link");
      if (before.name === "connecting") this.host.doubt();
    }
    if (state.name === "closed") {
      if (state.code === closeCode.loggedOut) this.host.loggedOut();
      if (state.code === closeCode.tabGone) this.end("closed");
      if (state.code === closeCode.serverGone) this.end("server_gone");
    }
    this.tick();
  }

  private binary(data: ArrayBuffer): void {
    let decoded;
    try {
      decoded = decode(data);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.host.notice(strings.badFrame, "link");
      this.link.restart();
      return;
    }
    switch (decoded.type) {
      case frame.output:
        this.panes.get(decoded.pane)?.output(decoded);
        return;
      case frame.snapshot:
        this.need(decoded.pane, decoded.size).snapshot(decoded);
        return;
      case frame.resize:
        this.panes.get(decoded.pane)?.resize(decoded);
        return;
      case frame.inputAck:
        this.input.acked(decoded.offset);
    }
  }

  private message(message: TabMessage): void {
    switch (message.type) {
      case "welcome":
        this.welcomed(message);
        return;
      case "layout":
        this.laidOutAs(message);
        return;
      case "pane":
        this.states.set(message.pane, message);
        this.note(message.pane);
        this.host.changed(this);
        return;
      case "size":
        this.owner = message;
        this.draw();
        this.tick();
        this.checkLive();
        this.host.changed(this);
        return;
      case "inputRefused":
        this.input.acked(message.offset);
        this.host.notice(strings.inputRefused(message.reason), "refused");
        return;
      case "done":
        this.finish(message.id, message.error);
        return;
      case "notice":
        this.host.notice(message.text, message.code);
        return;
      case "clipboard": {
        const pane = this.panes.get(message.pane);
        if (pane) this.host.copied(this, pane, message.text);
        return;
      }
      case "ended":
        this.exitCode = message.exitCode;
        this.end(message.reason);
    }
  }

  private laidOutAs(layout: Layout): void {
    const before = this.activePane;
    this.layout = layout;
    this.laidOut = true;
    for (const box of layout.panes) this.need(box.id, box).setShown(this.shown);
    this.forgetHidden();
    this.draw();
    // The focus goes with the active pane, when it is in this view or nowhere: a pane was split off or closed.
    const focused = document.activeElement;
    // A pane that opens late would take the focus, and with it the keys of every device, from where it has gone since.
    if (this.activePane !== before) before?.yieldFocus();
    if (this.shown && this.activePane !== before && (focused === document.body || this.element.contains(focused))) {
      this.activePane?.focus();
    }
    this.checkLive();
    this.host.changed(this);
  }

  private welcomed(message: Welcome): void {
    const resumes = message.stream === this.stream;
    this.stream = message.stream;
    this.plain = message.plain;
    this.widths = message.widths ?? defaultWidths;
    this.ended = undefined;
    this.setPanel(undefined);
    for (const [id, pane] of this.panes) {
      if (!resumes) pane.offset = undefined;
      else if (pane.resumeOffset !== undefined) this.ready.add(id);
    }
    this.input.resume(message.inputOffset);
    this.host.version(message.version);
  }

  private finish(id: number, error?: { code: string; error: string }): void {
    const done = this.ops.get(id);
    this.ops.delete(id);
    done?.(error);
  }

  // Panes.

  private need(id: number, size: Size): Pane {
    const known = this.panes.get(id);
    if (known) return known;
    const { font } = this.host;
    const { letterSpacing } = measureCell(font, webglUsable());
    const pane: Pane = new Pane(
      {
        id,
        size: { cols: size.cols, rows: size.rows },
        theme: this.host.theme,
        font: { ...font, letterSpacing },
        options: terminalOptions(this.host.settings),
        widths: this.widths,
      },
      {
        input: (data) => this.typed(pane, data),
        binary: (data) => this.send(pane, Uint8Array.from(data, (character) => character.charCodeAt(0))),
        paste: (text) => this.host.paste(this, pane, text),
        parsed: (offset) => {
          this.ready.add(id);
          this.acks.parsed(id, offset);
          if (this.state !== "live") this.checkLive();
        },
        gap: () => {
          pane.offset = undefined;
          this.link.restart();
        },
        focused: () => {
          if (this.layout && this.layout.active !== id && this.paneIDs.includes(id)) {
            void this.do({ op: "selectPane", pane: id });
          }
        },
        copied: (text) => this.host.copied(this, pane, text),
        bell: () => this.host.bell(this),
        key: (event) => this.host.key(event),
        cellChanged: () => this.draw(),
        link: (url) => this.host.link(url),
      },
    );
    this.panes.set(id, pane);
    pane.setShown(this.shown);
    this.note(id);
    return pane;
  }

  private forgetHidden(): void {
    const hidden = [...this.panes.keys()].filter((id) => !this.paneIDs.includes(id));
    for (const id of hidden.slice(0, Math.max(0, hidden.length - maxHiddenPanes))) {
      this.panes.get(id)?.dispose();
      this.panes.delete(id);
      this.states.delete(id);
    }
  }

  /** Types into the active pane. False: there is none yet. */
  type(text: string): boolean {
    const pane = this.activePane;
    if (pane) this.send(pane, new TextEncoder().encode(text));
    return pane !== undefined;
  }

  private typed(pane: Pane, data: string): void {
    if (this.state !== "live" && isReport(data)) return;
    this.send(pane, new TextEncoder().encode(data));
  }

  private send(pane: Pane, data: Uint8Array): void {
    if (this.ended || this.states.get(pane.id)?.dead) return;
    if (!this.input.type(pane.id, data)) this.host.notice(strings.keysRefused, "refused");
    if (this.state !== "live") this.tick();
  }

  private note(id: number): void {
    const pane = this.panes.get(id);
    if (!pane) return;
    const state = this.states.get(id);
    pane.setNote(
      state?.title ?? "",
      paneNote(state, {
        restart: () => {
          void this.do({ op: "respawnPane", pane: id });
          pane.focus();
        },
        close: () => {
          if (this.paneIDs.length > 1) void this.do({ op: "closePane", pane: id });
          else this.host.closeTab();
        },
        leaveMode: () => void this.do({ op: "leaveMode", pane: id }),
      }),
    );
  }

  // Size.

  private cell(): Cell {
    return measureCell(this.host.font, webglUsable()).cell;
  }

  /** The size that fits this page. */
  wanted(): Size | undefined {
    const room = this.host.place();
    return room.width > 0 && room.height > 0 ? fit(room, this.cell()) : undefined;
  }

  private sendSize(): void {
    const size = this.wanted();
    if (!size || sameSize(size, this.sizeAsked)) return;
    if (this.link.send({ type: "resize", ...size })) this.sizeAsked = size;
  }

  private draw(): void {
    const { layout } = this;
    if (!layout) return;
    const room = this.host.place();
    const foreign = this.foreignSize();
    let { cell, letterSpacing } = measureCell(this.host.font, webglUsable());
    let fontSize = this.host.font.size;
    if (foreign) {
      fontSize = scaledFont(room, layout.size, cell, fontSize);
      ({ cell, letterSpacing } = measureCell({ ...this.host.font, size: fontSize }, webglUsable()));
    }
    const font = { ...this.host.font, size: fontSize, letterSpacing };
    for (const box of layout.panes) this.panes.get(box.id)?.setFont(font);
    // What is drawn counts, should it not be what was measured: another renderer, a browser that rounds its own way.
    const drawn = layout.panes.map((box) => this.panes.get(box.id)?.cell).find((found) => found !== undefined);
    if (drawn && this.shown && Math.abs(drawn.width - cell.width) * layout.size.cols > 2) cell = drawn;
    const boxes = new Map([...this.panes].map(([id, pane]) => [id, pane.element]));
    this.drawing.draw(layout, cell, boxes);
    this.element.classList.toggle("foreign", foreign);
    if (foreign) {
      const width = layout.size.cols * cell.width;
      const height = layout.size.rows * cell.height;
      place(this.drawing.element, {
        left: Math.max(0, Math.floor((room.width - width) / 2)),
        top: Math.max(0, Math.floor((room.height - height) / 2)),
        width,
        height,
      });
    }
  }

  /** Another device owns the size, and it is not ours by chance. */
  private foreignSize(): boolean {
    return this.owner?.mine === false && this.layout !== undefined && !sameSize(this.layout.size, this.wanted());
  }

  // State.

  /** Live: the screen is the one of the program, in its size. Only then does waiting input go. */
  private checkLive(): void {
    if (this.link.state.name !== "open" || !this.laidOut || !this.layout || this.ended) return;
    if (!this.layout.panes.every((box) => this.ready.has(box.id))) return;
    if (this.owner?.mine && this.sizeAsked && !sameSize(this.layout.size, this.sizeAsked) && !this.sizeGraceOver) {
      this.sizeTimer ??= setTimeout(() => {
        this.sizeTimer = undefined;
        this.sizeGraceOver = true;
        this.checkLive();
      }, sizeGraceMs);
      return;
    }
    clearTimeout(this.sizeTimer);
    this.sizeTimer = undefined;
    this.input.release();
    if (this.state !== "live") this.setState("live");
    this.tick();
  }

  private end(reason: EndReason): void {
    this.ended = reason;
    this.setState("ended");
    this.setPanel(endedPanel(reason, this.exitCode, this.host));
    this.tick();
  }

  private setPanel(content: HTMLElement | undefined): void {
    const focused = this.element.contains(document.activeElement);
    this.panel?.remove();
    this.panel = content;
    if (!content) return;
    this.element.append(content);
    if (focused && this.shown) this.focus();
  }

  private setState(state: ViewState): void {
    this.state = state;
    this.element.dataset.state = state;
    if (state === "live" || state === "ended") for (const resolve of this.waiters.splice(0)) resolve();
    this.host.changed(this);
  }

  /** Brings the line at the bottom up to date, every second while it counts. */
  private tick(): void {
    const dropped = this.input.expire();
    if (dropped > 0) this.host.notice(strings.keysDropped(dropped), "refused");
    this.banner.show(this.bannerContent());
    const counts = this.linkState.name === "waiting" || (this.state !== "live" && this.input.waiting > 0);
    if (counts && this.ticker === undefined) this.ticker = setInterval(() => this.tick(), 1_000);
    if (!counts) {
      clearInterval(this.ticker);
      this.ticker = undefined;
    }
  }

  private bannerContent(): BannerContent | undefined {
    return viewBanner(
      {
        ended: this.ended !== undefined,
        state: this.state,
        link: this.linkState,
        online: navigator.onLine,
        waiting: this.input.waiting,
        plain: this.plain && !this.plainTold,
        foreignTo: this.foreignSize() ? this.owner?.ownerName || strings.anotherDevice : undefined,
        now: Date.now(),
      },
      {
        retry: () => this.retry(),
        reload: () => location.assign(location.href),
        takeSize: () => this.takeSize(),
        dismissPlain: () => {
          this.plainTold = true;
          this.tick();
          this.focus();
        },
      },
    );
  }
}
