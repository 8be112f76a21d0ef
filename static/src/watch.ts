// What the page knows of a sandbox's tabs: the watch socket, as a model.

import { Connection, type LinkState } from "./connection";
import { protocol, type EndReason, type SavedTab, type Tab, type WatchMessage } from "./wire";

export interface WatchEvents {
  /** The whole list came: at the start, and after each reconnect. */
  listed(first: boolean): void;
  changed(): void;
  /** A tab is no more. It stays in the model until removed, so that its place and title are still known. */
  gone(id: string, reason: EndReason): void;
  /** What the person has set up: at the start, after each reconnect, and when it changes anywhere. */
  settings(user: unknown): void;
  version(version: string): void;
  link(state: LinkState): void;
  rtt(milliseconds: number): void;
}

export class Watch {
  readonly tabs = new Map<string, Tab>();
  revivable: SavedTab[] = [];
  state: string;
  private readonly link: Connection;
  private first = true;

  constructor(
    config: { url: string; token: string; state: string },
    private readonly events: WatchEvents,
  ) {
    this.state = config.state;
    this.link = new Connection({
      url: config.url,
      hello: () => ({ type: "hello", protocol, token: config.token }),
      onText: (message) => this.message(message as unknown as WatchMessage),
      onState: (state) => events.link(state),
      onRtt: (milliseconds) => events.rtt(milliseconds),
    });
  }

  start(): void {
    this.link.start();
  }

  /** The tabs in the order of the strip. */
  list(): Tab[] {
    return [...this.tabs.values()].sort((a, b) => a.order - b.order || (a.createdAt < b.createdAt ? -1 : 1));
  }

  /** Takes over what an answer of the API says, without waiting for the socket to say it too. */
  put(tab: Tab): void {
    this.tabs.set(tab.id, tab);
    this.events.changed();
  }

  remove(id: string): void {
    if (this.tabs.delete(id)) this.events.changed();
  }

  check(): void {
    this.link.check();
  }

  retry(): void {
    this.link.retry();
  }

  pause(): void {
    this.link.pause();
  }

  private message(message: WatchMessage): void {
    switch (message.type) {
      case "welcome":
        this.events.version(message.version);
        return;
      case "tabs": {
        const listed = new Map(message.items.map((tab) => [tab.id, tab]));
        for (const id of [...this.tabs.keys()]) if (!listed.has(id)) this.events.gone(id, "closed");
        this.tabs.clear();
        for (const [id, tab] of listed) this.tabs.set(id, tab);
        this.revivable = message.revivable ?? [];
        this.state = message.state ?? this.state;
        const first = this.first;
        this.first = false;
        this.events.listed(first);
        return;
      }
      case "tab":
        this.tabs.set(message.item.id, message.item);
        this.events.changed();
        return;
      case "tabGone":
        this.events.gone(message.id, message.reason);
        return;
      case "revivable":
        this.revivable = message.items;
        this.events.changed();
        return;
      case "settings":
        this.events.settings(message.settings);
        return;
      case "sandbox":
        this.state = message.state;
        this.events.changed();
    }
  }
}
