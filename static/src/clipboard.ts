// The clipboard: what programs copy (OSC 52, tmux's copy mode) and what the person copies.

const maxCopyBytes = 1024 * 1024;
// Enough for anything a person does, too little for a program to keep others from using the clipboard.
const burst = 5;
const refillMs = 500;

/** The text of an OSC 52, if it sets the clipboard: tmux sends an empty target, programs `c` or `p`. */
export function clipboardText(data: string): string | undefined {
  const separator = data.indexOf(";");
  if (separator < 0 || !/^[cps0-7]*$/.test(data.slice(0, separator))) return undefined;
  const encoded = data.slice(separator + 1);
  if (encoded === "?" || encoded === "" || encoded.length > (maxCopyBytes * 4) / 3 + 4) return undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    return undefined; // not base64
  }
}

/** Lets programs copy `burst` times at once and then twice a second. */
export class CopyLimit {
  private tokens = burst;
  private at: number;

  constructor(private readonly now: () => number = Date.now) {
    this.at = now();
  }

  take(): boolean {
    const now = this.now();
    this.tokens = Math.min(burst, this.tokens + (now - this.at) / refillMs);
    this.at = now;
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }
}

/** Copies. False: the browser wants a click first, or the page is not on https or localhost. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  focused?.focus({ preventScroll: true });
  return copied;
}
