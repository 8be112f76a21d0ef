// A menu at a point: by the ARIA pattern, for the mouse, the finger and the keyboard alike.

import { element } from "./dom";

export interface MenuItem {
  label: string;
  keys?: string;
  /** Why it cannot be chosen now. */
  disabled?: string;
  /** A line above it. */
  divided?: boolean;
  run: () => void;
}

const marginPixels = 4;

let open: ((restore: boolean) => void) | undefined;

/** Shows a menu; `closed` is called when it is gone, before what was chosen runs. One menu is open at a time. */
export function openMenu(at: { x: number; y: number }, label: string, items: MenuItem[], closed: () => void): void {
  open?.(false);
  const abort = new AbortController();
  const { signal } = abort;
  const buttons = items.map((item) => {
    const made = element(
      "button",
      { class: item.divided ? "menu-item divided" : "menu-item", type: "button", role: "menuitem", title: item.disabled },
      element("span", { text: item.label }),
      item.keys ? element("kbd", { text: item.keys }) : undefined,
    );
    made.tabIndex = -1;
    if (item.disabled !== undefined) made.setAttribute("aria-disabled", "true");
    made.addEventListener("click", () => {
      if (item.disabled !== undefined) return;
      close(true);
      item.run();
    });
    made.addEventListener("pointermove", () => made.focus({ preventScroll: true }));
    return made;
  });
  const menu = element("div", { class: "menu", role: "menu", aria: { label }, data: { testid: "menu-open" } }, ...buttons);
  const close = (restore: boolean): void => {
    open = undefined;
    abort.abort();
    menu.remove();
    if (restore) closed();
  };
  open = close;

  const go = (to: number): void => buttons[(to + buttons.length) % buttons.length]?.focus();
  menu.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const from = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const letter = event.key.length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey && event.key !== " ";
    if (event.key === "ArrowDown") go(from + 1);
    else if (event.key === "ArrowUp") go(from < 0 ? -1 : from - 1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(-1);
    else if (event.key === "Escape" || event.key === "Tab") close(true);
    else if (letter) {
      const begins = (i: number): boolean => items[i % items.length].label.toLowerCase().startsWith(event.key.toLowerCase());
      for (let i = from + 1; i <= from + items.length; i++) if (begins(i)) return go(i);
    } else return; // Enter and Space press the button
    event.preventDefault();
  });
  menu.addEventListener("contextmenu", (event) => event.preventDefault());
  addEventListener("pointerdown", (event) => menu.contains(event.target as Node) || close(false), { capture: true, signal });
  addEventListener("blur", () => close(false), { signal });
  addEventListener("resize", () => close(true), { signal });

  document.body.append(menu);
  const { width, height } = menu.getBoundingClientRect();
  const keep = (start: number, size: number, room: number): number => Math.max(marginPixels, Math.min(start, room - size - marginPixels));
  menu.style.left = `${keep(at.x, width, innerWidth)}px`;
  menu.style.top = `${keep(at.y, height, innerHeight)}px`;
  buttons[0]?.focus({ preventScroll: true });
}
