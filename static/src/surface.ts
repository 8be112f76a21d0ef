// window.tabs: what people's own scripts, and our browser tests, may use. Documented in docs; changes only by growing.

import type { App } from "./app";
import type { OpenOptions } from "./api";
import type { TabView } from "./tab-view";
import type { ViewState } from "./view-state";

export interface PaneSurface {
  state: ViewState;
  cols: number;
  rows: number;
  cursor: { x: number; y: number };
  /** The visible rows. */
  lines(): string[];
  /** All rows, history included. */
  scrollback(): string[];
}

export interface Surface {
  list(): { id: string; title: string; active: boolean }[];
  active(): string;
  /** Opens a tab; resolves to its id once it is shown and live. */
  open(options?: OpenOptions): Promise<string>;
  /** Shows a tab; resolves to its id once it is shown and live. */
  select(id: string): Promise<string>;
  /** Ends a tab and its programs, without a question. */
  close(id: string): Promise<void>;
  focus(): void;
  /** The panes of the shown tab. */
  panes(): number[];
  /** A pane, or the active one; undefined when there is none. */
  pane(id?: number): PaneSurface | undefined;
}

declare global {
  interface Window {
    tabs: Surface;
  }
}

export function surface(app: App): Surface {
  const live = async (id: string, view: TabView): Promise<string> => {
    await view.settled();
    return id;
  };
  return {
    list: () => {
      const active = app.active?.id ?? "";
      return app.list().map(({ id, title }) => ({ id, title, active: id === active }));
    },
    active: () => app.active?.id ?? "",
    open: async (options) => {
      const id = await app.open(options);
      return live(id, app.show(id));
    },
    select: async (id) => {
      if (!app.list().some((tab) => tab.id === id)) throw new Error(`there is no tab ${id}`);
      return live(id, app.show(id));
    },
    close: (id) => app.close(id, false),
    focus: () => app.focus(),
    panes: () => app.active?.paneIDs ?? [],
    pane: (id) => (app.active ? paneSurface(app.active, id) : undefined),
  };
}

function paneSurface(view: TabView, id: number | undefined): PaneSurface | undefined {
  const pane = id === undefined ? view.activePane : view.pane(id);
  if (!pane) {
    if (id !== undefined) return undefined;
    return { state: view.state, cols: 0, rows: 0, cursor: { x: 0, y: 0 }, lines: () => [], scrollback: () => [] };
  }
  const { term } = pane;
  const buffer = term.buffer.active;
  const rows = (from: number, to: number): string[] => {
    const out: string[] = [];
    for (let y = from; y < to; y++) out.push(buffer.getLine(y)?.translateToString(true) ?? "");
    return out;
  };
  return {
    state: view.state,
    cols: term.cols,
    rows: term.rows,
    cursor: { x: buffer.cursorX, y: buffer.cursorY },
    lines: () => rows(buffer.viewportY, buffer.viewportY + term.rows),
    scrollback: () => rows(0, buffer.length),
  };
}
