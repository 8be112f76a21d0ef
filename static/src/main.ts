// Starts the page of /tabs: wires what the server's HTML has to the scripts.

import { App } from "./app";
import { Commands } from "./commands";
import { find } from "./dom";
import { earlyText } from "./early";
import { commandOf, tabNumber, type Command } from "./keys";
import { surface } from "./surface";

const root = find("#app");
const app = new App(root);
const commands = new Commands(app);
window.tabs = surface(app);

const actions: Record<string, () => void> = {
  new: () => commands.run("newTab"),
  find: () => commands.run("find"),
  split: () => commands.run("splitRight"),
  settings: () => commands.run("settings"),
  menu: () => commands.palette(),
  list: () => commands.listTabs(),
};
for (const control of root.querySelectorAll<HTMLElement>("[data-action]")) {
  // A press leaves the focus in the terminal.
  control.addEventListener("mousedown", (event) => event.preventDefault());
  control.addEventListener("click", () => actions[control.dataset.action ?? ""]?.());
}

const shortcut = (event: KeyboardEvent): Command | undefined =>
  commandOf(event, app.active?.activePane?.term.hasSelection() ?? false);

// Before the terminal sees a key. What the browser does best, pasting, is left to it.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.isComposing || document.querySelector("dialog[open]")) return;
    const { code, ctrlKey, altKey, shiftKey, metaKey } = event;
    const number = tabNumber({ code, ctrlKey, altKey, shiftKey, metaKey, altGraph: event.getModifierState("AltGraph") });
    const command = shortcut(event);
    if (number === undefined && (command === undefined || command === "paste")) return;
    event.preventDefault();
    event.stopPropagation();
    if (number !== undefined) {
      const tabs = app.list();
      const tab = number === 9 ? tabs.at(-1) : tabs[number - 1];
      if (tab) app.show(tab.id);
    } else if (command) {
      commands.run(command);
    }
  },
  { capture: true },
);
app.onKey = (event) => shortcut(event) === "paste";

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.target !== document.body) return;
  const { key, ctrlKey, altKey, metaKey } = event;
  const text = earlyText({ key, ctrlKey, altKey, metaKey, altGraph: event.getModifierState("AltGraph") });
  if (text !== undefined && app.typeAhead(text)) event.preventDefault();
});

// Esc brings the focus back to the terminal from anywhere.
document.addEventListener("keydown", (event) => {
  const target = event.target as Element;
  if (event.key === "Escape" && !event.defaultPrevented && !target.closest(".pane, dialog, input")) app.focus();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) app.wake();
});
addEventListener("storage", () => app.settings.reload());
addEventListener("online", () => app.wake());
addEventListener("pageshow", (event) => {
  if (event.persisted) app.wake();
});
addEventListener("pagehide", (event) => {
  if (event.persisted) app.sleep();
});
addEventListener("focus", () => {
  if (document.activeElement === document.body) app.focus();
});

// Ctrl+W deletes a word in a shell and closes a tab in a browser, which shows the page only that Ctrl is down. Then the
// browser asks first.
let controlDown = false;
for (const type of ["keydown", "keyup"] as const) {
  addEventListener(type, (event) => (controlDown = event.ctrlKey && !event.metaKey), { capture: true });
}
addEventListener("blur", () => (controlDown = false));
addEventListener("beforeunload", (event) => {
  if (controlDown) event.preventDefault();
});

// A phone's keyboard covers the page where the browser does not shrink it.
const { visualViewport } = window;
const followViewport = (): void => {
  if (!visualViewport || visualViewport.scale !== 1) return;
  root.style.height = `${visualViewport.height}px`;
  root.style.top = `${visualViewport.offsetTop}px`;
};
visualViewport?.addEventListener("resize", followViewport);
visualViewport?.addEventListener("scroll", followViewport);
