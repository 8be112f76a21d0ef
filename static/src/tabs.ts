// The strip: a tab list by the ARIA pattern, with closing, renaming and reordering by mouse and keyboard.

import { element, icon } from "./dom";
import { strings } from "./strings";

/** A tab as the strip shows it. */
export interface StripTab {
  id: string;
  title: string;
  mark: "" | "bell" | "activity" | "ended" | "failed" | "gone";
}

export interface StripEvents {
  /** `focus`: the terminal gets the focus too. */
  select(id: string, focus: boolean): void;
  close(id: string): void;
  rename(id: string, title: string): void;
  move(id: string, place: number): void;
  /** Back to the terminal. */
  leave(): void;
  menu(id: string, at: { x: number; y: number }): void;
}

// A press becomes a drag when it has moved this far.
const dragStartPixels = 5;
const marks: Record<string, string> = { bell: "bell", ended: "ok", failed: "failed", gone: "failed" };

export class Strip {
  private tabs: StripTab[] = [];
  private active = "";
  private readonly made = new Map<string, HTMLElement>();
  private dragging = false;
  private pending?: [StripTab[], string];

  constructor(
    private readonly list: HTMLElement,
    private readonly events: StripEvents,
    signal: AbortSignal,
  ) {
    for (const child of list.querySelectorAll<HTMLElement>(".tab")) {
      const { tab = "" } = child.dataset;
      this.made.set(tab, child);
      this.listen(child, tab);
    }
    list.addEventListener("keydown", (event) => this.key(event), { signal });
    list.addEventListener("wheel", (event) => this.wheel(event), { passive: true, signal });
    new ResizeObserver(() => this.reveal()).observe(list);
  }

  render(tabs: StripTab[], active: string): void {
    if (this.dragging) {
      this.pending = [tabs, active];
      return;
    }
    const moved = active !== this.active || tabs.length !== this.tabs.length;
    this.tabs = tabs;
    this.active = active;
    for (const [id, made] of this.made) {
      if (tabs.some((tab) => tab.id === id)) continue;
      made.remove();
      this.made.delete(id);
    }
    const focused = document.activeElement as HTMLElement | null;
    let before: Element | null = null;
    for (const tab of tabs) {
      const made = this.made.get(tab.id) ?? this.make(tab.id);
      this.fill(made, tab);
      const place: Element | null = before ? before.nextElementSibling : this.list.firstElementChild;
      if (place !== made) this.list.insertBefore(made, place);
      before = made;
    }
    if (moved) this.reveal();
    // An element that is moved loses the focus.
    if (focused !== document.activeElement && this.list.contains(focused)) focused?.focus({ preventScroll: true });
  }

  /** Puts the focus on the active tab. */
  focus(): void {
    this.name(this.active)?.focus();
  }

