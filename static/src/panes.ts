// Draws the panes of a layout: boxes at their cells, dividers that can be dragged, the mark of the active one.

import { element } from "./dom";
import { Handles, type HandleEvents } from "./handles";
import { dividerRect, dividers, frameRect, paneRect, type Cell, type Divider, type Rect } from "./layout";
import { strings } from "./strings";
import type { Layout, Size } from "./wire";

export interface PanesEvents extends HandleEvents {
  /** A divider asks for this many columns or rows of the pane before it. */
  resizePane(pane: number, size: Partial<Size>): void;
}

export class Panes {
  readonly element = element("div", { class: "window", data: { testid: "window" } });
  private readonly lines = element("div", { class: "dividers" });
  private readonly frame = element("div", { class: "active-frame" });
  private readonly handles: Handles;
  private layout?: Layout;
  private cell: Cell = { width: 8, height: 16 };
  private drawn = "";

  constructor(private readonly events: PanesEvents) {
    this.handles = new Handles(events);
    this.element.append(this.lines, this.frame, this.handles.element);
  }

  /** Places what it is given. `boxes` are the elements of panes by id. */
  draw(layout: Layout, cell: Cell, boxes: Map<number, HTMLElement>): void {
    this.layout = layout;
    this.cell = cell;
    const size = { width: layout.size.cols * cell.width, height: layout.size.rows * cell.height };
    place(this.element, { left: 0, top: 0, ...size });
    const shown = new Set<number>();
    for (const box of layout.panes) {
      const pane = boxes.get(box.id);
      if (!pane) continue;
      shown.add(box.id);
      place(pane, paneRect(box, cell));
      pane.classList.toggle("active", box.id === layout.active);
      if (pane.parentElement !== this.element) this.element.insertBefore(pane, this.lines);
    }
    for (const [id, pane] of boxes) pane.hidden = !shown.has(id);
    this.drawDividers(layout);
    this.drawFrame(layout);
    this.handles.draw(layout, cell);
  }

  private drawDividers(layout: Layout): void {
    const wanted = dividers(layout);
    const key = JSON.stringify([wanted.map(({ axis, pane }) => [axis, pane])]);
    if (key !== this.drawn) {
      // The same dividers are moved, not made anew, so that a drag goes on.
      this.drawn = key;
      this.lines.replaceChildren(...wanted.map((line) => this.divider(line)));
    }
    wanted.forEach((line, i) => {
      const made = this.lines.children[i] as HTMLElement;
      place(made, dividerRect(line, layout.size, this.cell));
      made.setAttribute("aria-valuenow", String(this.extent(line)));
    });
  }

  private drawFrame(layout: Layout): void {
    const active = layout.panes.find((box) => box.id === layout.active);
    this.frame.hidden = !active || layout.panes.length < 2;
    if (!active) return;
    const { sides, ...rect } = frameRect(active, layout.size, this.cell);
    place(this.frame, rect);
    this.frame.style.borderWidth = sides.map((side) => (side ? "1px" : "0")).join(" ");
  }

  private divider(line: Divider): HTMLElement {
    const made = element("div", {
      class: `divider ${line.axis}`,
      role: "separator",
      data: { testid: "divider", pane: String(line.pane) },
      aria: { orientation: line.axis === "x" ? "vertical" : "horizontal", label: strings.divider(line.axis) },
    });
    made.tabIndex = 0;
    made.addEventListener("pointerdown", (event) => this.drag(event, made, line));
    made.addEventListener("keydown", (event) => this.key(event, line));
    return made;
  }

  private drag(start: PointerEvent, made: HTMLElement, line: Divider): void {
    if (start.button !== 0) return;
    start.preventDefault();
    made.setPointerCapture(start.pointerId);
    made.classList.add("dragging");
    const before = this.extent(line);
    const from = line.axis === "x" ? start.clientX : start.clientY;
    const step = line.axis === "x" ? this.cell.width : this.cell.height;
    let asked = before;
    const move = (event: PointerEvent): void => {
      const to = line.axis === "x" ? event.clientX : event.clientY;
      this.ask(line, before + Math.round((to - from) / step), asked, (size) => (asked = size));
    };
    const done = (): void => {
      made.classList.remove("dragging");
      made.removeEventListener("pointermove", move);
    };
    made.addEventListener("pointermove", move);
    made.addEventListener("lostpointercapture", done, { once: true });
  }

  private key(event: KeyboardEvent, line: Divider): void {
    const steps: Record<string, number> =
      line.axis === "x" ? { ArrowLeft: -1, ArrowRight: 1 } : { ArrowUp: -1, ArrowDown: 1 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const before = this.extent(line);
    this.ask(line, before + step, before, () => {});
  }

  private ask(line: Divider, size: number, asked: number, set: (size: number) => void): void {
    if (size === asked || size < 1) return;
    set(size);
    this.events.resizePane(line.pane, line.axis === "x" ? { cols: size } : { rows: size });
  }

  /** Columns or rows of the pane before a divider, as they are now. */
  private extent(line: Divider): number {
    const box = this.layout?.panes.find(({ id }) => id === line.pane);
    return (line.axis === "x" ? box?.cols : box?.rows) ?? 0;
  }
}

export function place(target: HTMLElement, rect: Rect): void {
  const { style } = target;
  style.left = `${rect.left}px`;
  style.top = `${rect.top}px`;
  style.width = `${rect.width}px`;
  style.height = `${rect.height}px`;
}

