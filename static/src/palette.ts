// Every command and every terminal by name: Ctrl+Shift+P, or the button at the end of the strip.

import { element } from "./dom";
import { strings } from "./strings";

export interface Entry {
  label: string;
  keys?: string;
  run: () => void;
}

const maxShown = 50;

/** Lets the person choose one of the entries; Esc or a click outside chooses none. */
export function openPalette(entries: Entry[], closed: () => void): void {
  const input = element("input", {
    class: "palette-input",
    type: "text",
    role: "combobox",
    aria: { label: strings.findCommand, expanded: "true", controls: "palette-list", autocomplete: "list" },
  });
  input.placeholder = strings.findCommand;
  input.spellcheck = false;
  input.autocapitalize = "none";
  const list = element("ul", { class: "palette-list", role: "listbox", aria: { label: strings.commands } });
  list.id = "palette-list";
  const dialog = element("dialog", { class: "palette", data: { testid: "palette" }, aria: { label: strings.commands } }, input, list);

  let found: Entry[] = [];
  let at = 0;
  const mark = (): void => {
    [...list.children].forEach((item, i) => {
      item.setAttribute("aria-selected", String(i === at));
      if (i === at) item.scrollIntoView({ block: "nearest" });
    });
    input.setAttribute("aria-activedescendant", `palette-${at}`);
  };
  const choose = (entry: Entry | undefined): void => {
    dialog.close();
    dialog.remove();
    closed();
    entry?.run();
  };
  const search = (): void => {
    found = filter(entries, input.value).slice(0, maxShown);
    at = 0;
    list.replaceChildren(
      ...found.map((entry, i) => {
        const item = element(
          "li",
          { role: "option", onclick: () => choose(entry) },
          element("span", { text: entry.label }),
          entry.keys ? element("kbd", { text: entry.keys }) : undefined,
        );
        item.id = `palette-${i}`;
        item.addEventListener("pointermove", () => {
          if (at === i) return;
          at = i;
          mark();
        });
        return item;
      }),
    );
    if (found.length === 0) list.append(element("li", { class: "nothing", text: strings.nothingFound }));
    else mark();
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      at = Math.abs(step) === 1 ? (at + step + found.length) % found.length : Math.min(found.length - 1, Math.max(0, at + step));
      mark();
    }
    if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      choose(found[at]);
    }
  });
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    choose(undefined);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) choose(undefined);
  });
  search();
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
}

/** Entries that have every word, those that begin with the text first. */
export function filter(entries: Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return entries;
  const words = wanted.split(/\s+/);
  const matches = entries.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const begins = (entry: Entry): number => (entry.label.toLowerCase().startsWith(wanted) ? 0 : 1);
  return matches.map((entry, i) => ({ entry, i })).sort((a, b) => begins(a.entry) - begins(b.entry) || a.i - b.i).map(({ entry }) => entry);
}
