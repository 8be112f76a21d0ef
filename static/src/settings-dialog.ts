// The settings dialog: every change holds at once, here and on the person's other devices.

import { element, icon } from "./dom";
import { schemes, type Scheme } from "./schemes";
import { settings as known, type SettingName, type Settings, type Values } from "./settings";
import { settingsStrings as strings } from "./settings-strings";

type Label = keyof typeof strings.labels;

/** A line of the dialog: its element, and how it shows what is in force. */
interface Row {
  element: HTMLElement;
  show(): void;
}

/** Opens the dialog; `closed` is called when it is gone. */
export function openSettings(settings: Settings, closed: () => void): void {
  if (document.querySelector(".settings[open]")) return;
  const rows = new Rows(settings);
  const sections = [
    section(strings.sections.colors, [
      rows.choice("appearance", strings.appearance),
      rows.schemes("lightScheme", false),
      rows.schemes("darkScheme", true),
      rows.number("minimumContrast", 0.5),
    ]),
    section(strings.sections.text, [
      rows.text("fontFamily"),
      rows.number("fontSize", 1),
      rows.number("lineHeight", 0.05),
      rows.choice("cursorStyle", strings.cursorStyle),
      rows.toggle("cursorBlink"),
    ]),
    section(strings.sections.terminal, [
      rows.number("scrollback", 1_000),
      rows.toggle("optionAsMeta"),
    ]),
    section(strings.sections.page, [rows.number("padding", 1), rows.toggle("statusBar"), rows.toggle("screenReader")]),
  ];
  const close = element("button", { class: "tool", type: "button", title: strings.close, aria: { label: strings.close } });
  close.append(icon("close"));
  const title = element("h1", { text: strings.title });
  title.id = "settings-title";
  const dialog = element(
    "dialog",
    { class: "settings", data: { testid: "settings" }, aria: { labelledby: title.id } },
    element("header", {}, title, rows.scope(), close),
    element("div", { class: "settings-body" }, ...sections),
  );
  const watching = new AbortController();
  const finish = (): void => {
    watching.abort();
    dialog.close();
    dialog.remove();
    closed();
  };
  close.addEventListener("click", finish);
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    finish();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) finish();
  });
  settings.watch(() => rows.show(), watching.signal);
  rows.show();
  document.body.append(dialog);
  dialog.showModal();
}

function section(title: string, rows: HTMLElement[]): HTMLElement {
  return element("section", {}, element("h2", { text: title }), ...rows);
}

class Rows {
  private readonly all: Row[] = [];
  private here = false; // changes are for this device

  constructor(private readonly settings: Settings) {}

  show(): void {
    for (const row of this.all) row.show();
  }

  /** The choice of whom changes are for. */
  scope(): HTMLElement {
    const choose = (here: boolean) => (): void => void (this.here = here);
    return radios("settings-scope", strings.scope, [
      { value: "user", label: strings.everywhere, checked: true, choose: choose(false) },
      { value: "device", label: strings.here, checked: false, choose: choose(true) },
    ]);
  }

  toggle(name: Label & BooleanName): HTMLElement {
    const input = element("input", { type: "checkbox" });
    input.addEventListener("change", () => this.set(name, input.checked));
    return this.row(name, input, () => (input.checked = this.settings.get(name)));
  }

  number(name: Label & NumberName, step: number): HTMLElement {
    const input = element("input", { type: "number" });
    const { least, most } = known[name];
    Object.assign(input, { min: String(least), max: String(most), step: String(step) });
    input.addEventListener("change", () => {
      const value = Math.min(most, Math.max(least, input.valueAsNumber));
      this.set(name, Number.isNaN(value) ? undefined : value);
      input.value = String(this.settings.get(name));
    });
    return this.row(name, input, () => {
      if (document.activeElement !== input || input.valueAsNumber !== this.settings.get(name)) input.value = String(this.settings.get(name));
    });
  }

  text(name: Label & "fontFamily"): HTMLElement {
    const input = element("input", { type: "text" });
    input.spellcheck = false;
    input.autocapitalize = "none";
    input.addEventListener("change", () => {
      const value = known[name].read(input.value.trim());
      input.setAttribute("aria-invalid", String(value === undefined));
      if (value !== undefined) this.set(name, value === "" ? undefined : value);
    });
    return this.row(name, input, () => {
      if (document.activeElement !== input) input.value = this.settings.get(name);
    });
  }

