// The kitty keyboard protocol, as far as programs use it: keys that a legacy terminal cannot tell apart (Shift+Enter,
// Ctrl+Enter, Ctrl+I and Tab, Esc) are sent as CSI code ; modifiers u once the program asked for it.
// https://sw.kovidgoyal.net/kitty/keyboard-protocol/

import type { IDisposable, Terminal } from "@xterm/xterm";

const disambiguate = 1;
const reportAll = 8;
const maxStack = 32;

/** Follows what a pane's program asked for. */
export class KeyboardMode implements IDisposable {
  private readonly main: number[] = [0];
  private readonly alternate: number[] = [0];
  private readonly hooks: IDisposable[];

  constructor(private readonly term: Terminal) {
    const { parser } = term;
    const first = (params: (number | number[])[]): number => (typeof params[0] === "number" ? params[0] : 0);
    this.hooks = [
      parser.registerCsiHandler({ prefix: ">", final: "u" }, (params) => {
        const stack = this.stack;
        if (stack.length === maxStack) stack.splice(1, 1);
        stack.push(first(params));
        return true;
      }),
      parser.registerCsiHandler({ prefix: "<", final: "u" }, (params) => {
        const stack = this.stack;
        stack.splice(Math.max(1, stack.length - Math.max(1, first(params))));
        return true;
      }),
      parser.registerCsiHandler({ prefix: "=", final: "u" }, (params) => {
        const flags = first(params);
        const stack = this.stack;
        const top = stack.length - 1;
        const how = params[1] || 1;
        if (how === 1) stack[top] = flags;
        else if (how === 2) stack[top] |= flags;
        else if (how === 3) stack[top] &= ~flags;
        return true;
      }),
      parser.registerEscHandler({ final: "c" }, () => {
        this.reset();
        return false;
      }),
    ];
  }

  get flags(): number {
    return this.stack[this.stack.length - 1];
  }

  reset(): void {
    for (const stack of [this.main, this.alternate]) stack.splice(0, stack.length, 0);
  }

  dispose(): void {
    for (const hook of this.hooks) hook.dispose();
  }

  private get stack(): number[] {
    return this.term.buffer.active.type === "alternate" ? this.alternate : this.main;
  }
}

type Key = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey"> & { altGraph?: boolean };

const named: Record<string, number> = { Enter: 13, Tab: 9, Backspace: 127, Escape: 27, " ": 32 };

/** What a key press sends under these flags; undefined where the legacy form is right. */
export function encodeKey(event: Key, flags: number): string | undefined {
  if ((flags & (disambiguate | reportAll)) === 0 || event.altGraph) return undefined;
  const modifiers =
    1 + (event.shiftKey ? 1 : 0) + (event.altKey ? 2 : 0) + (event.ctrlKey ? 4 : 0) + (event.metaKey ? 8 : 0);
  const all = (flags & reportAll) !== 0;
  // A program that ends without taking the mode back must not leave a shell that cannot be interrupted.
  if (!all && event.code === "KeyC" && modifiers === 5) return undefined;

  const code = codeOf(event);
  if (code === undefined) return undefined;
  const text = named[event.key] === undefined || event.key === " ";
  const plain = text ? modifiers <= 2 : modifiers === 1;
  if (plain && !all && event.key !== "Escape") return undefined;
  return modifiers === 1 ? `\x1b[${code}u` : `\x1b[${code};${modifiers}u`;
}

function codeOf(event: Key): number | undefined {
  if (named[event.key] !== undefined) return named[event.key];
  const letter = /^Key([A-Z])$/.exec(event.code);
  const character = [...event.key];
  if (character.length !== 1) return undefined;
  // Ctrl on a layout without Latin letters means the letter on the key.
  if (letter && event.key.charCodeAt(0) > 0x7f) return letter[1].toLowerCase().charCodeAt(0);
  return character[0].toLowerCase().codePointAt(0);
}
