// What a view says of its state: the line at its bottom, and the lines over its panes. Texts and buttons, no state.

import type { BannerContent } from "./banner";
import type { LinkState } from "./connection";
import { button, element } from "./dom";
import { strings } from "./strings";
import { closeCode, type PaneState } from "./wire";

export type ViewState = "connecting" | "live" | "reconnecting" | "ended";

export interface Situation {
  ended: boolean;
  state: ViewState;
  link: LinkState;
  online: boolean;
  /** Keystrokes and pastes that wait for the link. */
  waiting: number;
  /** Not tmux, and the person has not said that they know. */
  plain: boolean;
  /** The device whose size is shown, when it is not ours. */
  foreignTo?: string;
  now: number;
}

/** The one line over the bottom of a view; undefined when there is nothing to say. */
export function viewBanner(
  situation: Situation,
  act: { retry(): void; reload(): void; takeSize(): void; dismissPlain(): void },
): BannerContent | undefined {
  const { link, state } = situation;
  if (situation.ended) return undefined;
  const detail = situation.waiting > 0 && state !== "live" ? strings.keysWaiting(situation.waiting) : undefined;
  if (link.name === "waiting") {
    if (link.code === closeCode.protocolVersion) {
      return { kind: "link", text: strings.oldPage, actions: [{ label: strings.reload, run: act.reload, testid: "reload" }] };
    }
    const seconds = Number.isFinite(link.until) ? Math.max(0, Math.ceil((link.until - situation.now) / 1000)) : 0;
    let text = situation.online ? strings.reconnectingIn(seconds) : strings.offline;
    if (link.code === closeCode.tooManyViewers) text = strings.tooManyViewers;
    return { kind: "link", text, detail, actions: [{ label: strings.retryNow, run: act.retry, testid: "retry" }] };
  }
  if (state === "reconnecting") return { kind: "link", text: strings.reconnectingIn(0), detail };
  if (situation.foreignTo !== undefined) {
    return {
      kind: "size",
      text: strings.sizedFor(situation.foreignTo),
      actions: [{ label: strings.useThisSize, run: act.takeSize, testid: "use-size" }],
    };
  }
  if (situation.plain) {
    return { kind: "info", text: strings.plainWarning, actions: [{ label: strings.understood, run: act.dismissPlain, testid: "plain-known" }] };
  }
  return undefined;
}

/** The line over the bottom of a pane: its program ended, or tmux takes its keys. */
export function paneNote(
  state: PaneState | undefined,
  act: { restart(): void; close(): void; leaveMode(): void },
): HTMLElement | undefined {
  if (state?.dead) {
    const kind = state.exitCode > 0 || state.signal ? "failed" : "ok";
    return note("pane-ended", kind, strings.exited(state.exitCode, state.signal), [
      button({ label: strings.restart, run: act.restart, testid: "restart" }),
      button({ label: strings.close, run: act.close, testid: "close-ended" }),
    ]);
  }
  if (state?.mode) {
    return note("pane-mode", "mode", strings.inMode(state.mode), [button({ label: strings.leaveMode, run: act.leaveMode })]);
  }
  return undefined;
}

function note(testid: string, kind: string, text: string, buttons: HTMLElement[]): HTMLElement {
  return element("div", { class: "pane-note", role: "status", data: { testid, kind } }, element("span", { text }), ...buttons);
}
