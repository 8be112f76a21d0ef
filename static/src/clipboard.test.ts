import assert from "node:assert/strict";
import { test } from "node:test";
import { clipboardText, CopyLimit } from "./clipboard";

test("OSC 52 is taken with an empty target too, as tmux sends it", () => {
  for (const target of ["", "c", "p", "s0"]) assert.equal(clipboardText(`${target};aGk=`), "hi", target);
  assert.equal(clipboardText("c;5pel5pys"), "日本");
});

test("questions and what is not base64 are not taken", () => {
  for (const data of ["c;?", "c;", "c", "x;aGk=", "c;***", `c;${"A".repeat(2_000_000)}`]) {
    assert.equal(clipboardText(data), undefined, data.slice(0, 20));
  }
});

test("a program cannot copy without end", () => {
  const clock = { now: 0 };
  const limit = new CopyLimit(() => clock.now);
  assert.equal(Array.from({ length: 20 }, () => limit.take()).filter(Boolean).length, 5);
  clock.now = 1_000;
  assert.deepEqual([limit.take(), limit.take(), limit.take()], [true, true, false]);
});
