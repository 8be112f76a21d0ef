// One websocket that is kept: hello, heartbeat, reconnecting. It knows nothing of what the frames mean.

import { closeCode } from "./wire";

export type LinkState =
  | { name: "connecting" }
  | { name: "open" }
  /** Lost; the next try is at `until` (milliseconds as Date.now). `code` is the last close code, 1006 for a lost link. */
  | { name: "waiting"; until: number; tries: number; code: number }
  /** Over for good: the server said why. */
  | { name: "closed"; code: number };

export interface ConnectionConfig {
  url: string;
  /** Makes the first frame of each attempt. */
  hello: () => object;
  onText: (message: { type: string } & Record<string, unknown>) => void;
  onBinary?: (data: ArrayBuffer) => void;
  onState: (state: LinkState) => void;
  onRtt?: (milliseconds: number) => void;
  dial?: (url: string) => WebSocket;
  random?: () => number;
}

const firstDelayMs = 500;
const maxDelayMs = 16_000;
const slowDelayMs = 30_000;
// A link counts as good, and the delays begin anew, when it lasted this long; else a server that takes a socket and
// closes it at once would be hammered.
const goodAfterMs = 5_000;
const connectTimeoutMs = 10_000;
// A dead socket is noticed after at most pingEveryMs + pongTimeoutMs = 8 s.
const pingEveryMs = 4_000;
const pongTimeoutMs = 4_000;
const wakeTimeoutMs = 2_000;
// Sockets of tabs nobody looks at are looked after less; Connection.check makes up for it when one is shown.
const idlePingEveryMs = 15_000;

const finalCodes = new Set<number>([
  closeCode.loggedOut,
  closeCode.tabGone,
  closeCode.serverGone,
]);
// Trying again soon would not help, but the server may be changed back, or others may leave.
const slowCodes = new Set<number>([closeCode.protocolVersion, closeCode.tooManyViewers]);

/** The delay before try number `tries` (from 0), between half and all of an exponential step. */
export function backoff(tries: number, random: number): number {
  const step = Math.min(maxDelayMs, firstDelayMs * 2 ** tries);
  return step * (0.5 + random / 2);
}

export class Connection {
  state: LinkState = { name: "connecting" };
  private socket?: WebSocket;
  private timer?: ReturnType<typeof setTimeout>;
  private tries = 0;
  private openedAt = 0;
  private heardAt = 0;
  private buffered = 0;
  private idle = false;
  private disposed = false;

  constructor(private readonly config: ConnectionConfig) {}

  start(): void {
    this.dial();
  }

  send(data: Uint8Array | object): boolean {
    if (this.state.name !== "open" || this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(data instanceof Uint8Array ? (data as Uint8Array<ArrayBuffer>) : JSON.stringify(data));
    return true;
  }

  /** Tries at once, also where the server had said that it is over. */
  retry(): void {
    if (this.disposed || this.state.name === "open" || this.state.name === "connecting") return;
    this.dial();
  }

  /** After a moment in which the link may have died unseen: sleep, another network, a page brought back. */
  check(): void {
    if (this.state.name === "waiting") this.retry();
    else if (this.state.name === "open") this.ping(wakeTimeoutMs);
  }

  setIdle(idle: boolean): void {
    if (this.idle === idle) return;
    this.idle = idle;
    if (!idle) this.check();
  }

  /** Gives the socket up and dials anew: what came over it cannot be trusted. */
  restart(): void {
    if (this.state.name === "open") this.lost(1006);
  }

  /** Gives the socket up without dialling: the page is put away. retry or check go on. */
  pause(): void {
    if (this.disposed || this.state.name === "closed") return;
    this.drop(closeCode.normal);
    this.setState({ name: "waiting", until: Infinity, tries: 0, code: closeCode.goingAway });
  }

  dispose(): void {
    this.disposed = true;
    this.drop(closeCode.normal);
  }

  private dial(): void {
    this.drop();
    this.setState({ name: "connecting" });
    const dial = this.config.dial ?? ((url: string) => new WebSocket(url));
    const socket = dial(this.config.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.timer = setTimeout(() => this.lost(1006), connectTimeoutMs);
    socket.onopen = () => {
      if (socket === this.socket) socket.send(JSON.stringify(this.config.hello()));
    };
    socket.onmessage = (event) => {
      if (socket === this.socket) this.message(event.data as string | ArrayBuffer);
    };
    socket.onclose = (event) => {
      if (socket === this.socket) this.lost(event.code);
    };
  }

  private message(data: string | ArrayBuffer): void {
    this.heardAt = Date.now();
    if (typeof data !== "string") {
      this.config.onBinary?.(data);
      return;
    }
    const message = JSON.parse(data) as { type: string } & Record<string, unknown>;
    if (message.type === "pong") {
      this.config.onRtt?.(performance.now() - Number(message.t));
      return;
    }
    if (this.state.name !== "open") {
      this.openedAt = Date.now();
      this.setState({ name: "open" });
      this.ping(pongTimeoutMs);
    }
    this.config.onText(message);
  }

  private ping(timeoutMs: number): void {
    clearTimeout(this.timer);
    const sentAt = Date.now();
    this.buffered = this.socket?.bufferedAmount ?? 0;
    this.send({ type: "ping", t: performance.now() });
    this.timer = setTimeout(() => this.judge(sentAt), timeoutMs);
  }

  /** Something must have been heard since the ping; or a large paste is still on its way and moves. */
  private judge(sentAt: number): void {
    const buffered = this.socket?.bufferedAmount ?? 0;
    if (this.heardAt < sentAt && !(buffered > 0 && buffered < this.buffered)) {
      this.lost(1006);
      return;
    }
    const every = this.idle ? idlePingEveryMs : pingEveryMs;
    this.timer = setTimeout(() => this.ping(pongTimeoutMs), Math.max(0, every - (Date.now() - sentAt)));
  }

  private lost(code: number): void {
    this.drop();
    if (this.disposed) return;
    if (finalCodes.has(code)) {
      this.setState({ name: "closed", code });
      return;
    }
    if (this.openedAt > 0 && Date.now() - this.openedAt > goodAfterMs) this.tries = 0;
    this.openedAt = 0;
    const random = (this.config.random ?? Math.random)();
    const delay = slowCodes.has(code) ? slowDelayMs : backoff(this.tries, random);
    this.tries++;
    this.timer = setTimeout(() => this.dial(), delay);
    this.setState({ name: "waiting", until: Date.now() + delay, tries: this.tries, code });
  }

  /** Forgets the socket. A dead one is not waited for: its close handshake may take a minute. */
  private drop(code?: number): void {
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = undefined;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    socket.close(code);
  }

  private setState(state: LinkState): void {
    this.state = state;
    this.config.onState(state);
  }
}
