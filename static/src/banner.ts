// One quiet line over the bottom of a view, and the panel in its middle where there is nothing else to see.

import { button, element, type Action } from "./dom";

export interface BannerContent {
  kind: "link" | "size" | "mode" | "info" | "failed";
  text: string;
  detail?: string;
  actions?: Action[];
}

/** Shows at most one line. Over the view, so that nothing moves when it comes. */
export class Banner {
  readonly element = element("div", { class: "banner", hidden: true, data: { testid: "banner" } });
  private readonly text = element("span", { class: "banner-text" });
  private readonly detail = element("span", { class: "banner-detail" });
  private readonly actions = element("span", { class: "banner-actions" });
  private labels = "";
  private current: Action[] = [];

  constructor() {
    this.element.append(this.text, this.detail, this.actions);
  }

  show(content: BannerContent | undefined): void {
    this.element.hidden = content === undefined;
    if (!content) {
      this.labels = "";
      return;
    }
    this.element.dataset.kind = content.kind;
    this.text.textContent = content.text;
    this.detail.textContent = content.detail ?? "";
    this.detail.hidden = !content.detail;
    this.current = content.actions ?? [];
    // A countdown must not take the button from under the pointer or the focus.
    const labels = this.current.map((action) => action.label).join("\n");
    if (labels === this.labels) return;
    this.labels = labels;
    this.actions.replaceChildren(
      ...this.current.map((action, i) => button({ ...action, run: () => this.current[i]?.run() })),
    );
  }
}

export interface PanelContent {
  title: string;
  text?: string;
  body?: (HTMLElement | undefined)[];
  actions?: Action[];
  testid?: string;
}

export function panel(content: PanelContent): HTMLElement {
  return element(
    "section",
    { class: "panel", data: { testid: content.testid ?? "panel" } },
    element("h1", { text: content.title }),
    content.text ? element("p", { text: content.text }) : undefined,
    ...(content.body ?? []),
    content.actions ? element("div", { class: "actions" }, ...content.actions.map(button)) : undefined,
  );
}
