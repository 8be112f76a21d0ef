// The server's /v1, called with the page's cookie and token.

import type { SavedTab, Tab } from "./wire";

export interface Server {
  base: string;
  token: string;
  protocol: number;
  version: string;
}

/** What the server's HTML says about the server. */
export function readServer(): Server {
  const { base = "", token = "", protocol = "1", version = "" } = document.body.dataset;
  return { base, token, protocol: Number(protocol), version };
}

/** A refusal by the server. Compare codes, show the message. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly remedy = "",
    readonly requestId = "",
  ) {
    super(message);
  }
}

export interface OpenOptions {
  title?: string;
  user?: string;
  cwd?: string;
  command?: string[];
  env?: Record<string, string>;
  cols?: number;
  rows?: number;
  plain?: boolean;
}

export interface DeviceAddress {
  address: string;
  qr: string; // SVG markup
  expiresAt: string;
  localOnly: boolean; // only the server's own machine can open it
}

export class Api {
  constructor(private readonly server: Server) {}

  /** The address of a page. */
  page(path: string): string {
    return this.server.base + path;
  }

  socketURL(path: string): string {
    const url = new URL(this.server.base + path, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return url.href;
  }

  tabPath(sandbox: string, tab: string): string {
    return `${this.tabsPath(sandbox)}/${encodeURIComponent(tab)}`;
  }

  tabsPath(sandbox: string): string {
    return `/v1/sandboxes/${encodeURIComponent(sandbox)}/tabs`;
  }

  openTab(sandbox: string, options: OpenOptions): Promise<Tab> {
    return this.call("POST", this.tabsPath(sandbox), options);
  }

  getTab(sandbox: string, tab: string): Promise<Tab> {
    return this.call("GET", this.tabPath(sandbox, tab));
  }

  updateTab(sandbox: string, tab: string, change: { title?: string; order?: number }): Promise<Tab> {
    return this.call("PATCH", this.tabPath(sandbox, tab), change);
  }

  closeTab(sandbox: string, tab: string): Promise<void> {
    return this.call("DELETE", this.tabPath(sandbox, tab));
  }

  breakOut(sandbox: string, tab: string, pane: number): Promise<Tab> {
    return this.call("POST", `${this.tabPath(sandbox, tab)}/break`, { pane });
  }

  joinTab(sandbox: string, tab: string, from: string): Promise<Tab> {
    return this.call("POST", `${this.tabPath(sandbox, tab)}/join`, { from });
  }

  async reviveTabs(sandbox: string, ids: string[]): Promise<Tab[]> {
    const { items } = await this.call<{ items: Tab[] }>("POST", `${this.tabsPath(sandbox)}/revive`, { ids });
    return items;
  }

  forgetTabs(sandbox: string, ids: string[]): Promise<SavedTab[]> {
    return this.call("POST", `${this.tabsPath(sandbox)}/forget`, { ids });
  }

  changeSettings(changes: Record<string, unknown>): Promise<unknown> {
    return this.call("PATCH", "/v1/settings", changes);
  }

  /** Asks whether this page is still logged in. */
  whoami(): Promise<unknown> {
    return this.call("GET", "/v1/whoami");
  }

  addDevice(): Promise<DeviceAddress> {
    return this.call("POST", "/v1/devices/address", {});
  }

  renameDevice(id: string, name: string): Promise<unknown> {
    return this.call("PATCH", `/v1/devices/${encodeURIComponent(id)}`, { name });
  }

  removeDevice(id: string): Promise<void> {
    return this.call("DELETE", `/v1/devices/${encodeURIComponent(id)}`);
  }

  removeOtherDevices(): Promise<void> {
    return this.call("DELETE", "/v1/devices?others=true");
  }

  async logout(): Promise<void> {
    const response = await fetch(this.page("/logout"), { method: "POST", headers: this.headers(), redirect: "manual" });
    if (response.type !== "opaqueredirect" && !response.ok) throw new ApiError(response.status, "", response.statusText);
  }

  private headers(): Record<string, string> {
    return { "X-Tabs-Token": this.server.token, Accept: "application/json" };
  }

  private async call<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = this.headers();
    if (body) headers["Content-Type"] = "application/json";
    const response = await fetch(this.page(path), { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    let answer: unknown;
    try {
      answer = text === "" ? undefined : JSON.parse(text);
    } catch {
      answer = undefined; // a proxy's page
    }
    if (response.ok) return answer as T;
    const error = (answer ?? {}) as { error?: string; code?: string; remedy?: string; requestId?: string };
    throw new ApiError(
      response.status,
      error.code ?? "",
      error.error ?? `${response.status} ${response.statusText}`,
      error.remedy,
      error.requestId,
    );
  }
}
