// Copying and pasting: what programs and people do with the clipboard, and what they are asked first.

import { CopyLimit, copyText } from "./clipboard";
import { ask, type Notices } from "./dialog";
import type { Pane } from "./pane";
import { maxPasteBytes, preparePaste } from "./paste";
import { bytes, strings } from "./strings";
import type { TabView } from "./tab-view";

const previewCharacters = 4_000;

export interface ClipsHost {
  notices: Notices;
  active(): TabView | undefined;
  announce(text: string): void;
  focus(): void;
}

export class Clips {
  private readonly limit = new CopyLimit();

  constructor(private readonly host: ClipsHost) {}

  /** A program copied: taken from the pane the person is in, and from no other. */
  async copied(view: TabView, pane: Pane, text: string): Promise<void> {
    const focused = document.hasFocus() && view === this.host.active() && view.activePane === pane;
    if (!focused || !this.limit.take()) return;
    if (await copyText(text)) return;
    this.host.notices.show(strings.copyAsk, {
      key: "copy",
      actions: [{ label: strings.copy, run: () => void copyText(text).then(() => this.host.focus()) }],
    });
  }

  async copySelection(): Promise<void> {
    const term = this.host.active()?.activePane?.term;
    const text = term?.getSelection();
    if (!text) return;
    if (await copyText(text)) this.host.announce(strings.copied);
    term?.clearSelection();
  }

  async pasteClipboard(): Promise<void> {
    const view = this.host.active();
    const pane = view?.activePane;
    if (!view || !pane) return;
    try {
      await this.paste(view, pane, await navigator.clipboard.readText());
    } catch {
      this.host.notices.show(strings.pasteFailed, { brief: true });
    }
  }

  async paste(view: TabView, pane: Pane, text: string): Promise<void> {
    if (text.length > maxPasteBytes) return this.tooLarge(text.length); // before any work is done on it
    const { data, text: clean, lines } = preparePaste(text);
    if (data.length > maxPasteBytes) return this.tooLarge(data.length);
    if (lines > 1 && !pane.bracketedPaste) {
      const agreed = await ask({
        text: strings.pasteTitle(lines),
        detail: strings.pasteText,
        preview: clean.slice(0, previewCharacters) + (clean.length > previewCharacters ? "\n…" : ""),
        keep: strings.cancel,
        act: strings.paste,
      });
      if (!agreed) return;
    }
    view.pasteInto(pane, data);
  }

  private tooLarge(count: number): void {
    this.host.notices.show(strings.pasteTooLarge(bytes(count), bytes(maxPasteBytes)), { kind: "failed", key: "paste" });
  }
}
