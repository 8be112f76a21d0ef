// The page of a sandbox's tabs: which there are, which one is shown, and what the person may do with them.

import { Api, ApiError, readServer, type OpenOptions, type Server } from "./api";
import { Clips } from "./clips";
import { ask, Notices } from "./dialog";
import { find } from "./dom";
import { maxWaitingBytes } from "./input";
import { Looks } from "./looks";
import { emptyPanel, loggedOutPanel, stoppedPanel, tmuxMissingPanel, type EmptyHost } from "./panels";
import type { Search } from "./search";
import { Status } from "./status";
import { duration, strings } from "./strings";
import { TabView, type ViewHost } from "./tab-view";
import { Strip, type StripTab } from "./tabs";
import { parse, Settings, type SettingName } from "./settings";
import { clampFontSize, readFont, readTheme, storage, type Font } from "./theme";
import { Watch } from "./watch";
import type { EndReason, Size, Tab } from "./wire";

// Views kept with their sockets, so that going back to a tab is instant.
const maxViews = 8;
const doubtEveryMs = 5_000;
const maxRecent = 5;
const recentKey = "tabs.recent";

export class App {
  readonly api: Api;
  readonly notices = new Notices();
  readonly settings: Settings;
  readonly clips: Clips;
  readonly watch: Watch;
  readonly strip: Strip;
  readonly sandbox: string;
  readonly box: string;
  readonly stage: HTMLElement;
  private readonly server: Server;
  private readonly status: Status;
  private readonly views = new Map<string, TabView>(); // in the order of use, the last used last
  private readonly seen = new Map<string, string>(); // activity that was looked at
  private readonly rang = new Set<string>(); // tabs whose bell rang here, unseen
  private readonly closing = new Set<string>();
  private readonly gone = new Set<string>(); // tabs whose terminal server is gone
  private readonly live: HTMLElement;
  private readonly abort = new AbortController();
  private readonly font: Font;
  private theme = readTheme();
  private activeID = "";
  private listed = false;
  private empty?: HTMLElement;
  private tmuxMissing: boolean;
  private tmuxRemedy = "";
  private loggedOut = false;
  private doubtedAt = 0;
  private link?: string;
  private announced = "";
  private watchRtt?: number;
  private toldVersion = "";
  private toldRevivable = false;
  private search?: Search;
  private early = ""; // typed before there was a terminal

  constructor(private readonly root: HTMLElement) {
    const { sandbox = "", name = "", state = "", active = "", tmuxMissing } = root.dataset;
    this.server = readServer();
    this.api = new Api(this.server);
    this.sandbox = sandbox;
    this.box = name;
    this.tmuxMissing = tmuxMissing === "true";
    this.stage = find(".stage", root);
    this.live = find("[data-testid=live]", root);
    this.root.append(this.notices.element);
    this.clips = new Clips({
      notices: this.notices,
      active: () => this.active,
      announce: (text) => this.announce(text),
      focus: () => this.focus(),
    });
    this.settings = new Settings(
      {
        storage: storage(),
        save: (changes) => this.api.changeSettings(changes),
        failed: (error) => this.fail(strings.changeFailed, error),
      },
      parse(document.body.dataset.settings),
    );
    this.settings.watch((changed) => this.onSettings(changed));
    this.font = readFont(this.settings);
    this.showStatusBar();
    this.showPadding();
    this.status = new Status((window) => void this.active?.do({ op: "selectWindow", window }));
    this.strip = new Strip(
      find(".tablist", root),
      {
        select: (id, focus) => this.show(id, focus),
        close: (id) => void this.close(id),
        rename: (id, title) => void this.update(id, { title }),
        move: (id, place) => void this.move(id, place),
        leave: () => this.focus(),
        menu: (id, at) => this.tabMenu(id, at),
      },
      this.abort.signal,
    );
    this.watch = new Watch(
      { url: this.api.socketURL(`${this.api.tabsPath(sandbox)}/watch`), token: this.server.token, state },
      {
        listed: (first) => this.onListed(first),
        changed: () => this.render(),
        gone: (id, reason) => this.onGone(id, reason),
        settings: (user) => this.settings.load(user),
        version: (version) => this.onVersion(version),
        link: (link) => {
          if (link.name === "closed") this.onLoggedOut();
          if (link.name === "waiting") this.doubt();
          this.renderStatus();
        },
        rtt: (milliseconds) => {
          this.watchRtt = milliseconds;
          this.renderStatus();
        },
      },
    );
    this.seed();
    new ResizeObserver(() => this.active?.fit()).observe(this.stage);
    new Looks(
      this.settings,
      () => {
        this.theme = readTheme();
        for (const view of this.views.values()) view.setTheme(this.theme);
      },
      this.abort.signal,
    );
    if (active) this.show(active);
    this.watch.start();
    this.render();
  }

