// Every English text of the scripts. Texts of the server's HTML are in web/view.

const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

export const strings = {
  // Strip
  untitled: "Terminal",
  closeTab: (title: string) => `Close ${title}`,
  renameTab: (title: string) => `Name of ${title}`,
  moved: (title: string, place: number, count: number) => `${title} moved to place ${place} of ${count}`,
  marks: { bell: "bell", activity: "new output", ended: "ended", failed: "failed", gone: "gone" },

  // Link
  live: "Connected",
  reconnectingIn: (seconds: number) => (seconds > 0 ? `Reconnecting in ${seconds} s` : "Reconnecting"),
  offline: "This device is offline",
  retryNow: "Retry now",
  keysWaiting: (count: number) => plural(count, "key waiting", "keys waiting"),
  keysDropped: (count: number) =>
    `${plural(count, "key", "keys")} waited too long for a connection and ${count === 1 ? "was" : "were"} not sent.`,
  keysRefused: "Not connected. What you type now is not kept.",
  inputRefused: (reason: string) => `Some input was not delivered: ${reason}.`,
  tooManyViewers: "Too many devices look at this terminal. Close one of them; this page keeps trying.",
  oldPage: "The server speaks a newer language than this page. Reload when you are ready; nothing in the terminals is lost.",
  badFrame: "The connection got out of step and was closed. Reconnecting.",
  messageTooBig: "A message was larger than the server takes. Reconnecting.",
  newerVersion: "A newer version of Tabs is there. This page goes on; reload when it suits you.",
  reload: "Reload",
  loggedOut: "This device was logged out. Terminals go on without it.",
  logIn: "Log in",

  // Size
  sizedFor: (owner: string) => `Sized for ${owner}`,
  anotherDevice: "another device",
  useThisSize: "Use this size",
  thisDevice: "this device",

  // Ends
  exited: (code: number, signal: number | undefined) => {
    if (signal) return `Ended by signal ${signal}`;
    return code > 0 ? `Exited ${code}` : "Ended"; // below 0: nobody saw how
  },
  restart: "Restart",
  close: "Close",
  serverGoneTitle: "The terminal server of this tab ended",
  serverGoneText: "Its programs ended with it. Other tabs are not touched. Reviving brings back title and directory, with a new shell.",
  tabGoneTitle: "This terminal was closed",
  tabGoneText: "It was ended here, on another device or from its shell.",
  revive: "Revive",
  newTerminal: "New terminal",
  inMode: (mode: string) => `tmux is in ${mode}: keys go there, not to the program`,
  leaveMode: "Leave it",

  // No tabs
  noTabsTitle: "No terminals",
  noTabsText: (box: string) => `Nothing is open on ${box}.`,
  recentDirectories: "Recent directories",
  revivableTitle: (count: number) => `${plural(count, "terminal", "terminals")} from before the machine restarted`,
  revivableText: "Their programs ended. Title, directory and last lines were kept; reviving starts a new shell there.",
  reviveAll: "Revive all",
  forget: "Forget",
  forgetAll: "Forget all",

  // Box
  tmuxMissingTitle: "tmux is not installed here",
  tmuxMissingText: "Tabs keeps terminals alive with tmux. Install it, then try again:",
  tmuxInstall: "apt-get install tmux",
  tryAgain: "Try again",
  plainShell: "Open a plain shell",
  plainHint: "A plain shell works without tmux, but ends when the server restarts.",
  plainWarning: "Plain shell: it will not survive a restart of the server. With tmux installed, new terminals do.",
  understood: "Understood",
  boxState: (box: string, state: string) => `${box} is ${state}.`,

  // Questions
  endQuestion: (title: string, program: string, duration: string) =>
    `${title}: ${program} has run${duration ? ` for ${duration}` : ""}. End it?`,
  endPaneQuestion: (program: string) => `${program} is running in this pane. End it?`,
  end: "End it",
  keep: "Keep",
  pasteTitle: (lines: number) => `Paste ${lines} lines?`,
  pasteText: "The program did not ask for pasted text as a whole: each line runs as if Enter were pressed.",
  paste: "Paste",
  cancel: "Cancel",
  pasteTooLarge: (bytes: string, most: string) => `The text is ${bytes}, more than the ${most} that can be pasted. Send it as a file instead.`,
  pasteFailed: "The browser does not let this page read the clipboard. Press Ctrl+V or use the browser's menu.",

  // Clipboard
  copied: "Copied",
  copyAsk: "A program copied a text for you.",
  copy: "Copy",

  // Search
  find: "Find",
  matchCase: "Match case",
  wholeWord: "Whole words",
  regex: "Regular expression",
  older: "Older (Enter)",
  newer: "Newer (Shift+Enter)",
  closeSearch: "Close (Esc)",
  found: (at: number, count: number, more: boolean) => `${at} of ${count}${more ? "+" : ""}`,
  nothingMatches: "None",
  noExpression: "Not an expression",
  searchedLines: (count: number) => `Searched the newest ${count} lines, which is all this page can hold`,

  // Commands
  commands: "Commands",
  findCommand: "Find a command or terminal",
  nothingFound: "Nothing found",
  command: {
    newTab: "New terminal",
    closeTab: "Close terminal",
    renameTab: "Rename terminal",
    nextTab: "Next terminal",
    previousTab: "Previous terminal",
    moveTabRight: "Move terminal right",
    moveTabLeft: "Move terminal left",
    splitRight: "Split right",
    splitDown: "Split down",
    closePane: "Close pane",
    nextPane: "Next pane",
    focusLeft: "Go to the pane on the left",
    focusRight: "Go to the pane on the right",
    focusUp: "Go to the pane above",
    focusDown: "Go to the pane below",
    swapLeft: "Swap pane with the one on the left",
    swapRight: "Swap pane with the one on the right",
    swapUp: "Swap pane with the one above",
    swapDown: "Swap pane with the one below",
    zoomPane: "Zoom pane, or show all again",
    breakPane: "Make pane a terminal of its own",
    joinTab: "Take another terminal in as a pane",
    newWindow: "New tmux window",
    takeSize: "Use the size of this device",
    copy: "Copy",
    paste: "Paste",
    selectAll: "Select all",
    find: "Find in the terminal",
    scrollToBottom: "Scroll to the bottom",
    larger: "Larger text",
    smaller: "Smaller text",
    resetFont: "Text of normal size",
    statusBar: "Show or hide the status bar",
    screenReader: "Screen reader mode on or off",
    fullScreen: "Full screen",
    devices: "Devices, and add one",
    logout: "Log out",
    settings: "Settings",
    palette: "All commands",
  },
  goTo: (title: string) => `Go to ${title}`,

  // Panes
  handle: "Pane",
  handleHint: "Drag to move this pane, to the strip to make it a terminal of its own",
  zoomed: "Zoomed",
  zoom: "Zoom",
  unzoom: "Show all panes",
  joinHere: "Take in as a pane",
  joinNone: "No other terminal can be taken in: each runs in a tmux of its own, and a program cannot move to another. Panes made terminals of their own can come back.",
  joinOther: "It runs in a tmux of its own, and a program cannot move to another",
  atEdge: "There is nothing on that side",
  joinSelf: "It is the terminal that is shown",
  takeIn: (title: string) => `Take in ${title}`,
  tabMenu: (title: string) => `Terminal ${title}`,

  // Status bar
  milliseconds: (value: number) => `${value} ms`,
  divider: (axis: "x" | "y") => (axis === "x" ? "Divider between left and right" : "Divider between above and below"),
  pane: (title: string) => title || "Terminal",

  // Devices page
  deviceName: "Name of the device",
  logoutDeviceQuestion: (name: string) => `Log out ${name}? Its connections close at once.`,
  logoutOthersQuestion: "Log out every other device? Their connections close at once.",
  logOut: "Log out",

  // Failures
  failed: (what: string, why: string) => `${what}: ${why}`,
  openFailed: "No terminal was opened",
  closeFailed: "The terminal was not closed",
  changeFailed: "Nothing was changed",
  moveFailed: "The pane was not moved",
  settingsFailed: "Settings did not open",
  noAnswer: "the server did not answer",
  dismiss: "Dismiss",
};

/** "4 min", "2 h", "3 d": as long as a person would say it. */
export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 1) return "";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${Math.round(count / 1024)} KB`;
  return `${(count / 1024 / 1024).toFixed(count < 10 * 1024 * 1024 ? 1 : 0)} MB`;
}

/** Shortens in the middle, where names of files and hosts differ least. */
export function shorten(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return characters.slice(0, head).join("") + "…" + characters.slice(characters.length - (most - 1 - head)).join("");
}
