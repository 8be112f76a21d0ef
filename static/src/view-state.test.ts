import assert from "node:assert/strict";
import { test } from "node:test";
import { viewBanner, type Situation } from "./view-state";
import { closeCode } from "./wire";

const act = { retry: () => {}, reload: () => {}, takeSize: () => {}, dismissPlain: () => {} };
const live: Situation = { ended: false, state: "live", link: { name: "open" }, online: true, waiting: 0, plain: false, now: 0 };
const lost = (code = 1006): Situation => ({
  ...live,
  state: "reconnecting",
  link: { name: "waiting", until: 2_400, tries: 1, code },
});
const labels = (situation: Situation): string[] => viewBanner(situation, act)?.actions?.map(({ label }) => label) ?? [];

test("a live view says nothing", () => {
  assert.equal(viewBanner(live, act), undefined);
  assert.equal(viewBanner({ ...live, state: "connecting", link: { name: "connecting" } }, act), undefined);
});

test("a lost link says when it is tried again, what waits, and offers to try now", () => {
  const banner = viewBanner({ ...lost(), waiting: 12 }, act);
  assert.equal(banner?.text, "Reconnecting in 3 s");
  assert.equal(banner?.detail, "12 keys waiting");
  assert.deepEqual(labels(lost()), ["Retry now"]);
  assert.equal(viewBanner({ ...lost(), online: false }, act)?.text, "This device is offline");
  assert.equal(viewBanner({ ...live, state: "reconnecting", link: { name: "connecting" } }, act)?.text, "Reconnecting");
});

test("a page too old for the server offers a reload and forces none", () => {
  assert.deepEqual(labels(lost(closeCode.protocolVersion)), ["Reload"]);
});

test("a link that never opened is told too", () => {
  assert.equal(viewBanner({ ...lost(), state: "connecting" }, act)?.text, "Reconnecting in 3 s");
});

test("another device's size is named and can be taken", () => {
  const situation = { ...live, foreignTo: "iPhone" };
  assert.equal(viewBanner(situation, act)?.text, "Sized for iPhone");
  assert.deepEqual(labels(situation), ["Use this size"]);
  assert.equal(viewBanner({ ...lost(), foreignTo: "iPhone" }, act)?.kind, "link");
});

test("a plain shell says that it will not survive", () => {
  assert.match(viewBanner({ ...live, plain: true }, act)?.text ?? "", /will not survive/);
});

test("a view that ended has its panel and no line", () => {
  assert.equal(viewBanner({ ...lost(), ended: true }, act), undefined);
});
