// What a clipboard holds becomes what may be typed into a terminal.

/** A paste larger than this is refused with a message: a file is better sent as a file. */
export const maxPasteBytes = 16 * 1024 * 1024;

const brackets = /\x1b\[20[01]~/g;
// C0 but tab, newline and return; DEL; C1, which are escape sequences of one character to some programs.
const controls = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]/g;

export interface Paste {
  /** As the program gets it: Enter is a return, as from a keyboard. */
  data: Uint8Array;
  /** As shown to the person before it is pasted. */
  text: string;
  /** Lines that would run one after the other; an Enter at the very end starts none. */
  lines: number;
}

/**
 * Prepares a text for the terminal. Control characters go, since neither tmux nor xterm.js takes the end of a bracketed
 * paste out of the pasted text, and a web page may have put one there with a command behind it.
 */
export function preparePaste(clipboard: string): Paste {
  const text = clipboard.replace(brackets, "").replace(/\r\n?/g, "\n").replace(controls, "");
  const data = new TextEncoder().encode(text.replaceAll("\n", "\r"));
  return { data, text, lines: text.replace(/\n$/, "").split("\n").length };
}
