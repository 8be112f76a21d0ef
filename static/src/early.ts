// Keys pressed before there is a terminal to press them in. xterm.js is not there to encode them, so only those are kept
// that mean the same in every mode; Ctrl stays with the browser, which must be able to reload a page that hangs.

const named: Record<string, string> = { Enter: "\r", Backspace: "\x7f", Tab: "\t", Escape: "\x1b" };

export interface EarlyKey {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  altGraph: boolean;
}

/** What a key types in any terminal; undefined: nothing, or it depends on modes. */
export function earlyText(event: EarlyKey): string | undefined {
  if (event.metaKey || ((event.ctrlKey || event.altKey) && !event.altGraph)) return undefined;
  return [...event.key].length === 1 ? event.key : named[event.key];
}
