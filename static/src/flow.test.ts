import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Acks } from "./flow";

test("what is parsed in one go is acked once a pane", async () => {
  const sent: [number, number][] = [];
  const acks = new Acks((pane, offset) => sent.push([pane, offset]));
  acks.parsed(1, 10);
  acks.parsed(2, 5);
  acks.parsed(1, 30);
  assert.deepEqual(sent, []);
  await Promise.resolve();
  assert.deepEqual(sent, [[1, 30], [2, 5]]);
  acks.parsed(1, 40);
  await Promise.resolve();
  assert.deepEqual(sent.at(-1), [1, 40]);
});

test("acks of a link that is gone are not sent", async () => {
  const sent: number[] = [];
  const acks = new Acks((_pane, offset) => sent.push(offset));
  acks.parsed(1, 10);
  acks.reset();
  await Promise.resolve();
  assert.deepEqual(sent, []);
});

test("a hidden tab acks slowly, and at once when it is shown", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const sent: number[] = [];
    const acks = new Acks((_pane, offset) => sent.push(offset));
    acks.setSlow(true);
    acks.parsed(1, 10);
    await Promise.resolve();
    mock.timers.tick(200);
    acks.parsed(1, 20);
    assert.deepEqual(sent, []);
    mock.timers.tick(100);
    assert.deepEqual(sent, [20]);
    acks.parsed(1, 30);
    acks.setSlow(false);
    assert.deepEqual(sent, [20, 30]);
    acks.parsed(1, 40);
    await Promise.resolve();
    assert.deepEqual(sent, [20, 30, 40]);
  } finally {
    mock.timers.reset();
  }
});