  choice<K extends Label & ("appearance" | "cursorStyle")>(name: K, labels: Record<Values[K], string>): HTMLElement {
    const values = Object.keys(labels) as Values[K][];
    const group = radios(
      `settings-${name}`,
      strings.labels[name],
      values.map((value) => ({ value, label: labels[value], checked: false, choose: () => this.set(name, value) })),
    );
    return this.row(name, group, () => check(group, this.settings.get(name)));
  }

  schemes(name: "lightScheme" | "darkScheme", dark: boolean): HTMLElement {
    const fitting = schemes.filter((scheme) => scheme.dark === dark);
    const group = radios(
      `settings-${name}`,
      strings.labels[name],
      fitting.map((scheme) => ({
        value: scheme.id,
        label: scheme.name,
        sample: sample(scheme),
        checked: false,
        choose: () => this.set(name, scheme.id),
      })),
    );
    group.classList.add("scheme-list");
    const row = this.row(name, group, () => {
      check(group, this.settings.get(name));
      row.hidden = this.settings.get("appearance") === (dark ? "light" : "dark");
    });
    row.classList.add("wide");
    return row;
  }

  private row(name: Label, control: HTMLElement, showValue: () => void): HTMLElement {
    const label = strings.labels[name];
    const isField = control instanceof HTMLInputElement;
    if (isField) control.id = `settings-${name}`;
    control.dataset.testid = `setting-${name}`;
    const caption = isField ? element("label", { text: label }) : element("span", { text: label, aria: { hidden: "true" } });
    if (caption instanceof HTMLLabelElement) caption.htmlFor = control.id;
    const hint = (strings.hints as Partial<Record<Label, string>>)[name];
    const described = hint ? element("p", { class: "hint", text: hint }) : undefined;
    if (described) {
      described.id = `settings-${name}-hint`;
      control.setAttribute("aria-describedby", described.id);
    }
    const mark = element("span", { class: "badge", text: strings.hereMark, title: strings.hereTitle });
    const reset = element("button", { class: "tool", type: "button", data: { testid: `reset-${name}` } });
    reset.append(icon("reset"));
    reset.addEventListener("click", () => {
      if (this.settings.origin(name) === "device") this.settings.setHere(name, undefined);
      else void this.settings.set(name, undefined);
    });
    const line = element(
      "div",
      { class: "setting", data: { setting: name } },
      element("div", { class: "setting-label" }, caption, mark, described),
      element("div", { class: "setting-control" }, control, reset),
    );
    const show = (): void => {
      const origin = this.settings.origin(name);
      mark.hidden = origin !== "device";
      // It keeps its place, so that nothing moves when a value changes.
      reset.style.visibility = origin === "default" ? "hidden" : "";
      reset.title = origin === "device" ? strings.resetHere(label) : strings.reset(label);
      reset.setAttribute("aria-label", reset.title);
      showValue();
    };
    this.all.push({ element: line, show });
    return line;
  }

  private set<K extends SettingName>(name: K, value: Values[K] | undefined): void {
    if (this.here) this.settings.setHere(name, value);
    else void this.settings.set(name, value);
  }
}

type NamesOf<T> = { [K in SettingName]: Values[K] extends T ? K : never }[SettingName];
type BooleanName = NamesOf<boolean>;
type NumberName = NamesOf<number>;

interface Option {
  value: string;
  label: string;
  sample?: HTMLElement;
  checked: boolean;
  choose: () => void;
}

/** Radio buttons in a row. */
function radios(name: string, label: string, options: Option[]): HTMLElement {
  const group = element("div", { class: "choices", role: "radiogroup", aria: { label } });
  for (const { value, label, sample, checked, choose } of options) {
    const input = element("input", { type: "radio", class: "visually-hidden" });
    Object.assign(input, { name, value, checked });
    input.addEventListener("change", choose);
    group.append(element("label", { class: "choice", data: { value } }, input, sample, element("span", { text: label })));
  }
  return group;
}

function check(group: HTMLElement, value: string): void {
  for (const input of group.querySelectorAll("input")) input.checked = input.value === value;
}

/** What a scheme looks like: a line of text in its colours. */
function sample({ tokens }: Scheme): HTMLElement {
  const shown = element("span", { class: "sample", aria: { hidden: "true" } });
  shown.style.background = tokens["term-background"];
  for (const name of ["foreground", "red", "yellow", "green", "cyan", "blue", "magenta"]) {
    const dot = element("i");
    dot.style.background = tokens[`term-${name}`];
    shown.append(dot);
  }
  return shown;
}
