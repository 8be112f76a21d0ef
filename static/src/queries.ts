// The page never answers a program. Programs ask tmux and our server (docs/PROTOCOL.md); with three browsers looking, each
// of them would answer too, and an answer to a replayed question is typed into the shell.

import type { IDisposable, Terminal } from "@xterm/xterm";

/** Takes every query, and what xterm.js would print by mistake, out of a terminal's input. */
export function swallowQueries(term: Terminal): IDisposable {
  const { parser } = term;
  const swallow = (): boolean => true;
  const asks = (data: string): boolean => data.split(";").includes("?");
  const hooks = [
    // DA1, DA2, DA3; DSR and its private form; DECRQM, both; XTVERSION; window reports; kitty keyboard; DECREQTPARM.
    ...[undefined, ">", "="].map((prefix) => parser.registerCsiHandler({ prefix, final: "c" }, swallow)),
    ...[undefined, "?"].map((prefix) => parser.registerCsiHandler({ prefix, final: "n" }, swallow)),
    ...[undefined, "?"].map((prefix) => parser.registerCsiHandler({ prefix, intermediates: "$", final: "p" }, swallow)),
    parser.registerCsiHandler({ prefix: ">", final: "q" }, swallow),
    parser.registerCsiHandler({ final: "t" }, swallow),
    parser.registerCsiHandler({ prefix: "?", final: "u" }, swallow),
    parser.registerCsiHandler({ final: "x" }, swallow),
    // DECID; DECRQSS; XTGETTCAP.
    parser.registerEscHandler({ final: "Z" }, swallow),
    parser.registerDcsHandler({ intermediates: "$", final: "q" }, swallow),
    parser.registerDcsHandler({ intermediates: "+", final: "q" }, swallow),
    // Colours may be set, but not asked for.
    ...[4, 10, 11, 12].map((ident) => parser.registerOscHandler(ident, asks)),
  ];
  swallowTitles(term);
  return { dispose: () => hooks.forEach((hook) => hook.dispose()) };
}

// States and actions of xterm.js' parser: EscapeSequenceParser.ts of the pinned version. Of its states that drop a string,
// only the one for DCS takes characters beyond ASCII too.
const stateEscape = 1;
const stateDropString = 11;
const actionIgnore = 0;

/**
 * ESC k title ESC \ names a tmux window. xterm.js knows it not and prints the title. No public hook swallows text up to a
 * string terminator, so the parser is told that ESC k begins a string to drop.
 */
function swallowTitles(term: Terminal): void {
  const parser = (term as unknown as { _core?: { _inputHandler?: { _parser?: { _transitions?: TransitionTable } } } })._core
    ?._inputHandler?._parser;
  parser?._transitions?.add("k".charCodeAt(0), stateEscape, actionIgnore, stateDropString);
}

interface TransitionTable {
  add(code: number, state: number, action: number, next: number): void;
}
