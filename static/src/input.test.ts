import assert from "node:assert/strict";
import { test } from "node:test";
import { InputStream, isReport, maxWaitingBytes, maxWaitingMs } from "./input";
import { maxInputBytes } from "./wire";

interface Sent {
  type: number;
  pane: number;
  offset: number;
  flags?: number;
  text: string;
}

function parse(data: Uint8Array): Sent {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const paste = data[0] === 0x12;
  return {
    type: data[0],
    pane: view.getUint32(1),
    offset: Number(view.getBigUint64(5)),
    ...(paste ? { flags: data[13] } : {}),
    text: Buffer.from(data.subarray(paste ? 14 : 13)).toString(),
  };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function setup() {
  const sent: Sent[] = [];
  const clock = { now: 0 };
  const input = new InputStream(
    (data) => sent.push(parse(data)),
    () => clock.now,
  );
  return { sent, clock, input, texts: () => sent.map(({ offset, text }) => `${offset}:${text}`) };
}

test("keys go at once while the link is up, at growing offsets", () => {
  const { input, texts } = setup();
  input.resume(0);
  input.release();
  input.type(3, bytes("ls"));
  input.type(3, bytes("é"));
  input.type(3, bytes("\r"));
  assert.deepEqual(texts(), ["0:ls", "2:é", "4:\r"]);
});

test("nothing goes before the screen is there", () => {
  const { input, sent, texts } = setup();
  input.type(3, bytes("l"));
  input.type(3, bytes("s"));
  input.resume(0);
  assert.equal(sent.length, 0);
  assert.equal(input.waiting, 2);
  input.release();
  assert.deepEqual(texts(), ["0:l", "1:s"]);
  assert.equal(input.waiting, 0);
});

test("after a reconnect only what the server has not taken is sent again", () => {
  const { input, sent, texts } = setup();
  input.resume(0);
  input.release();
  input.type(3, bytes("abc"));
  input.type(3, bytes("def"));
  input.type(3, bytes("g"));
  input.acked(3);
  input.hold();
  sent.length = 0;
  input.type(3, bytes("h"));
  input.resume(5);
  input.release();
  assert.deepEqual(texts(), ["5:f", "6:g", "7:h"]);
});

test("a server that counts less than it had acked is not given the rest twice", () => {
  const { input, sent, texts } = setup();
  input.resume(0);
  input.release();
  input.type(3, bytes("abc"));
  input.acked(3);
  input.type(3, bytes("de"));
  input.hold();
  sent.length = 0;
  input.resume(0); // a new tmux, which knows nothing of this stream
  input.release();
  input.type(3, bytes("f"));
  assert.deepEqual(texts(), ["0:de", "2:f"]);
});

test("a server that took more than it could ack is believed", () => {
  const { input, sent, texts } = setup();
  input.resume(0);
  input.release();
  input.type(3, bytes("abc"));
  input.hold();
  sent.length = 0;
  input.resume(3);
  input.release();
  input.type(3, bytes("d"));
  assert.deepEqual(texts(), ["3:d"]);
});

test("a paste is cut between characters, its last piece marked, and resent from its begin", () => {
  const { input, sent } = setup();
  input.resume(0);
  input.release();
  const text = "日".repeat(10_000); // three bytes each: 16384 is in the middle of one
  input.paste(7, bytes(text));
  assert.equal(sent.map((piece) => piece.text).join(""), text);
  assert.deepEqual(sent.map((piece) => [piece.type, piece.pane, piece.flags]), [[0x12, 7, 0], [0x12, 7, 1]]);
  assert.ok(sent.every((piece) => Buffer.byteLength(piece.text) <= maxInputBytes));
  assert.equal(sent[1].offset, Buffer.byteLength(sent[0].text));
  const before = [...sent];
  sent.length = 0;
  input.hold();
  input.resume(0);
  input.release();
  assert.deepEqual(sent, before);
  input.acked(30_000);
  input.hold();
  sent.length = 0;
  input.resume(30_000);
  input.release();
  assert.deepEqual(sent, []);
});

test("a long text typed at once is cut to frames", () => {
  const { input, sent } = setup();
  input.resume(0);
  input.release();
  input.type(3, new Uint8Array(maxInputBytes + 1));
  assert.deepEqual(sent.map((piece) => piece.text.length), [maxInputBytes, 1]);
});

test("more than a bound is refused while there is no link, and nothing of it kept", () => {
  const { input, texts } = setup();
  assert.ok(input.type(3, new Uint8Array(maxWaitingBytes - 1)));
  assert.ok(!input.type(3, bytes("ab")));
  assert.ok(!input.paste(3, bytes("ab")));
  assert.ok(input.type(3, bytes("c")));
  input.resume(0);
  input.release();
  assert.equal(texts().at(-1), `${maxWaitingBytes - 1}:c`);
});

test("input that waited too long is dropped as a whole, and the stream goes on", () => {
  const { input, clock, sent, texts } = setup();
  input.resume(0);
  input.release();
  input.type(3, bytes("a"));
  input.acked(1);
  input.hold();
  input.type(3, bytes("b"));
  clock.now = maxWaitingMs / 2;
  input.type(3, bytes("c"));
  clock.now = maxWaitingMs - 1;
  assert.equal(input.expire(), 0);
  clock.now = maxWaitingMs;
  assert.equal(input.expire(), 2);
  assert.equal(input.waiting, 0);
  sent.length = 0;
  input.resume(1);
  input.release();
  input.type(3, bytes("d"));
  assert.deepEqual(texts(), ["1:d"]);
});

test("waiting input counts keystrokes and pastes, not pieces", () => {
  const { input } = setup();
  input.type(3, bytes("é"));
  input.paste(3, bytes("several words"));
  assert.equal(input.waiting, 2);
});

test("stream ids are what the protocol wants", () => {
  const ids = new Set(Array.from({ length: 50 }, () => new InputStream(() => {}).id));
  assert.equal(ids.size, 50);
  for (const id of ids) assert.match(id, /^[a-z0-9]{8,32}$/);
});

test("mouse and focus reports are known, keys are not", () => {
  for (const report of ["\x1b[<0;3;4M", "\x1b[<0;3;4m", "\x1b[M !!", "\x1b[I", "\x1b[O", "\x1b[32;10;4M"]) {
    assert.ok(isReport(report), JSON.stringify(report));
  }
  for (const key of ["a", "\x1b", "\x1b[A", "\x1bOA", "\x1b[1;5A", "\x1b[13;2u", "\x1b[3~"]) {
    assert.ok(!isReport(key), JSON.stringify(key));
  }
});
