// What can be done with the panes of the shown tab, and with a tab from the strip's menu.

import type { App } from "./app";
import { ask } from "./dialog";
import { keysOf } from "./keys";
import { neighbour } from "./layout";
import { openMenu, type MenuItem } from "./menu";
import { openPalette } from "./palette";
import { strings } from "./strings";
import type { TabView } from "./tab-view";
import type { Side, Tab } from "./wire";

type Point = { x: number; y: number };

export class PaneCommands {
  constructor(private readonly app: App) {}

  /** The pane of the shown tab that has the keys. */
  get active(): number | undefined {
    return this.app.active?.layout?.active;
  }

  next(id: number): void {
    const view = this.app.active;
    const panes = view?.paneIDs ?? [];
    view?.pane(panes[(panes.indexOf(id) + 1) % panes.length])?.focus();
  }

  swap(id: number, side: Side): void {
    const view = this.app.active;
    const other = neighbour(view?.layout?.panes ?? [], id, side);
    if (other !== undefined) void view?.do({ op: "swapPane", pane: id, with: other });
  }

  /** Ends a pane, after a question when a program runs in it. */
  async close(id: number): Promise<void> {
    const { app } = this;
    const view = app.active;
    const tab = app.activeTab;
    if (!view) return;
    if (view.paneIDs.length < 2 && !view.layout?.zoomed) {
      if (tab) await app.close(tab.id);
      return;
    }
    if (view.layout?.active !== id) await view.do({ op: "selectPane", pane: id });
    // Which program runs in it, the tab tells of its active pane, which this one is.
    const fresh = tab && (await app.api.getTab(app.sandbox, tab.id).catch(() => tab));
    const runs = fresh?.foreground && !view.paneState(id)?.dead;
    if (runs && !(await ask({ text: strings.endPaneQuestion(fresh.foreground), keep: strings.keep, act: strings.end }))) return;
    await view.do({ op: "closePane", pane: id });
  }

  /** Makes a tab of its own of a pane of the shown tab, at a place in the strip if one is said. */
  async breakOut(pane: number, place?: number): Promise<void> {
    const { app } = this;
    const from = app.activeTab;
    if (!from) return;
    try {
      const tab = await app.api.breakOut(app.sandbox, from.id, pane);
      app.watch.put(tab);
      app.show(tab.id);
      if (place !== undefined && place !== tab.order) await app.move(tab.id, place);
    } catch (error) {
      app.fail(strings.moveFailed, error);
    }
  }

  /** Lets the person choose a tab to take into the shown one. */
  join(): void {
    const { app } = this;
    const tabs = app.list().filter((tab) => this.whyNotJoin(tab) === undefined);
    if (tabs.length === 0) {
      app.notices.show(strings.joinNone, { key: "join" });
      return;
    }
    const entries = tabs.map((tab) => ({ label: strings.takeIn(tab.title || strings.untitled), run: () => void this.take(tab.id) }));
    openPalette(entries, () => app.focus());
  }

  private async take(id: string): Promise<void> {
    const { app } = this;
    const into = app.activeTab;
    if (!into) return;
    try {
      app.watch.put(await app.api.joinTab(app.sandbox, into.id, id));
    } catch (error) {
      app.fail(strings.moveFailed, error);
    }
  }

  private whyNotJoin(tab: Tab): string | undefined {
    const into = this.app.activeTab;
    if (tab.id === into?.id) return strings.joinSelf;
    if (!tab.tmuxServer || tab.tmuxServer !== into?.tmuxServer) return strings.joinOther;
    return undefined;
  }

  /** The menu of a pane's handle. */
  menu(view: TabView, pane: number, at: Point): void {
    const zoomed = view.layout?.zoomed ?? false;
    const items: MenuItem[] = [
      { label: strings.command.splitRight, keys: keysOf("splitRight"), run: () => void view.do({ op: "splitPane", pane, direction: "right" }) },
      { label: strings.command.splitDown, keys: keysOf("splitDown"), run: () => void view.do({ op: "splitPane", pane, direction: "down" }) },
      { label: zoomed ? strings.unzoom : strings.zoom, keys: keysOf("zoomPane"), run: () => void view.do({ op: "zoomPane", pane }) },
      { label: strings.command.breakPane, keys: keysOf("breakPane"), divided: true, run: () => void this.breakOut(pane) },
      { label: strings.command.joinTab, run: () => this.join() },
      { label: strings.command.closePane, keys: keysOf("closePane"), divided: true, run: () => void this.close(pane) },
    ];
    openMenu(at, strings.handle, items, () => this.app.focus());
  }

  /** The menu of a tab in the strip. */
  tabMenu(id: string, at: Point): void {
    const { app } = this;
    const tab = app.list().find((each) => each.id === id);
    if (!tab) return;
    const place = app.list().indexOf(tab);
    const items: MenuItem[] = [
      { label: strings.command.renameTab, keys: "F2", run: () => app.strip.rename(id) },
      { label: strings.joinHere, disabled: this.whyNotJoin(tab), run: () => void this.take(id) },
      {
        label: strings.command.moveTabLeft,
        disabled: place === 0 ? strings.atEdge : undefined,
        divided: true,
        run: () => app.strip.shift(id, -1),
      },
      {
        label: strings.command.moveTabRight,
        disabled: place === app.list().length - 1 ? strings.atEdge : undefined,
        run: () => app.strip.shift(id, 1),
      },
      { label: strings.command.closeTab, divided: true, run: () => void app.close(id) },
    ];
    openMenu(at, strings.tabMenu(tab.title), items, () => app.focus());
  }
}
