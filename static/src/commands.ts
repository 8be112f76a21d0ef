// What every command does. The palette lists them, keys.ts has their shortcuts, the strip's buttons run some.

import type { App } from "./app";
import { keysOf, type Command } from "./keys";
import { openPalette, type Entry } from "./palette";
import { PaneCommands } from "./pane-commands";
import { strings } from "./strings";
import type { Side } from "./wire";

export class Commands {
  private readonly table: Record<Command, () => void>;

  constructor(private readonly app: App) {
    const panes = new PaneCommands(app);
    const onPane = (run: (pane: number) => void) => (): void => {
      const id = panes.active;
      if (id !== undefined) run(id);
    };
    const onTab = (run: (id: string) => void) => (): void => {
      const tab = app.activeTab;
      if (tab) run(tab.id);
    };
    const focus = (direction: Side) => onPane((id) => void app.active?.do({ op: "selectPane", pane: id, direction }));
    const swap = (side: Side) => onPane((id) => panes.swap(id, side));
    const term = () => app.active?.activePane?.term;
    app.paneMenu = (view, pane, at) => panes.menu(view, pane, at);
    app.tabMenu = (id, at) => panes.tabMenu(id, at);
    app.breakOut = (pane, place) => void panes.breakOut(pane, place);
    this.table = {
      newTab: () => void app.openAsked(),
      closeTab: onTab((id) => void app.close(id)),
      renameTab: onTab((id) => app.strip.rename(id)),
      nextTab: () => app.step(1),
      previousTab: () => app.step(-1),
      moveTabRight: onTab((id) => app.strip.shift(id, 1)),
      moveTabLeft: onTab((id) => app.strip.shift(id, -1)),
      splitRight: onPane((id) => void app.active?.do({ op: "splitPane", pane: id, direction: "right" })),
      splitDown: onPane((id) => void app.active?.do({ op: "splitPane", pane: id, direction: "down" })),
      closePane: onPane((id) => void panes.close(id)),
      nextPane: onPane((id) => panes.next(id)),
      focusLeft: focus("left"),
      focusRight: focus("right"),
      focusUp: focus("up"),
      focusDown: focus("down"),
      swapLeft: swap("left"),
      swapRight: swap("right"),
      swapUp: swap("up"),
      swapDown: swap("down"),
      zoomPane: onPane((id) => void app.active?.do({ op: "zoomPane", pane: id })),
      breakPane: onPane((id) => void panes.breakOut(id)),
      joinTab: () => panes.join(),
      newWindow: () => void app.active?.do({ op: "newWindow" }),
      takeSize: () => app.active?.takeSize(),
      copy: () => void app.clips.copySelection(),
      paste: () => void app.clips.pasteClipboard(),
      selectAll: () => term()?.selectAll(),
      find: () => void app.openSearch(),
      scrollToBottom: () => term()?.scrollToBottom(),
      larger: () => app.setFontSize((size) => size + 1),
      smaller: () => app.setFontSize((size) => size - 1),
      resetFont: () => app.settings.setHere("fontSize", undefined),
      statusBar: () => app.toggle("statusBar"),
      screenReader: () => app.toggle("screenReader"),
      fullScreen: () => void this.fullScreen(),
      devices: () => location.assign(app.api.page("/devices")),
      logout: () => void this.logout(),
      settings: () => void this.settings(),
      palette: () => this.palette(),
    };
  }

  run(command: Command): void {
    this.table[command]();
  }

  /** Every command and every terminal. */
  palette(): void {
    const { app } = this;
    const commands = (Object.keys(this.table) as Command[])
      .filter((command) => command !== "palette")
      .map((command): Entry => ({ label: strings.command[command], keys: keysOf(command), run: () => this.run(command) }));
    openPalette([...this.tabs(), ...commands], () => app.focus());
  }

  private async settings(): Promise<void> {
    try {
      const { openSettings } = await import("./settings-dialog");
      openSettings(this.app.settings, () => this.app.focus());
    } catch (error) {
      this.app.fail(strings.settingsFailed, error);
    }
  }

  /** The list of all terminals, for a strip that overflows. */
  listTabs(): void {
    openPalette(this.tabs(), () => this.app.focus());
  }

  private tabs(): Entry[] {
    const { app } = this;
    return app.list().map((tab) => ({ label: strings.goTo(tab.title || strings.untitled), run: () => app.show(tab.id) }));
  }

  private async fullScreen(): Promise<void> {
    if (document.fullscreenElement) {
      await document.exitFullscreen();
      return;
    }
    await document.documentElement.requestFullscreen();
    // Chromium then gives the page Ctrl+W, T and N too, which shells and editors use.
    const { keyboard } = navigator as Navigator & { keyboard?: { lock(keys: string[]): Promise<void> } };
    await keyboard?.lock(["KeyW", "KeyT", "KeyN", "Tab"]);
  }

  private async logout(): Promise<void> {
    try {
      await this.app.api.logout();
      location.assign(this.app.api.page("/login"));
    } catch (error) {
      this.app.fail(strings.changeFailed, error);
    }
  }
}
