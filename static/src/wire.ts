// What the page and the server say to each other: docs/PROTOCOL.md, twin of terminal/wire.go. Encoding and decoding only.

export const protocol = 1;

/** Types of binary frames. */
export const frame = {
  output: 0x01,
  snapshot: 0x02,
  resize: 0x03,
  inputAck: 0x04,
  input: 0x11,
  paste: 0x12,
  ack: 0x13,
} as const;

export const snapshotFlag = { first: 1, last: 2, history: 4 } as const;
export const pasteFlag = { last: 1 } as const;

/** The most bytes of an input or paste frame. */
export const maxInputBytes = 16 * 1024;

/** Close codes of both sockets. */
export const closeCode = {
  normal: 1000,
  goingAway: 1001,
  messageTooBig: 1009,
  serverRestarts: 1012,
  badFrame: 4000,
  loggedOut: 4001,
  protocolVersion: 4002,
  tabGone: 4004,
  tooManyViewers: 4006,
  helloLate: 4008,
  serverGone: 4009,
  stalled: 4010,
} as const;

export interface Size {
  cols: number;
  rows: number;
}

export interface Output {
  type: typeof frame.output;
  pane: number;
  offset: number;
  data: Uint8Array;
}

export interface Snapshot {
  type: typeof frame.snapshot;
  pane: number;
  offset: number;
  size: Size;
  flags: number;
  data: Uint8Array;
}

export interface PaneResize {
  type: typeof frame.resize;
  pane: number;
  offset: number;
  size: Size;
}

export interface InputAck {
  type: typeof frame.inputAck;
  offset: number;
}

export type ServerFrame = Output | Snapshot | PaneResize | InputAck;

/** Raised for bytes that are no frame. */
export class FrameError extends Error {}

/** Decodes a binary frame from the server. Its data is a view of the buffer, not a copy. */
export function decode(buffer: ArrayBuffer): ServerFrame {
  const view = new DataView(buffer);
  const need = (bytes: number): void => {
    if (buffer.byteLength < bytes) throw new FrameError(`frame of ${buffer.byteLength} bytes ends early`);
  };
  need(1);
  const type = view.getUint8(0);
  switch (type) {
    case frame.output:
      need(13);
      return { type, pane: view.getUint32(1), offset: uint64(view, 5), data: new Uint8Array(buffer, 13) };
    case frame.snapshot:
      need(18);
      return {
        type,
        pane: view.getUint32(1),
        offset: uint64(view, 5),
        size: { cols: view.getUint16(13), rows: view.getUint16(15) },
        flags: view.getUint8(17),
        data: new Uint8Array(buffer, 18),
      };
    case frame.resize:
      need(17);
      return {
        type,
        pane: view.getUint32(1),
        offset: uint64(view, 5),
        size: { cols: view.getUint16(13), rows: view.getUint16(15) },
      };
    case frame.inputAck:
      need(9);
      return { type, offset: uint64(view, 1) };
    default:
      throw new FrameError(`unknown frame type ${type}`);
  }
}

export function encodeInput(pane: number, offset: number, data: Uint8Array): Uint8Array {
  const out = head(frame.input, pane, offset, 13 + data.length);
  out.set(data, 13);
  return out;
}

export function encodePaste(pane: number, offset: number, flags: number, data: Uint8Array): Uint8Array {
  const out = head(frame.paste, pane, offset, 14 + data.length);
  out[13] = flags;
  out.set(data, 14);
  return out;
}

export function encodeAck(pane: number, offset: number): Uint8Array {
  return head(frame.ack, pane, offset, 13);
}

function head(type: number, pane: number, offset: number, length: number): Uint8Array {
  const out = new Uint8Array(length);
  const view = new DataView(out.buffer);
  out[0] = type;
  view.setUint32(1, pane);
  view.setUint32(5, Math.floor(offset / 2 ** 32));
  view.setUint32(9, offset % 2 ** 32);
  return out;
}

