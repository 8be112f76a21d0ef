// The search bar of a pane: over its whole history, live while output arrives. Loaded when it is first opened.

import type { IDisposable } from "@xterm/xterm";
import { element, icon } from "./dom";
import { History } from "./history";
import { firstFrom, Matches, type Match, type Query } from "./matches";
import type { Pane } from "./pane";
import { SearchMarks } from "./search-marks";
import { strings } from "./strings";

// Reading the history for the first time is cut into pieces, between which the page goes on.
const sliceMs = 8;
const outputMs = 100;

const toggles = { matchCase: "Aa", wholeWord: "W", regex: ".*" } as const;
type Toggle = keyof typeof toggles;

let last: Query = { text: "", matchCase: false, wholeWord: false, regex: false };

export class Search {
  closed = false;
  private readonly history: History;
  private readonly marks: SearchMarks;
  private readonly input = element("input", { type: "text", aria: { label: strings.find }, data: { testid: "search-input" } });
  private readonly count = element("span", { class: "search-count", role: "status", data: { testid: "search-count" } });
  private readonly bar: HTMLElement;
  private readonly hooks: IDisposable[];
  private query: Query = { ...last, text: "" };
  private matches?: Matches;
  private current?: Match;
  private failed = "";
  private anchor = 0; // number of the row that typing searches up from
  private timer?: ReturnType<typeof setTimeout>;

  /** `deepen` is asked whether there are older lines to fetch. */
  constructor(
    readonly pane: Pane,
    private readonly deepen: () => void,
  ) {
    this.history = new History(pane.term);
    this.marks = new SearchMarks(pane);
    this.input.spellcheck = false;
    this.input.autocapitalize = "none";
    this.input.autocomplete = "off";
    this.bar = element(
      "div",
      { class: "search", role: "search", data: { testid: "search" } },
      this.input,
      ...(Object.keys(toggles) as Toggle[]).map((name) => this.toggle(name)),
      this.count,
      this.tool("up", strings.older, () => this.step(-1)),
      this.tool("down", strings.newer, () => this.step(1)),
      this.tool("close", strings.closeSearch, () => this.close()),
    );
    this.input.addEventListener("input", () => this.change({ text: this.input.value }));
    this.bar.addEventListener("keydown", (event) => this.key(event));
    pane.element.append(this.bar);
    this.hooks = [
      pane.term.onWriteParsed(() => this.later(outputMs)),
      pane.term.onResize(() => this.later(0)),
      pane.term.buffer.onBufferChange(() => this.later(0)),
      pane.term.onRender(() => this.draw()),
    ];
    this.update();
  }

