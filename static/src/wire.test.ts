import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encodeAck, encodeInput, encodePaste, FrameError, frame, pasteFlag } from "./wire";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const buffer = (text: string): ArrayBuffer => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex")).buffer;

test("decode takes frames of the server apart", () => {
  assert.deepEqual(decode(buffer("01 00000003 0000000000000102 6869")), {
    type: frame.output,
    pane: 3,
    offset: 0x102,
    data: Uint8Array.of(0x68, 0x69),
  });
  assert.deepEqual(decode(buffer("02 00000003 0000000000000102 0084 0028 07 41")), {
    type: frame.snapshot,
    pane: 3,
    offset: 0x102,
    size: { cols: 132, rows: 40 },
    flags: 7,
    data: Uint8Array.of(0x41),
  });
  assert.deepEqual(decode(buffer("03 00000003 0000000000000102 0084 0028")), {
    type: frame.resize,
    pane: 3,
    offset: 0x102,
    size: { cols: 132, rows: 40 },
  });
  assert.deepEqual(decode(buffer("04 0000000000000102")), { type: frame.inputAck, offset: 0x102 });
});

test("offsets above 32 bits are exact", () => {
  const offset = 2 ** 45 + 7;
  assert.deepEqual(decode(buffer("04 0000200000000007")), { type: frame.inputAck, offset });
  assert.equal(hex(encodeAck(1, offset)), "13000000010000200000000007");
});

test("decode refuses what is no frame", () => {
  for (const [name, text] of Object.entries({
    empty: "",
    "output without an offset": "01 00000003 00000000",
    "snapshot without flags": "02 00000003 0000000000000102 0084 0028",
    "resize without rows": "03 00000003 0000000000000102 0084",
    "inputAck cut off": "04 00000000000001",
    "unknown type": "7f 00000000000000000000000000000000",
    "a frame of ours": "11 00000003 0000000000000102 68",
  })) {
    assert.throws(() => decode(buffer(text)), FrameError, name);
  }
});

test("encode writes frames of the page", () => {
  assert.equal(hex(encodeInput(3, 0x102, Uint8Array.of(0x68, 0x69))), "110000000300000000000001026869");
  assert.equal(hex(encodePaste(3, 0x102, 0, Uint8Array.of(0x68))), "120000000300000000000001020068");
  assert.equal(hex(encodePaste(3, 0x102, pasteFlag.last, new Uint8Array())), "1200000003000000000000010201");
  assert.equal(hex(encodeAck(0xffffffff, 0)), "13ffffffff0000000000000000");
});
