// What is shown where there is no live terminal to show.

import type { Api } from "./api";
import { panel } from "./banner";
import { element } from "./dom";
import { duration, strings } from "./strings";
import type { EndReason, SavedTab } from "./wire";

export interface EmptyHost {
  api: Api;
  box: string;
  open(options?: { cwd?: string; plain?: boolean }): void;
  revive(ids: string[]): void;
  forget(ids: string[]): void;
  retry(): void;
}

/** No tabs: a new one, recent directories, what can be revived. */
export function emptyPanel(host: EmptyHost, revivable: SavedTab[], recent: string[]): HTMLElement {
  if (revivable.length > 0) return revivePanel(host, revivable);
  const directories = recent.map((cwd) =>
    element("li", {}, element("button", { class: "row", type: "button", text: cwd, onclick: () => host.open({ cwd }) })),
  );
  return panel({
    title: strings.noTabsTitle,
    text: strings.noTabsText(host.box),
    testid: "no-tabs",
    actions: [{ label: strings.newTerminal, primary: true, run: () => host.open(), testid: "new" }],
    body:
      directories.length > 0
        ? [element("h2", { text: strings.recentDirectories }), element("ul", { class: "rows" }, ...directories)]
        : [],
  });
}

function revivePanel(host: EmptyHost, revivable: SavedTab[]): HTMLElement {
  const rows = revivable.map((tab) =>
    element(
      "li",
      { data: { testid: "revivable", saved: tab.id } },
      element(
        "button",
        { class: "row", type: "button", onclick: () => host.revive([tab.id]) },
        element("span", { text: tab.title || strings.untitled }),
        element("span", { class: "hint", text: tab.cwd }),
        element("span", { class: "hint", text: duration(Date.now() - Date.parse(tab.savedAt)) }),
      ),
      element("button", {
        class: "quiet",
        type: "button",
        text: strings.forget,
        aria: { label: `${strings.forget} ${tab.title}` },
        onclick: () => host.forget([tab.id]),
      }),
    ),
  );
  return panel({
    title: strings.revivableTitle(revivable.length),
    text: strings.revivableText,
    testid: "revive-panel",
    body: [element("ul", { class: "rows" }, ...rows)],
    actions: [
      { label: strings.reviveAll, primary: true, run: () => host.revive(revivable.map(({ id }) => id)), testid: "revive-all" },
      { label: strings.newTerminal, run: () => host.open(), testid: "new" },
      { label: strings.forgetAll, run: () => host.forget(revivable.map(({ id }) => id)), testid: "forget-all" },
    ],
  });
}

export function tmuxMissingPanel(host: EmptyHost, remedy: string): HTMLElement {
  return panel({
    title: strings.tmuxMissingTitle,
    text: strings.tmuxMissingText,
    testid: "tmux-missing",
    body: [
      element("p", {}, element("code", { class: "command", text: remedy || strings.tmuxInstall })),
      element("p", { class: "hint", text: strings.plainHint }),
    ],
    actions: [
      { label: strings.tryAgain, primary: true, run: () => host.retry(), testid: "try-again" },
      { label: strings.plainShell, run: () => host.open({ plain: true }), testid: "plain-shell" },
    ],
  });
}

export function loggedOutPanel(api: Api): HTMLElement {
  const next = encodeURIComponent(location.pathname + location.search);
  return panel({
    title: strings.loggedOut,
    testid: "logged-out",
    actions: [{ label: strings.logIn, primary: true, run: () => location.assign(api.page(`/login?next=${next}`)) }],
  });
}

export function stoppedPanel(box: string, state: string): HTMLElement {
  return panel({ title: strings.boxState(box, state), testid: "box-state" });
}

/** Over the last screen of a tab that is no more. */
export function endedPanel(
  reason: EndReason,
  exitCode: number | undefined,
  act: { revive(): void; openTab(): void; closeTab(): void },
): HTMLElement {
  const open = { label: strings.newTerminal, run: () => act.openTab(), testid: "new" };
  const close = { label: strings.close, run: () => act.closeTab() };
  if (reason === "server_gone") {
    return panel({
      title: strings.serverGoneTitle,
      text: strings.serverGoneText,
      testid: "server-gone",
      actions: [{ label: strings.revive, primary: true, run: () => act.revive(), testid: "revive" }, open, close],
    });
  }
  const exited = reason === "exited";
  return panel({
    title: exited ? strings.exited(exitCode ?? 0, undefined) : strings.tabGoneTitle,
    text: exited ? undefined : strings.tabGoneText,
    testid: "tab-gone",
    actions: [{ ...open, primary: true }, close],
  });
}