  rename(id: string): void {
    const made = this.made.get(id);
    const tab = this.tabs.find((each) => each.id === id);
    if (!made || !tab || made.querySelector("input")) return;
    const input = element("input", { class: "tab-input", aria: { label: strings.renameTab(tab.title) } });
    input.value = tab.title;
    input.maxLength = 200;
    let over = false;
    const finish = (keep: boolean): void => {
      if (over) return;
      over = true;
      const title = input.value.trim();
      input.remove();
      made.classList.remove("renaming");
      if (keep && title !== tab.title) this.events.rename(id, title);
      this.events.leave();
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.isComposing) return;
      if (event.key === "Enter") finish(true);
      if (event.key === "Escape") finish(false);
    });
    input.addEventListener("blur", () => finish(true));
    made.classList.add("renaming");
    made.append(input);
    input.focus();
    input.select();
  }

  /** Moves a tab by `step` places. */
  shift(id: string, step: number): void {
    const from = this.tabs.findIndex((tab) => tab.id === id);
    const to = from + step;
    if (from < 0 || to < 0 || to >= this.tabs.length) return;
    this.events.move(id, to);
  }

  /** The place that a tab dropped at a point would get, which is marked; undefined: the point is not on the strip. */
  placeAt(point: { x: number; y: number } | undefined): number | undefined {
    const room = this.list.parentElement?.getBoundingClientRect();
    const all = this.tabs.map((tab) => this.made.get(tab.id)!);
    for (const each of all) each.classList.remove("drop-before", "drop-after");
    if (!point || !room || point.y < room.top || point.y > room.bottom) return undefined;
    const place = all.filter((each) => {
      const { left, width } = each.getBoundingClientRect();
      return left + width / 2 < point.x;
    }).length;
    if (place < all.length) all[place].classList.add("drop-before");
    else all.at(-1)?.classList.add("drop-after");
    return place;
  }

  private name(id: string): HTMLElement | null | undefined {
    return this.made.get(id)?.querySelector<HTMLElement>(".tab-name");
  }

  /** The markup of stripTab in web/view/tabs.templ. */
  private make(id: string): HTMLElement {
    const name = element(
      "button",
      { class: "tab-name", type: "button", role: "tab", aria: { controls: "stage", keyshortcuts: "Delete F2" } },
      element("span", { class: "mark", aria: { hidden: "true" } }),
      element("span", { class: "title" }),
    );
    name.id = `tab-${id}`;
    // For the pointer: by keyboard and to assistive technology Delete closes, since a tab list holds tabs alone.
    const close = element("button", { class: "tab-close", type: "button", aria: { hidden: "true" } });
    close.tabIndex = -1;
    close.append(icon("close"));
    const made = element("div", { class: "tab", role: "presentation", data: { tab: id } }, name, close);
    this.made.set(id, made);
    this.listen(made, id);
    return made;
  }

  private listen(made: HTMLElement, id: string): void {
    made.querySelector(".tab-close")?.addEventListener("click", () => this.events.close(id));
    made.addEventListener("pointerdown", (event) => this.press(event, made, id));
    made.addEventListener("dblclick", (event) => {
      if (!(event.target as Element).closest(".tab-close")) this.rename(id);
    });
    made.addEventListener("mousedown", (event) => {
      // The focus stays in the terminal, and the middle button does not scroll.
      if (!(event.target as Element).closest("input")) event.preventDefault();
    });
    made.addEventListener("contextmenu", (event) => {
      if ((event.target as Element).closest("input")) return;
      event.preventDefault();
      const { left, bottom } = made.getBoundingClientRect();
      const byKey = event.clientX === 0 && event.clientY === 0;
      this.events.menu(id, byKey ? { x: left, y: bottom } : { x: event.clientX, y: event.clientY });
    });
    made.addEventListener("auxclick", (event) => {
      if (event.button === 1) this.events.close(id);
    });
    made.querySelector(".tab-name")?.addEventListener("click", (event) => {
      if ((event as MouseEvent).detail === 0) this.events.select(id, true); // by keyboard or assistive technology
    });
  }

  private fill(made: HTMLElement, tab: StripTab): void {
    const active = tab.id === this.active;
    const title = tab.title || strings.untitled;
    made.classList.toggle("active", active);
    made.dataset.mark = tab.mark;
    const name = made.querySelector<HTMLElement>(".tab-name")!;
    name.setAttribute("aria-selected", String(active));
    name.tabIndex = active ? 0 : -1;
    name.title = title;
    const label = tab.mark ? `${title}, ${strings.marks[tab.mark]}` : title;
    if (name.getAttribute("aria-label") !== label) name.setAttribute("aria-label", label);
    made.querySelector<HTMLElement>(".tab-close")!.title = strings.closeTab(title);
    this.fillTitle(made.querySelector<HTMLElement>(".title")!, title);
    const mark = made.querySelector<HTMLElement>(".mark")!;
    if (mark.dataset.mark === tab.mark) return;
    mark.dataset.mark = tab.mark;
    mark.replaceChildren(...(marks[tab.mark] ? [icon(marks[tab.mark])] : []));
  }

  // Titles shorten in the middle: the first part shrinks and gets the ellipsis, the last stays. As titleParts in web/view.
  private fillTitle(target: HTMLElement, title: string): void {
    if (target.dataset.title === title) return;
    target.dataset.title = title;
    const characters = [...title];
    const tail = characters.length > 16 ? 8 : 0;
    const head = characters.slice(0, characters.length - tail).join("");
    target.replaceChildren(element("span", { class: "head", text: head }));
    if (tail) target.append(element("span", { class: "tail", text: characters.slice(-tail).join("") }));
  }

  private reveal(): void {
    this.made.get(this.active)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.list.classList.toggle("overflows", this.list.scrollWidth > this.list.clientWidth);
  }

  private wheel(event: WheelEvent): void {
    if (event.deltaX === 0) this.list.scrollLeft += event.deltaY;
  }

  private key(event: KeyboardEvent): void {
    const id = (event.target as Element).closest<HTMLElement>(".tab")?.dataset.tab;
    if (!id) return;
    const at = this.tabs.findIndex((tab) => tab.id === id);
    const moves = event.ctrlKey || event.metaKey;
    const go = (to: number): void => {
      const tab = this.tabs[(to + this.tabs.length) % this.tabs.length];
      if (!tab) return;
      this.events.select(tab.id, false);
      this.name(tab.id)?.focus();
    };
    switch (event.key) {
      case "ArrowLeft":
      case "ArrowRight": {
        const step = event.key === "ArrowLeft" ? -1 : 1;
        if (moves) this.shift(id, step);
        else go(at + step);
        break;
      }
      case "Home":
        go(0);
        break;
      case "End":
        go(this.tabs.length - 1);
        break;
      case "Delete":
        this.events.close(id);
        break;
      case "F2":
        this.rename(id);
        break;
      case "Enter":
      case " ":
      case "Escape":
        this.events.leave();
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  // Press selects at once; moved further it drags, and the others make room.
  private press(start: PointerEvent, made: HTMLElement, id: string): void {
    if (start.button !== 0 || (start.target as Element).closest(".tab-close, input")) return;
    if (start.pointerType === "touch") {
      made.addEventListener("pointerup", () => this.events.select(id, true), { once: true });
      return;
    }
    this.events.select(id, true);
    const abort = new AbortController();
    const { signal } = abort;
    let place = -1;
    let rects: DOMRect[] = [];
    const from = this.tabs.findIndex((tab) => tab.id === id);
    const all = this.tabs.map((tab) => this.made.get(tab.id)!);
    const move = (event: PointerEvent): void => {
      let by = event.clientX - start.clientX;
      if (!this.dragging) {
        if (Math.abs(by) < dragStartPixels) return;
        this.dragging = true;
        rects = all.map((each) => each.getBoundingClientRect());
        made.setPointerCapture(event.pointerId);
        this.list.classList.add("dragging");
        made.classList.add("dragged");
      }
      const own = rects[from];
      const room = this.list.getBoundingClientRect();
      by = Math.max(room.left - own.left, Math.min(room.right - own.right, by));
      const middle = own.left + own.width / 2 + by;
      // Half over the next one is past it; at the end of the list exactly half.
      place = rects.filter((rect, i) => {
        const other = rect.left + rect.width / 2;
        return i < from ? other < middle : i > from && other <= middle;
      }).length;
      made.style.transform = `translateX(${by}px)`;
      all.forEach((each, i) => {
        if (i === from) return;
        const shift = i < from && i >= place ? own.width : i > from && i <= place ? -own.width : 0;
        each.style.transform = shift ? `translateX(${shift}px)` : "";
      });
    };
    const done = (event: PointerEvent): void => {
      abort.abort();
      if (!this.dragging) return;
      this.dragging = false;
      this.list.classList.remove("dragging");
      made.classList.remove("dragged");
      for (const each of all) each.style.transform = "";
      const pending = this.pending;
      this.pending = undefined;
      if (pending) this.render(...pending);
      if (event.type === "pointerup" && place >= 0 && place !== from) this.events.move(id, place);
      this.events.leave();
    };
    addEventListener("pointermove", move, { signal });
    addEventListener("pointerup", done, { signal });
    addEventListener("pointercancel", done, { signal });
  }
}
