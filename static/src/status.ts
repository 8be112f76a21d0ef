// The status bar: where, how large, how fast, for whom.

import { element, find } from "./dom";
import { shorten, strings } from "./strings";
import type { TabView } from "./tab-view";
import type { Size, TmuxWindow } from "./wire";

const slowRttMs = 150;
const longestCwd = 60;

export interface StatusContent {
  view?: TabView;
  cwd: string;
  size?: Size;
  rtt?: number;
  link?: string; // an address under the pointer
  linked: boolean; // the page has a connection
}

export class Status {
  private readonly windows = find(".windows");
  private readonly cwd = find(".cwd");
  private readonly size = find(".status .size");
  private readonly rtt = find(".rtt");
  private readonly owner = find(".owner");
  private windowsKey = "";

  constructor(private readonly selectWindow: (id: number) => void) {
    this.windows.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the terminal
  }

  render({ view, cwd, size, rtt, link, linked }: StatusContent): void {
    text(this.cwd, link ?? shorten(cwd, longestCwd));
    this.cwd.title = link ?? cwd;
    text(this.size, size ? `${size.cols}×${size.rows}` : "");
    text(this.rtt, linked && rtt !== undefined ? strings.milliseconds(rtt < 10 ? Math.round(rtt * 10) / 10 : Math.round(rtt)) : "");
    this.rtt.dataset.slow = String(rtt !== undefined && rtt > slowRttMs);
    const owner = view?.owner;
    text(this.owner, owner?.owner ? (owner.mine ? strings.thisDevice : owner.ownerName || strings.anotherDevice) : "");
    this.renderWindows(view?.layout?.windows ?? []);
  }

  private renderWindows(windows: TmuxWindow[]): void {
    const key = JSON.stringify(windows);
    if (key === this.windowsKey) return;
    this.windowsKey = key;
    this.windows.hidden = windows.length < 2;
    this.windows.replaceChildren(
      ...windows.map((window) =>
        element("button", {
          type: "button",
          text: `${window.index} ${window.name}`,
          data: { window: String(window.id), bell: String(window.bell) },
          aria: { pressed: String(window.active) },
          onclick: () => this.selectWindow(window.id),
        }),
      ),
    );
  }
}

function text(target: HTMLElement, content: string): void {
  if (target.textContent !== content) target.textContent = content;
}
