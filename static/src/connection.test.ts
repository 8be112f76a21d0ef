import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { backoff, Connection, type LinkState } from "./connection";
import { closeCode } from "./wire";

/** A socket that does what the test says. */
class FakeSocket {
  readyState = 0;
  bufferedAmount = 0;
  binaryType = "";
  sent: string[] = [];
  closed = false;
  onopen?: (() => void) | null;
  onmessage?: ((event: { data: string | ArrayBuffer }) => void) | null;
  onclose?: ((event: { code: number }) => void) | null;

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  end(code: number): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }

  send(data: string): void {
    this.sent.push(data);
  }

  close(): void {
    this.closed = true;
  }
}

let sockets: FakeSocket[];
let states: LinkState[];
let link: Connection;

const latest = (): FakeSocket => sockets.at(-1)!;
const connect = (): FakeSocket => {
  latest().open();
  latest().say({ type: "welcome" });
  return latest();
};
const answerPings = (socket: FakeSocket): void => {
  socket.send = (data) => {
    socket.sent.push(data);
    const message = JSON.parse(data) as { type: string; t: number };
    if (message.type === "ping") socket.say({ type: "pong", t: message.t });
  };
};

/** Lets time pass in steps: a tick runs everything that is due at its end. */
const pass = (milliseconds: number): void => {
  for (let i = 0; i < milliseconds; i += 100) mock.timers.tick(100);
};

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  (globalThis as { WebSocket?: unknown }).WebSocket = { OPEN: 1 };
  sockets = [];
  states = [];
  link = new Connection({
    url: "ws://test",
    hello: () => ({ type: "hello" }),
    onText: () => {},
    onState: (state) => states.push(state),
    dial: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    random: () => 1,
  });
  link.start();
});

afterEach(() => {
  link.dispose();
  mock.timers.reset();
});

test("the first frame is hello, and the first answer opens the link", () => {
  latest().open();
  assert.deepEqual(latest().sent, ['{"type":"hello"}']);
  assert.equal(link.state.name, "connecting");
  latest().say({ type: "welcome" });
  assert.equal(link.state.name, "open");
});

test("delays grow from half a second to 16, with jitter", () => {
  assert.deepEqual([0, 1, 2, 5, 6, 60].map((tries) => backoff(tries, 1)), [500, 1000, 2000, 16_000, 16_000, 16_000]);
  assert.equal(backoff(2, 0), 1000);
});

test("a lost link is dialled again, later each time until one has held", () => {
  connect();
  const delays: number[] = [];
  for (let i = 0; i < 4; i++) {
    latest().end(1006);
    assert.equal(link.state.name, "waiting");
    if (link.state.name === "waiting") delays.push(link.state.until - Date.now());
    mock.timers.tick(delays.at(-1)!);
    assert.equal(link.state.name, "connecting");
  }
  assert.deepEqual(delays, [500, 1000, 2000, 4000]);
  answerPings(connect());
  pass(6_000);
  latest().end(closeCode.serverRestarts);
  assert.equal(link.state.name === "waiting" && link.state.until - Date.now(), 500);
});

test("a server that closes at once is not hammered", () => {
  for (const want of [500, 1000, 2000]) {
    connect();
    latest().end(closeCode.badFrame);
    assert.equal(link.state.name === "waiting" && link.state.until - Date.now(), want);
    mock.timers.tick(want);
  }
});

test("a socket that is open but dead is noticed within 10 s", () => {
  const socket = connect();
  answerPings(socket);
  pass(20_000);
  assert.equal(link.state.name, "open");
  socket.send = () => {}; // from here on it swallows everything
  pass(10_000);
  assert.notEqual(link.state.name, "open");
  assert.ok(socket.closed);
});

test("a socket on which a large paste is still moving is not dead", () => {
  const socket = connect();
  let buffered = 1_000_000;
  Object.defineProperty(socket, "bufferedAmount", { get: () => (buffered -= 1000) });
  pass(30_000);
  assert.equal(link.state.name, "open");
});

test("after a wake a dead link is noticed within 2 s, and a waiting one dials at once", () => {
  connect();
  mock.timers.tick(1_000);
  latest().sent = [];
  link.check();
  mock.timers.tick(2_000);
  assert.equal(link.state.name, "waiting");
  const count = sockets.length;
  link.check();
  assert.equal(sockets.length, count + 1);
});

test("a socket that does not even open is given up", () => {
  mock.timers.tick(10_000);
  assert.equal(link.state.name, "waiting");
  assert.ok(sockets[0].closed);
});

test("some ends are for good, until the person says otherwise", () => {
  for (const code of [closeCode.loggedOut, closeCode.tabGone, closeCode.serverGone]) {
    connect();
    latest().end(code);
    assert.deepEqual(link.state, { name: "closed", code });
    const count = sockets.length;
    mock.timers.tick(120_000);
    link.check();
    assert.equal(sockets.length, count);
    link.retry();
    assert.equal(sockets.length, count + 1);
  }
});

test("a page that is too old asks seldom", () => {
  connect();
  latest().end(closeCode.protocolVersion);
  assert.ok(link.state.name === "waiting" && link.state.until - Date.now() >= 30_000);
});

test("what a given-up socket still says is not heard", () => {
  const old = connect();
  old.end(1006);
  mock.timers.tick(500);
  old.say({ type: "welcome" });
  assert.equal(link.state.name, "connecting");
  old.end(closeCode.loggedOut);
  assert.equal(link.state.name, "connecting");
});

test("a page put away closes its socket and dials when it is back", () => {
  const socket = connect();
  link.pause();
  assert.ok(socket.closed);
  mock.timers.tick(600_000);
  assert.equal(sockets.length, 1);
  link.check();
  assert.equal(sockets.length, 2);
});