// Offsets are numbers, not BigInts: 2^53 bytes is more than a pane prints in a lifetime.
function uint64(view: DataView, at: number): number {
  return view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4);
}

// Text frames of a tab socket, to the page.

export interface Hello {
  type: "hello";
  protocol: number;
  token: string;
  size?: Size;
  readOnly?: boolean;
  scrollback?: number;
  stream?: string;
  panes?: Record<number, number>;
  input?: string;
}

export interface Welcome {
  type: "welcome";
  protocol: number;
  version: string;
  viewer: string;
  stream: string;
  inputOffset: number;
  plain: boolean;
  widths: { zwj: boolean; vs16: boolean; flags: boolean; skinTones: boolean };
}

export interface TmuxWindow {
  id: number;
  index: number;
  name: string;
  active: boolean;
  bell: boolean;
}

export interface PaneBox extends Size {
  id: number;
  left: number;
  top: number;
}

export interface Layout {
  type: "layout";
  window: number;
  windows: TmuxWindow[];
  size: Size;
  zoomed: boolean;
  active: number;
  panes: PaneBox[];
}

export interface PaneState {
  type: "pane";
  pane: number;
  title: string;
  cwd: string;
  command: string;
  dead: boolean;
  exitCode: number;
  signal?: number;
  mode: string;
}

export interface SizeOwner {
  type: "size";
  owner: string;
  ownerName: string;
  mine: boolean;
  size: Size;
}

export type EndReason = "closed" | "server_gone" | "exited";

export type TabMessage =
  | Welcome
  | Layout
  | PaneState
  | SizeOwner
  | { type: "inputRefused"; offset: number; reason: string }
  | { type: "done"; id: number; error?: { code: string; error: string } }
  | { type: "notice"; code: string; text: string }
  | { type: "pong"; t: number }
  | { type: "clipboard"; pane: number; text: string }
  | { type: "ended"; reason: EndReason; exitCode?: number };

// To the server.

/** A side of a pane. */
export type Side = "left" | "right" | "up" | "down";

export type Op =
  | { op: "selectPane"; pane: number; direction?: Side }
  | { op: "movePane"; pane: number; with: number; direction: Side }
  | { op: "closePane" | "zoomPane" | "respawnPane" | "leaveMode" | "clearHistory"; pane: number }
  | { op: "resizePane"; pane: number; cols?: number; rows?: number }
  | { op: "splitPane"; pane: number; direction: Side }
  | { op: "swapPane"; pane: number; with: number }
  | { op: "selectWindow"; window: number }
  | { op: "newWindow" };

export type ClientMessage =
  | ({ type: "resize" } & Size)
  | { type: "takeSize" }
  | { type: "ping"; t: number }
  | { type: "scrollback"; pane: number; lines: number }
  | ({ type: "do"; id: number } & Op);

// Text frames of the watch socket.

/** A tab as /v1/sandboxes/:id/tabs has it. */
export interface Tab {
  id: string;
  title: string;
  named: boolean;
  order: number;
  state: "live" | "ended" | "gone";
  createdAt: string;
  viewers: number;
  cols: number;
  rows: number;
  user: string;
  cwd: string;
  foreground: string;
  foregroundSince: string | null;
  exitCode: number | null;
  bell: boolean;
  activityAt: string | null;
  plain: boolean;
  attachCommand: string;
  tmuxServer: string;
}

/** A tab that ended with its machine and can be revived. */
export interface SavedTab {
  id: string;
  title: string;
  order: number;
  user: string;
  cwd: string;
  lines: string;
  savedAt: string;
}

export type WatchMessage =
  | { type: "welcome"; protocol: number; version: string }
  | { type: "tabs"; items: Tab[]; revivable: SavedTab[]; state: string; sandbox: unknown }
  | { type: "tab"; item: Tab }
  | { type: "tabGone"; id: string; reason: EndReason }
  | { type: "revivable"; items: SavedTab[] }
  | { type: "settings"; settings: unknown }
  | { type: "sandbox"; state: string }
  | { type: "pong"; t: number };