  // Tabs.

  /** Tabs in the order of the strip. */
  list(): Tab[] {
    return this.watch.list();
  }

  get active(): TabView | undefined {
    return this.views.get(this.activeID);
  }

  get activeTab(): Tab | undefined {
    return this.watch.tabs.get(this.activeID);
  }

  /** Shows a tab. */
  show(id: string, focus = true): TabView {
    const before = this.active;
    const view = this.views.get(id) ?? this.makeView(id);
    this.views.delete(id);
    this.views.set(id, view);
    if (before !== view) {
      before?.setShown(false);
      this.activeID = id;
      this.setEmpty(undefined);
      view.setShown(true);
      this.forgetViews();
      const url = new URL(location.href);
      url.searchParams.set("tab", id);
      history.replaceState(history.state, "", url);
      find(".stage", this.root).setAttribute("aria-labelledby", `tab-${id}`);
    }
    this.render();
    if (focus) this.focus();
    return view;
  }

  /** Shows the tab `step` places on. */
  step(step: number): void {
    const tabs = this.list();
    const at = tabs.findIndex((tab) => tab.id === this.activeID);
    const tab = tabs[(at + step + tabs.length) % tabs.length];
    if (tab) this.show(tab.id);
  }

  /** Opens a tab and shows it; the promise is for its id. */
  async open(options: OpenOptions = {}): Promise<string> {
    const size = this.size();
    const tab = await this.api.openTab(this.sandbox, { ...(size ?? {}), ...options });
    this.tmuxMissing = false;
    this.watch.put(tab);
    this.show(tab.id);
    return tab.id;
  }

  /** Opens a tab for the person, who is told why when there is none. */
  async openAsked(options: OpenOptions = {}): Promise<void> {
    const beside = this.activeTab;
    try {
      await this.open({ cwd: beside?.cwd || undefined, ...options });
    } catch (error) {
      if (error instanceof ApiError && (error.code === "tmux_missing" || error.code === "tmux_too_old")) {
        this.tmuxMissing = true;
        this.tmuxRemedy = error.remedy;
        this.render();
        return;
      }
      this.fail(strings.openFailed, error);
    }
  }

