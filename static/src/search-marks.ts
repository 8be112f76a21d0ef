// Shows where a search matches: boxes over the matches on the screen, ticks beside the scrollbar for all.

import { element } from "./dom";
import type { History } from "./history";
import { firstFrom, type Match } from "./matches";
import type { Pane } from "./pane";

// One row can hold hundreds of matches; nobody tells them apart.
const maxBoxes = 500;
const tickHeight = 2;

export class SearchMarks {
  private readonly boxes = element("div", { class: "search-boxes", aria: { hidden: "true" } });
  private readonly ruler = element("canvas", { class: "search-ruler", aria: { hidden: "true" }, data: { testid: "search-ruler" } });
  private drawn: unknown[] = [];

  constructor(private readonly pane: Pane) {
    pane.element.append(this.boxes, this.ruler);
  }

  draw(history: History, list: Match[], current: Match | undefined): void {
    const { term, cell } = this.pane;
    if (!cell) return;
    const buffer = term.buffer.active;
    const now = [list, current, history.first, buffer.viewportY, buffer.length, term.cols, term.rows, cell.width, cell.height];
    if (now.every((value, i) => value === this.drawn[i])) return;
    this.drawBoxes(history, list, current);
    if (list !== this.drawn[0] || current !== this.drawn[1] || buffer.length !== this.drawn[4] || term.rows !== this.drawn[6]) {
      this.drawRuler(history, list, current);
    }
    this.drawn = now;
  }

  dispose(): void {
    this.boxes.remove();
    this.ruler.remove();
  }

  private drawBoxes(history: History, list: Match[], current: Match | undefined): void {
    const { term, cell } = this.pane;
    const top = history.first + term.buffer.active.viewportY;
    const boxes: HTMLElement[] = [];
    // A match that begins above may reach onto the screen.
    for (let i = Math.max(0, firstFrom(list, top) - 1); i < list.length && boxes.length < maxBoxes; i++) {
      const match = list[i];
      if (match.row >= top + term.rows) break;
      const from = history.placeAt(match.row, match.at);
      const to = history.placeAt(match.row, match.at + match.length);
      for (let row = from.row; row <= to.row; row++) {
        const y = match.row + row - top;
        if (y < 0 || y >= term.rows) continue;
        const left = row === from.row ? from.column : 0;
        const right = row === to.row ? to.column : term.cols;
        if (right <= left) continue;
        const box = element("div", { class: match === current || same(match, current) ? "search-box current" : "search-box" });
        const { width = 0, height = 0 } = cell ?? {};
        box.style.left = `${left * width}px`;
        box.style.top = `${y * height}px`;
        box.style.width = `${(right - left) * width}px`;
        box.style.height = `${height}px`;
        boxes.push(box);
      }
    }
    this.boxes.replaceChildren(...boxes);
  }

  private drawRuler(history: History, list: Match[], current: Match | undefined): void {
    const { ruler } = this;
    const height = Math.round(this.pane.element.clientHeight * devicePixelRatio);
    const width = Math.round(ruler.clientWidth * devicePixelRatio);
    ruler.width = width;
    ruler.height = height;
    const context = ruler.getContext("2d");
    if (!context || height === 0) return;
    const style = getComputedStyle(ruler);
    const rows = this.pane.term.buffer.active.length;
    const tick = tickHeight * devicePixelRatio;
    const at = (match: Match): number => Math.min(height - tick, Math.floor((history.rowAt(match.row) / rows) * height));
    context.fillStyle = style.color;
    let drawn = -1;
    for (const match of list) {
      const y = at(match);
      if (y === drawn) continue;
      drawn = y;
      context.fillRect(0, y, width, tick);
    }
    if (!current) return;
    context.fillStyle = style.outlineColor;
    context.fillRect(0, at(current) - tick / 2, width, tick * 2);
  }
}

function same(match: Match, other: Match | undefined): boolean {
  return match.row === other?.row && match.at === other.at;
}
