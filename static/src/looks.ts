// Which colour scheme is in force, and how it comes to be: the server's HTML links what the person chose, so that the first
// paint has it; what changes later, and what a device has of its own, is laid over it.

import type { SettingName, Settings } from "./settings";

const names: SettingName[] = ["appearance", "lightScheme", "darkScheme"];

export class Looks {
  private readonly systemDark = matchMedia("(prefers-color-scheme: dark)");
  private shown: string;
  private laidOver = false;

  constructor(
    private readonly settings: Settings,
    private readonly changed: () => void,
    signal: AbortSignal,
  ) {
    this.shown = this.linked();
    const update = (): void => void this.update();
    this.systemDark.addEventListener("change", update, { signal });
    settings.watch((changes) => names.some((name) => changes.has(name)) && update(), signal);
    update();
  }

  get dark(): boolean {
    const appearance = this.settings.get("appearance");
    return appearance === "dark" || (appearance === "system" && this.systemDark.matches);
  }

  /** The scheme that the server's HTML brings into force. */
  private linked(): string {
    const links = [...document.querySelectorAll<HTMLLinkElement>("link[data-scheme]")];
    return links.filter(({ media }) => matchMedia(media || "all").matches).at(-1)?.dataset.scheme ?? "";
  }

  private async update(): Promise<void> {
    const wanted = this.settings.get(this.dark ? "darkScheme" : "lightScheme");
    if (wanted !== this.linked() || this.laidOver) {
      const { schemeOf } = await import("./schemes");
      // Another change may have come while the schemes were loaded.
      const { dark } = this;
      const { tokens } = schemeOf(this.settings.get(dark ? "darkScheme" : "lightScheme"), dark);
      const { style } = document.documentElement;
      style.colorScheme = dark ? "dark" : "light";
      for (const [name, value] of Object.entries(tokens)) style.setProperty(`--${name}`, value);
      this.laidOver = true;
    } else if (wanted === this.shown) {
      return;
    }
    this.shown = wanted;
    for (const meta of document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]")) meta.content = frameColor();
    this.changed();
  }
}

/** The colour of the strip, for the browser's own frame around the page. */
function frameColor(): string {
  const strip = document.querySelector(".strip");
  return strip ? getComputedStyle(strip).backgroundColor : "";
}
