// The handles of panes: a press opens the pane's menu, a drag moves the pane beside another, into its place, or out to the
// strip.

import { element } from "./dom";
import { dropSide, paneRect, sideRect, type Cell, type Rect } from "./layout";
import { strings } from "./strings";
import type { Layout, Side } from "./wire";

export interface HandleEvents {
  menu(pane: number, at: { x: number; y: number }): void;
  /** Into the place of another pane, or beside it. */
  drop(pane: number, on: number, side: Side | "place"): void;
  /** Onto the strip. */
  breakOut(pane: number, place: number): void;
  /** The place in the strip under a point, which is marked there; undefined: none, and the mark goes. */
  stripPlace(point: { x: number; y: number } | undefined): number | undefined;
}

// A press becomes a drag when it has moved this far.
const dragStartPixels = 5;

export class Handles {
  readonly element = element("div", { class: "handles" });
  private readonly zone = element("div", { class: "drop-zone", hidden: true, data: { testid: "drop-zone" } });
  private readonly made = new Map<number, HTMLButtonElement>();
  private layout?: Layout;
  private cell: Cell = { width: 8, height: 16 };

  constructor(private readonly events: HandleEvents) {
    this.element.append(this.zone);
  }

  draw(layout: Layout, cell: Cell): void {
    this.layout = layout;
    this.cell = cell;
    // A pane that is alone has nowhere to go.
    const wanted = layout.panes.length > 1 || layout.zoomed ? layout.panes : [];
    for (const [id, handle] of this.made) {
      if (wanted.some((box) => box.id === id)) continue;
      handle.remove();
      this.made.delete(id);
    }
    for (const box of wanted) {
      const handle = this.made.get(box.id) ?? this.make(box.id);
      const rect = paneRect(box, cell);
      handle.style.left = `${rect.left + rect.width / 2}px`;
      handle.style.top = `${rect.top}px`;
      handle.classList.toggle("zoomed", layout.zoomed);
      handle.textContent = layout.zoomed ? strings.zoomed : "";
    }
  }

  private make(pane: number): HTMLButtonElement {
    const handle = element("button", {
      class: "pane-handle",
      type: "button",
      title: strings.handleHint,
      aria: { label: strings.handle, haspopup: "menu" },
      data: { testid: "pane-handle", pane: String(pane) },
    });
    const menu = (): void => {
      const { left, bottom } = handle.getBoundingClientRect();
      this.events.menu(pane, { x: left, y: bottom });
    };
    handle.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the terminal
    handle.addEventListener("pointerdown", (event) => this.press(event, handle, pane, menu));
    handle.addEventListener("click", (event) => {
      if (event.detail === 0) menu(); // by keyboard or assistive technology
    });
    handle.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      menu();
    });
    this.made.set(pane, handle);
    this.element.append(handle);
    return handle;
  }

  private press(start: PointerEvent, handle: HTMLElement, pane: number, menu: () => void): void {
    if (start.button !== 0) return;
    handle.setPointerCapture(start.pointerId);
    const abort = new AbortController();
    const { signal } = abort;
    let dragging = false;
    let drop: (() => void) | undefined;
    const move = (event: PointerEvent): void => {
      if (!dragging && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < dragStartPixels) return;
      dragging = true;
      handle.classList.add("dragged");
      drop = this.target(pane, { x: event.clientX, y: event.clientY });
    };
    const over = (): void => {
      abort.abort();
      handle.classList.remove("dragged");
      this.zone.hidden = true;
      this.events.stripPlace(undefined);
    };
    handle.addEventListener("pointermove", move, { signal });
    handle.addEventListener(
      "pointerup",
      () => {
        over();
        if (!dragging) menu();
        else drop?.();
      },
      { signal },
    );
    handle.addEventListener("lostpointercapture", over, { signal });
    addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        over();
      },
      { capture: true, signal },
    );
  }

  /** What a drop at a point would do; it is shown. */
  private target(pane: number, point: { x: number; y: number }): (() => void) | undefined {
    this.zone.hidden = true;
    const place = this.events.stripPlace(point);
    if (place !== undefined) return () => this.events.breakOut(pane, place);
    const origin = this.element.getBoundingClientRect();
    const x = point.x - origin.left;
    const y = point.y - origin.top;
    for (const box of this.layout?.panes ?? []) {
      const rect = paneRect(box, this.cell);
      if (box.id === pane || !inside(rect, x, y)) continue;
      const side = dropSide(rect, x, y);
      this.show(sideRect(rect, side));
      return () => this.events.drop(pane, box.id, side);
    }
    return undefined;
  }

  private show(rect: Rect): void {
    this.zone.hidden = false;
    const { style } = this.zone;
    style.left = `${rect.left}px`;
    style.top = `${rect.top}px`;
    style.width = `${rect.width}px`;
    style.height = `${rect.height}px`;
  }
}

function inside(rect: Rect, x: number, y: number): boolean {
  return x >= rect.left && x < rect.left + rect.width && y >= rect.top && y < rect.top + rect.height;
}
