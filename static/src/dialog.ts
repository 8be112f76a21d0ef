// Questions, and the notices that ask for nothing.

import { button, element, icon, type Action } from "./dom";
import { strings } from "./strings";

export interface Question {
  text: string;
  detail?: string;
  preview?: string;
  keep: string; // the button that changes nothing; Enter and Esc
  act: string;
}

/** Asks; true: act. What changes nothing has the focus, so that Enter by habit does no harm. */
export function ask(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const focused = document.activeElement as HTMLElement | null;
    const close = (answer: boolean): void => {
      dialog.close();
      dialog.remove();
      focused?.focus({ preventScroll: true });
      resolve(answer);
    };
    const keep = button({ label: question.keep, run: () => close(false), testid: "keep" });
    const act = button({ label: question.act, run: () => close(true), testid: "act" });
    act.classList.add("danger");
    const text = element("p", { class: "question", text: question.text });
    text.id = "question";
    const dialog = element(
      "dialog",
      { class: "dialog", data: { testid: "dialog" }, aria: { labelledby: "question" } },
      text,
      question.detail ? element("p", { class: "hint", text: question.detail }) : undefined,
      question.preview !== undefined ? element("pre", { class: "preview", text: question.preview }) : undefined,
      element("div", { class: "actions" }, keep, act),
    );
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      close(false);
    });
    document.body.append(dialog);
    dialog.showModal();
    keep.focus();
  });
}

export interface NoticeOptions {
  kind?: "info" | "failed";
  actions?: Action[];
  /** Goes by itself; else it stays until dismissed. */
  brief?: boolean;
  /** A later notice of the same key takes the place of this one. */
  key?: string;
}

const briefMs = 6_000;

/** Notices in a corner; read out, never in the way. */
export class Notices {
  readonly element = element("div", { class: "notices", role: "status", aria: { live: "polite" }, data: { testid: "notices" } });

  show(text: string, options: NoticeOptions = {}): () => void {
    const key = options.key ?? text;
    for (const old of this.element.querySelectorAll<HTMLElement>(".notice")) if (old.dataset.key === key) old.remove();
    const dismiss = (): void => {
      clearTimeout(timer);
      notice.remove();
    };
    const close = element("button", {
      class: "tool",
      type: "button",
      title: strings.dismiss,
      aria: { label: strings.dismiss },
      onclick: dismiss,
    });
    close.append(icon("close"));
    const notice = element(
      "div",
      { class: "notice", data: { key, kind: options.kind ?? "info", testid: "notice" } },
      element("span", { text }),
      close,
      options.actions &&
        element(
          "div",
          { class: "actions" },
          ...options.actions.map((action) => button({ ...action, run: () => (dismiss(), action.run()) })),
        ),
    );
    this.element.append(notice);
    const timer = options.brief ? setTimeout(dismiss, briefMs) : undefined;
    return dismiss;
  }
}