  /** Ends a tab, after a question when a program runs in it. */
  async close(id: string, asks = true): Promise<void> {
    if (this.closing.has(id)) return;
    this.closing.add(id);
    try {
      if (asks && !(await this.mayEnd(id))) return;
      await this.api.closeTab(this.sandbox, id);
      this.removed(id);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) this.removed(id);
      else if (asks) this.fail(strings.closeFailed, error);
      else throw error;
    } finally {
      this.closing.delete(id);
    }
  }

  async revive(ids: string[]): Promise<void> {
    try {
      const tabs = await this.api.reviveTabs(this.sandbox, ids);
      for (const tab of tabs) {
        this.watch.put(tab);
        this.views.get(tab.id)?.revived();
      }
      if (tabs.length > 0) this.show(tabs[0].id);
    } catch (error) {
      this.fail(strings.openFailed, error);
    }
  }

  async update(id: string, change: { title?: string; order?: number }): Promise<void> {
    try {
      this.watch.put(await this.api.updateTab(this.sandbox, id, change));
    } catch (error) {
      this.fail(strings.changeFailed, error);
      this.render();
    }
  }

  async move(id: string, place: number): Promise<void> {
    // At once, since the person sees it there; the server's order follows.
    const tabs = this.list();
    const from = tabs.findIndex((tab) => tab.id === id);
    if (from < 0) return;
    const [tab] = tabs.splice(from, 1);
    tabs.splice(place, 0, tab);
    tabs.forEach((each, order) => (each.order = order));
    this.render();
    this.announce(strings.moved(tab.title, place + 1, tabs.length));
    await this.update(id, { order: place });
  }

  private async mayEnd(id: string): Promise<boolean> {
    const tab = await this.api.getTab(this.sandbox, id);
    if (!tab.foreground || tab.state !== "live") return true;
    const since = tab.foregroundSince ? duration(Date.now() - Date.parse(tab.foregroundSince)) : "";
    return ask({ text: strings.endQuestion(tab.title, tab.foreground, since), keep: strings.keep, act: strings.end });
  }

  private removed(id: string): void {
    const tabs = this.list();
    const at = tabs.findIndex((tab) => tab.id === id);
    this.rememberDirectory(this.watch.tabs.get(id));
    this.watch.remove(id);
    if (id === this.activeID) {
      const next = tabs[at + 1] ?? tabs[at - 1];
      if (next) this.show(next.id);
      else this.leave();
    }
    this.views.get(id)?.dispose();
    this.views.delete(id);
    this.render();
  }

  /** No tab is shown any more. */
  private leave(): void {
    this.active?.setShown(false);
    this.activeID = "";
    const url = new URL(location.href);
    url.searchParams.delete("tab");
    history.replaceState(history.state, "", url);
  }

  private makeView(id: string): TabView {
    const app = this;
    const host: ViewHost = {
      url: this.api.socketURL(`${this.api.tabPath(this.sandbox, id)}/socket`),
      token: this.server.token,
      font: this.font,
      get theme() {
        return app.theme;
      },
      settings: this.settings,
      place: () => this.place(),
      changed: (view) => {
        if (view !== this.active) return;
        this.renderStatus();
        if (this.early && view.type(this.early)) this.early = "";
      },
      key: (event) => this.onKey(event),
      notice: (text, key) => this.notices.show(text, { key, brief: true }),
      copied: (view, pane, text) => void this.clips.copied(view, pane, text),
      paste: (view, pane, text) => void this.clips.paste(view, pane, text),
      paneMenu: (view, pane, at) => this.paneMenu(view, pane, at),
      breakOut: (pane, place) => this.breakOut(pane, place),
      stripPlace: (point) => this.strip.placeAt(point),
      bell: (view) => {
        if (view === this.active && !document.hidden) return;
        this.rang.add(view.id);
        this.render();
      },
      link: (url) => {
        this.link = url;
        this.renderStatus();
      },
      version: (version) => this.onVersion(version),
      loggedOut: () => this.onLoggedOut(),
      doubt: () => this.doubt(),
      closeTab: () => void this.close(id),
      openTab: () => void this.openAsked(),
      revive: () => void this.revive([id]),
    };
    const view = new TabView(id, host);
    this.views.set(id, view);
    this.stage.append(view.element);
    view.start();
    return view;
  }

  private forgetViews(): void {
    for (const [id, view] of this.views) {
      if (this.views.size <= maxViews) return;
      view.dispose();
      this.views.delete(id);
    }
  }

  // What the server says.

  /** Until the watch socket has spoken, the server's HTML is what is known. */
  private seed(): void {
    this.root.querySelectorAll<HTMLElement>(".tablist .tab").forEach((made, order) => {
      const { tab: id = "", state = "live", bell } = made.dataset;
      const title = made.querySelector(".title")?.textContent?.trim() ?? "";
      this.watch.tabs.set(id, { ...unknownTab, id, title, order, state: state as Tab["state"], bell: bell === "true" });
    });
  }

  private onListed(first: boolean): void {
    this.listed = true;
    const tabs = this.list();
    for (const tab of tabs) if (tab.activityAt && !this.seen.has(tab.id)) this.seen.set(tab.id, tab.activityAt);
    if (this.activeID && !this.watch.tabs.has(this.activeID)) this.removed(this.activeID);
    if (!this.activeID && tabs.length > 0) this.show(tabs[0].id, first);
    const nothing = tabs.length === 0 && this.watch.revivable.length === 0 && !this.tmuxMissing;
    // Opening a box that has no tab opens its first; that somebody closed the last one does not.
    if (first && nothing && this.watch.state === "running") void this.openAsked();
    else this.render();
  }

  private onGone(id: string, reason: EndReason): void {
    if (this.closing.has(id)) return;
    if (reason === "server_gone") {
      const tab = this.watch.tabs.get(id);
      if (tab) this.watch.put({ ...tab, state: "gone" });
      return;
    }
    this.removed(id);
  }

  private onVersion(version: string): void {
    if (!version || version === this.server.version || version === this.toldVersion) return;
    this.toldVersion = version;
    this.notices.show(strings.newerVersion, {
      key: "version",
      actions: [{ label: strings.reload, run: () => location.assign(location.href), testid: "reload" }],
    });
  }

  private onLoggedOut(): void {
    if (this.loggedOut) return;
    this.loggedOut = true;
    this.watch.pause();
    for (const view of this.views.values()) view.pause();
    this.active?.setShown(false);
    this.setEmpty(loggedOutPanel(this.api));
    this.announce(strings.loggedOut);
  }

  /** A link that did not even open may mean that this device was logged out: a browser does not say. */
  private doubt(): void {
    if (Date.now() - this.doubtedAt < doubtEveryMs || !navigator.onLine) return;
    this.doubtedAt = Date.now();
    this.api.whoami().catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) this.onLoggedOut();
    });
  }

  /** After sleep, another network, or the page's return: are the links still there? */
  wake(): void {
    if (this.loggedOut) return;
    this.watch.check();
    for (const view of this.views.values()) view.check();
    this.render(); // what rang meanwhile is seen now
  }

  /** The page is put away; open sockets would keep it from being brought back as it is. */
  sleep(): void {
    this.watch.pause();
    for (const view of this.views.values()) view.pause();
  }

  // The look.

  /** The room for cells, in pixels. */
  private place(): { width: number; height: number } {
    const style = getComputedStyle(this.stage);
    const inset = (side: string): number => parseFloat(style.getPropertyValue(`padding-${side}`));
    return {
      width: this.stage.clientWidth - inset("left") - inset("right"),
      height: this.stage.clientHeight - inset("top") - inset("bottom"),
    };
  }

  private size(): Size | undefined {
    return this.active?.wanted() ?? undefined;
  }

  /** What is a matter of the screen stays on this device. */
  setFontSize(change: (size: number) => number): void {
    this.settings.setHere("fontSize", clampFontSize(change(this.font.size)));
  }

  /** Opens the search over the active pane, or goes back to it. */
  async openSearch(): Promise<void> {
    const { Search } = await import("./search");
    const view = this.active;
    const pane = view?.activePane;
    if (!view || !pane) return;
    if (this.search?.pane !== pane || this.search.closed) {
      this.search?.close();
      this.search = new Search(pane, () => view.deepen(pane));
    }
    this.search.focus();
  }

  toggle(name: "screenReader" | "statusBar"): void {
    this.settings.setHere(name, !this.settings.get(name));
  }

  private onSettings(changed: ReadonlySet<SettingName>): void {
    const { settings } = this;
    if (changed.has("statusBar")) this.showStatusBar();
    for (const view of this.views.values()) view.configure(changed);
    Object.assign(this.font, readFont(settings));
    this.showPadding();
    this.active?.fit();
  }

  private showPadding(): void {
    document.documentElement.style.setProperty("--pad", `${this.settings.get("padding")}px`);
  }

  private showStatusBar(): void {
    this.root.classList.toggle("no-status", !this.settings.get("statusBar"));
  }

  /** Keeps what is typed while the terminal is still on its way. False: it is there, or there is none to come. */
  typeAhead(text: string): boolean {
    if (this.active?.activePane || this.active?.ended || this.empty || this.early.length >= maxWaitingBytes) return false;
    this.early += text;
    return true;
  }

  /** The focus goes to the terminal, unless the person has put it where they type or choose. */
  focus(): void {
    if (document.querySelector("dialog[open]") || document.activeElement instanceof HTMLInputElement) return;
    if (this.empty) this.empty.querySelector("button")?.focus();
    else this.active?.focus();
  }

  /** What a key press means to the page; set by main.ts. True: it is not for the terminal. */
  onKey: (event: KeyboardEvent) => boolean = () => false;

  /** Menus and moves of panes; set by commands.ts. */
  paneMenu: (view: TabView, pane: number, at: { x: number; y: number }) => void = () => {};
  tabMenu: (id: string, at: { x: number; y: number }) => void = () => {};
  breakOut: (pane: number, place: number) => void = () => {};

  announce(text: string): void {
    this.live.textContent = text;
  }

  fail(what: string, error: unknown): void {
    const why = error instanceof ApiError ? error.message : strings.noAnswer;
    const remedy = error instanceof ApiError && error.remedy ? ` ${error.remedy}` : "";
    this.notices.show(strings.failed(what, why) + remedy, { kind: "failed" });
  }

  private rememberDirectory(tab: Tab | undefined): void {
    if (!tab?.cwd) return;
    const recent = [tab.cwd, ...this.recent().filter((cwd) => cwd !== tab.cwd)].slice(0, maxRecent);
    storage()?.setItem(`${recentKey}.${this.sandbox}`, JSON.stringify(recent));
  }

  private recent(): string[] {
    try {
      const kept: unknown = JSON.parse(storage()?.getItem(`${recentKey}.${this.sandbox}`) ?? "[]");
      return Array.isArray(kept) ? kept.filter((cwd): cwd is string => typeof cwd === "string") : [];
    } catch {
      return [];
    }
  }

  render(): void {
    const tabs = this.list();
    for (const { id, state } of tabs) {
      if (state === "gone") this.gone.add(id);
      else if (this.gone.delete(id)) this.views.get(id)?.revived();
    }
    const active = this.activeTab;
    if (active?.activityAt) this.seen.set(active.id, active.activityAt);
    if (!document.hidden) this.rang.delete(this.activeID);
    this.strip.render(
      tabs.map((tab) => this.stripTab(tab)),
      this.activeID,
    );
    const count = this.root.querySelector(".count");
    if (count) count.textContent = String(tabs.length);
    find("[data-action=list]", this.root).hidden = tabs.length < 2;
    const bell = tabs.some((tab) => this.rang.has(tab.id) || (tab.bell && tab.id !== this.activeID));
    document.title = (bell ? "● " : "") + (active?.title ? `${active.title} · ${this.box}` : this.box);
    this.renderEmpty(tabs);
    this.offerRevival(tabs);
    this.renderStatus();
  }

  private stripTab(tab: Tab): StripTab {
    let mark: StripTab["mark"] = "";
    if (tab.state === "gone") mark = "gone";
    else if (tab.state === "ended") mark = (tab.exitCode ?? 0) > 0 ? "failed" : "ended";
    else if (tab.id !== this.activeID) {
      const seen = this.seen.get(tab.id) ?? "";
      if (tab.bell || this.rang.has(tab.id)) mark = "bell";
      else if (tab.activityAt && tab.activityAt > seen) mark = "activity";
    }
    return { id: tab.id, title: tab.title, mark };
  }

  private renderEmpty(tabs: Tab[]): void {
    if (this.loggedOut || (!this.listed && !this.tmuxMissing)) return;
    if (tabs.length > 0) {
      if (this.activeID) this.setEmpty(undefined);
      return;
    }
    const host: EmptyHost = {
      api: this.api,
      box: this.box,
      open: (options) => void this.openAsked(options),
      revive: (ids) => void this.revive(ids),
      forget: (ids) => void this.forget(ids),
      retry: () => void this.openAsked(),
    };
    if (this.watch.state && this.watch.state !== "running") this.setEmpty(stoppedPanel(this.box, this.watch.state));
    else if (this.tmuxMissing) this.setEmpty(tmuxMissingPanel(host, this.tmuxRemedy));
    else this.setEmpty(emptyPanel(host, this.watch.revivable, this.recent()));
  }

  /** Terminals from before a restart of the machine, while others are open. */
  private offerRevival(tabs: Tab[]): void {
    const ids = this.watch.revivable.map(({ id }) => id).filter((id) => !this.watch.tabs.has(id));
    if (tabs.length === 0 || ids.length === 0 || this.toldRevivable) return;
    this.toldRevivable = true;
    this.notices.show(strings.revivableTitle(ids.length), {
      key: "revivable",
      actions: [
        { label: strings.reviveAll, primary: true, run: () => void this.revive(ids), testid: "revive-all" },
        { label: strings.forgetAll, run: () => void this.forget(ids), testid: "forget-all" },
      ],
    });
  }

  private async forget(ids: string[]): Promise<void> {
    try {
      await this.api.forgetTabs(this.sandbox, ids);
    } catch (error) {
      this.fail(strings.changeFailed, error);
    }
  }

  private setEmpty(content: HTMLElement | undefined): void {
    if (!content && !this.empty) return;
    if (content && this.empty?.innerHTML === content.innerHTML) return; // the same, and the focus in it
    this.empty?.remove();
    this.empty = content;
    if (!content) return;
    this.stage.append(content);
    this.focus();
  }

  private renderStatus(): void {
    const view = this.active;
    const tab = this.activeTab;
    const pane = view?.layout ? view.paneState(view.layout.active) : undefined;
    this.status.render({
      view,
      cwd: pane?.cwd || tab?.cwd || "",
      size: view?.layout?.size,
      rtt: view ? view.rtt : this.watchRtt,
      link: this.link,
      linked: view ? view.state === "live" : true,
    });
    this.root.dataset.link = view?.state ?? "";
    this.announceState(view);
  }

  private announceState(view: TabView | undefined): void {
    const state = view?.state ?? "";
    if (state === this.announced) return;
    const before = this.announced;
    this.announced = state;
    if (state === "reconnecting") this.announce(strings.reconnectingIn(0));
    if (state === "live" && before === "reconnecting") this.announce(strings.live);
  }
}

/** What is not known of a tab of the server's HTML. */
const unknownTab: Tab = {
  id: "",
  title: "",
  named: false,
  order: 0,
  state: "live",
  createdAt: "",
  viewers: 0,
  cols: 0,
  rows: 0,
  user: "",
  cwd: "",
  foreground: "",
  foregroundSince: null,
  exitCode: null,
  bell: false,
  activityAt: null,
  plain: false,
  attachCommand: "",
  tmuxServer: "",
};