  /** Puts the cursor into the bar, with what is selected as the text. */
  focus(): void {
    const selected = this.pane.term.getSelection();
    const text = selected && !selected.includes("\n") ? selected : this.query.text || last.text;
    this.anchor = this.bottom();
    this.input.value = text;
    this.input.focus();
    this.input.select();
    if (text !== this.query.text) this.change({ text });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.timer);
    for (const hook of this.hooks) hook.dispose();
    if (this.current) this.select(this.current);
    this.history.dispose();
    this.marks.dispose();
    const focused = this.bar.contains(document.activeElement);
    this.bar.remove();
    if (focused) this.pane.focus();
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "Escape") this.close();
    else if (event.key === "F3" || (event.key === "Enter" && event.target === this.input)) this.step(event.shiftKey ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private toggle(name: Toggle): HTMLButtonElement {
    const made = element("button", {
      class: "search-toggle",
      type: "button",
      text: toggles[name],
      title: strings[name],
      aria: { pressed: String(this.query[name]), label: strings[name] },
      data: { testid: `search-${name}` },
      onclick: () => {
        this.change({ [name]: !this.query[name] });
        made.setAttribute("aria-pressed", String(this.query[name]));
      },
    });
    made.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the text
    return made;
  }

  private tool(symbol: string, title: string, run: () => void): HTMLButtonElement {
    const made = element("button", { class: "tool", type: "button", title, aria: { label: title }, onclick: run });
    made.addEventListener("mousedown", (event) => event.preventDefault());
    made.append(icon(symbol));
    return made;
  }

  /** Searches for something else: the nearest above where the search began, so that typing on does not wander. */
  private change(change: Partial<Query>): void {
    this.query = { ...this.query, ...change };
    last = this.query;
    this.failed = "";
    this.matches = undefined;
    this.current = undefined;
    try {
      if (this.query.text !== "") this.matches = new Matches(this.history, this.query);
    } catch (error) {
      this.failed = error instanceof Error ? error.message : strings.noExpression;
    }
    this.deepen();
    this.update();
    if (this.matches) this.go(this.nearest());
  }

  private nearest(): Match | undefined {
    const list = this.matches?.list ?? [];
    return list[firstFrom(list, this.anchor) - 1] ?? list[0];
  }

  /** To the next older match (-1) or newer one, and round. */
  private step(step: number): void {
    const list = this.matches?.list ?? [];
    if (list.length === 0) return;
    const { current } = this;
    if (!current) return this.go(list[step < 0 ? list.length - 1 : 0]);
    const at = firstFrom(list, current.row, current.at) + (step > 0 && !this.known(current) ? step - 1 : step);
    this.go(list[(at + list.length) % list.length]);
    this.anchor = this.bottom();
  }

  private go(match: Match | undefined): void {
    this.current = match;
    if (match) {
      const { term } = this.pane;
      const row = this.history.rowAt(match.row);
      const top = term.buffer.active.viewportY;
      // Below the bar, and not at the very edge.
      if (row < top + 2 || row >= top + term.rows) this.pane.scrollTo(Math.max(0, row - Math.floor(term.rows / 2)));
    }
    this.show();
  }

  /** The row below the screen. */
  private bottom(): number {
    return this.history.first + this.pane.term.buffer.active.viewportY + this.pane.term.rows;
  }

  /** Whether a match is one of those found now. */
  private known(match: Match): boolean {
    const list = this.matches?.list ?? [];
    const found = list[firstFrom(list, match.row, match.at)];
    return found?.row === match.row && found.at === match.at;
  }

  private later(milliseconds: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.update();
    }, milliseconds);
  }

  private update(): void {
    if (this.closed) return;
    const whole = this.history.update(this.query.text === "" ? sliceMs : Infinity);
    if (!whole) this.later(0);
    else this.deepen();
    const found = this.matches?.list.length ?? 0;
    this.matches?.update();
    // The first may come only with older lines, or with new output.
    if (found === 0 && !this.current) return this.go(this.nearest());
    if (this.current && !this.known(this.current)) this.current = undefined;
    this.show();
  }

  private show(): void {
    const list = this.matches?.list ?? [];
    // The newest is number 1: a terminal is read from its end.
    const at = this.current ? list.length - firstFrom(list, this.current.row, this.current.at) : 0;
    let text = "";
    if (this.failed) text = strings.noExpression;
    else if (list.length > 0) text = strings.found(at, list.length, this.matches?.capped ?? false);
    else if (this.query.text !== "") text = strings.nothingMatches;
    if (this.count.textContent !== text) this.count.textContent = text;
    const { buffer, options } = this.pane.term;
    const full = buffer.normal.baseY >= (options.scrollback ?? 0);
    this.count.title = this.failed || (full ? strings.searchedLines(options.scrollback ?? 0) : "");
    this.input.setAttribute("aria-invalid", String(this.failed !== ""));
    this.bar.dataset.found = String(list.length > 0 || this.query.text === "");
    this.draw();
  }

  private draw(): void {
    this.marks.draw(this.history, this.matches?.list ?? [], this.current);
  }

  private select(match: Match): void {
    const row = this.history.rowAt(match.row);
    const from = this.history.placeAt(match.row, match.at);
    const to = this.history.placeAt(match.row, match.at + match.length);
    this.pane.term.select(from.column, row + from.row, (to.row - from.row) * this.pane.term.cols + to.column - from.column);
  }
}
