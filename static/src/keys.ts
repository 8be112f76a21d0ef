// The table of shortcuts. Nothing that shells and editors use is taken: no bare Ctrl+letter, no Alt+letter, and of Ctrl+Shift
// not the keys that make Ctrl+_, Ctrl+^ and Ctrl+@. Browsers keep some for themselves in an ordinary window (Ctrl+Shift+T
// and W, Ctrl+PageUp), so those have a second one.

export type Command =
  | "newTab"
  | "closeTab"
  | "renameTab"
  | "nextTab"
  | "previousTab"
  | "moveTabRight"
  | "moveTabLeft"
  | "splitRight"
  | "splitDown"
  | "closePane"
  | "nextPane"
  | "focusLeft"
  | "focusRight"
  | "focusUp"
  | "focusDown"
  | "swapLeft"
  | "swapRight"
  | "swapUp"
  | "swapDown"
  | "zoomPane"
  | "breakPane"
  | "joinTab"
  | "newWindow"
  | "takeSize"
  | "copy"
  | "paste"
  | "selectAll"
  | "find"
  | "scrollToBottom"
  | "larger"
  | "smaller"
  | "resetFont"
  | "statusBar"
  | "screenReader"
  | "fullScreen"
  | "devices"
  | "logout"
  | "settings"
  | "palette";

/** Keys by their place on the keyboard (KeyboardEvent.code), so that layouts and Shift do not matter. */
const shortcuts: Partial<Record<Command, string[]>> = {
  newTab: ["Ctrl+Shift+KeyT", "Ctrl+Shift+Enter"],
  closeTab: ["Ctrl+Shift+KeyW", "Ctrl+Shift+KeyX"],
  renameTab: ["Ctrl+Shift+F2"],
  nextTab: ["Ctrl+PageDown", "Ctrl+Shift+BracketRight"],
  previousTab: ["Ctrl+PageUp", "Ctrl+Shift+BracketLeft"],
  moveTabRight: ["Ctrl+Shift+PageDown"],
  moveTabLeft: ["Ctrl+Shift+PageUp"],
  splitRight: ["Ctrl+Shift+KeyE"],
  splitDown: ["Ctrl+Shift+KeyO"],
  nextPane: ["Ctrl+Shift+Semicolon"],
  focusLeft: ["Ctrl+Alt+ArrowLeft"],
  focusRight: ["Ctrl+Alt+ArrowRight"],
  focusUp: ["Ctrl+Alt+ArrowUp"],
  focusDown: ["Ctrl+Alt+ArrowDown"],
  swapLeft: ["Ctrl+Alt+Shift+ArrowLeft"],
  swapRight: ["Ctrl+Alt+Shift+ArrowRight"],
  swapUp: ["Ctrl+Alt+Shift+ArrowUp"],
  swapDown: ["Ctrl+Alt+Shift+ArrowDown"],
  closePane: ["Ctrl+Shift+Backspace"],
  zoomPane: ["Ctrl+Shift+KeyZ"],
  breakPane: ["Ctrl+Shift+KeyY"],
  palette: ["Ctrl+Shift+KeyP", "Ctrl+Shift+Space"],
  copy: ["Ctrl+Shift+KeyC", "Ctrl+Insert"],
  paste: ["Ctrl+Shift+KeyV", "Shift+Insert"],
  selectAll: ["Ctrl+Shift+KeyA"],
  find: ["Ctrl+Shift+KeyF"],
  larger: ["Ctrl+Equal", "Ctrl+Shift+Equal"],
  smaller: ["Ctrl+Minus"],
  resetFont: ["Ctrl+Digit0"],
  settings: ["Ctrl+Comma"],
};

// On a Mac, Cmd is free of terminals: the usual keys work beside the table.
const macShortcuts: Partial<Record<Command, string[]>> = {
  copy: ["Meta+KeyC"],
  selectAll: ["Meta+KeyA"],
  focusLeft: ["Alt+Meta+ArrowLeft"],
  focusRight: ["Alt+Meta+ArrowRight"],
  focusUp: ["Alt+Meta+ArrowUp"],
  focusDown: ["Alt+Meta+ArrowDown"],
  find: ["Meta+KeyF"],
  larger: ["Meta+Equal"],
  smaller: ["Meta+Minus"],
  resetFont: ["Meta+Digit0"],
  settings: ["Meta+Comma"],
};

const platform = typeof navigator === "undefined" ? "" : navigator.platform;
export const isMac = /^(Mac|iP)/.test(platform);
export const isWindows = /^Win/.test(platform);

const byKeys = new Map<string, Command>();
for (const table of isMac ? [shortcuts, macShortcuts] : [shortcuts]) {
  for (const [command, all] of Object.entries(table)) {
    for (const keys of all) byKeys.set(keys, command as Command);
  }
}

type Keys = Pick<KeyboardEvent, "code" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey">;

/** Ctrl+Alt+1 to 9 select a tab by its place, 9 the last. AltGr, which is Ctrl+Alt to some, types characters. */
export function tabNumber(event: Keys & { altGraph?: boolean }): number | undefined {
  if (!event.ctrlKey || !event.altKey || event.shiftKey || event.metaKey || event.altGraph) return undefined;
  const match = /^Digit([1-9])$/.exec(event.code);
  return match ? Number(match[1]) : undefined;
}

/** The command of a key press, if it is a shortcut. */
export function commandOf(event: Keys, hasSelection: boolean): Command | undefined {
  const keys =
    (event.ctrlKey ? "Ctrl+" : "") +
    (event.altKey ? "Alt+" : "") +
    (event.metaKey ? "Meta+" : "") +
    (event.shiftKey ? "Shift+" : "") +
    event.code.replace(/^NumpadEnter$/, "Enter");
  // Windows terminals copy a selection with Ctrl+C and paste with Ctrl+V, and people there expect it. Everywhere else
  // Ctrl+C is 0x03 whatever is selected.
  if (isWindows && keys === "Ctrl+KeyC" && hasSelection) return "copy";
  if (isWindows && keys === "Ctrl+KeyV") return "paste";
  return byKeys.get(keys);
}

/** How a shortcut is written beside its command. */
export function keysOf(command: Command): string {
  const keys = (isMac && macShortcuts[command]?.[0]) || shortcuts[command]?.[0];
  return keys ? spell(keys) : "";
}

function spell(keys: string): string {
  const names: Record<string, string> = {
    BracketRight: "]",
    BracketLeft: "[",
    Minus: "-",
    Semicolon: ";",
    Equal: "+",
    Comma: ",",
    Alt: isMac ? "⌥" : "Alt",
  };
  return keys
    .split("+")
    .map((key) => names[key] ?? key.replace(/^(Key|Digit|Arrow)/, "").replace(/^Meta$/, "⌘"))
    .join(isMac ? " " : "+");
}
