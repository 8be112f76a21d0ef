import assert from "node:assert/strict";
import { test } from "node:test";
import { Settings, type SettingName, type SettingsHost } from "./settings";

/** A storage and a server that answers when told to. */
class World implements SettingsHost {
  readonly kept = new Map<string, string>();
  readonly failures: unknown[] = [];
  readonly asked: { changes: Record<string, unknown>; answer: () => void; refuse: (error: unknown) => void }[] = [];

  get storage(): Storage {
    const { kept } = this;
    return {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    } as unknown as Storage;
  }

  save(changes: Record<string, unknown>): Promise<unknown> {
    return new Promise((answer, refuse) => this.asked.push({ changes, answer: () => answer({}), refuse }));
  }

  failed(error: unknown): void {
    this.failures.push(error);
  }
}

function watched(settings: Settings): SettingName[][] {
  const seen: SettingName[][] = [];
  settings.watch((changed) => seen.push([...changed]));
  return seen;
}

test("the device comes before the person, the person before the default", () => {
  const world = new World();
  world.kept.set("tabs.settings", JSON.stringify({ fontSize: 20 }));
  const settings = new Settings(world, { fontSize: 15, copyOnSelect: true });
  assert.equal(settings.get("fontSize"), 20);
  assert.equal(settings.origin("fontSize"), "device");
  assert.equal(settings.get("copyOnSelect"), true);
  assert.equal(settings.origin("copyOnSelect"), "user");
  assert.equal(settings.get("scrollback"), 10_000);
  assert.equal(settings.origin("scrollback"), "default");
  settings.setHere("fontSize", undefined);
  assert.equal(settings.get("fontSize"), 15);
  assert.equal(world.kept.get("tabs.settings"), "{}");
});

test("what is wrong is not there", () => {
  const world = new World();
  world.kept.set("tabs.settings", `{"fontSize":"20","cursorStyle":"heart","keys":{"copy":"x"},"__proto__":{"quiet":true}}`);
  for (const user of [undefined, null, 5, [], "x", { fontSize: 1000, fontFamily: "x; y", appearance: ["dark"], keys: [] }]) {
    const settings = new Settings(world, user);
    assert.equal(settings.get("fontSize"), 13);
    assert.equal(settings.get("fontFamily"), "");
    assert.equal(settings.get("appearance"), "system");
    assert.equal(settings.get("cursorStyle"), "block");
    assert.equal(settings.get("quiet"), false);
    assert.deepEqual(settings.get("keys"), {});
  }
  world.kept.set("tabs.settings", "{");
  assert.equal(new Settings(world, {}).get("fontSize"), 13);
});

test("what earlier versions kept on the device stays", () => {
  const world = new World();
  world.kept.set("tabs.fontSize", "17");
  world.kept.set("tabs.statusBar", "off");
  world.kept.set("tabs.screenReader", "on");
  const settings = new Settings(world, {});
  assert.deepEqual([settings.get("fontSize"), settings.get("statusBar"), settings.get("screenReader")], [17, false, true]);
  settings.setHere("fontSize", undefined);
  assert.equal(settings.get("fontSize"), 13);
  assert.equal(new Settings(world, {}).get("statusBar"), false);
});

test("a change holds at once, and is undone when the server refuses it", async () => {
  const world = new World();
  const settings = new Settings(world, { lineHeight: 1.5 });
  const seen = watched(settings);
  const done = settings.set("lineHeight", 1.1);
  assert.equal(settings.get("lineHeight"), 1.1);
  settings.load({ lineHeight: 1.5 }); // sent before the server took the change
  assert.equal(settings.get("lineHeight"), 1.1);
  world.asked[0].refuse("no");
  await done;
  assert.equal(settings.get("lineHeight"), 1.5);
  assert.deepEqual(world.failures, ["no"]);
  assert.deepEqual(seen, [["lineHeight"], ["lineHeight"]]);
});

test("of many changes the last one stays, whatever the order of the answers", async () => {
  const world = new World();
  const settings = new Settings(world, {});
  const all = [14, 15, 16].map((size) => settings.set("fontSize", size));
  assert.deepEqual(world.asked.map(({ changes }) => changes.fontSize), [14, 15, 16]);
  world.asked[2].answer();
  world.asked[0].answer();
  world.asked[1].answer();
  await Promise.all(all);
  assert.equal(settings.get("fontSize"), 16);
});

test("back to the default", async () => {
  const world = new World();
  const settings = new Settings(world, { quiet: true });
  const done = settings.set("quiet", undefined);
  assert.deepEqual(world.asked[0].changes, { quiet: null });
  assert.equal(settings.get("quiet"), false);
  assert.equal(settings.origin("quiet"), "default");
  world.asked[0].answer();
  await done;
  assert.equal(settings.get("quiet"), false);
});

test("setting for the person takes this device's own away", () => {
  const world = new World();
  const settings = new Settings(world, {});
  settings.setHere("fontSize", 20);
  void settings.set("fontSize", 14);
  assert.equal(settings.get("fontSize"), 14);
  assert.equal(settings.origin("fontSize"), "user");
});

test("pages are told what changed, and only that", () => {
  const world = new World();
  const settings = new Settings(world, {});
  const seen = watched(settings);
  settings.load({ fontSize: 13 }); // the default
  settings.load({ fontSize: 14, cursorBlink: true });
  settings.load({ cursorBlink: true, fontSize: 14 });
  world.kept.set("tabs.settings", JSON.stringify({ fontSize: 9 }));
  settings.reload();
  assert.deepEqual(seen, [["fontSize", "cursorBlink"], ["fontSize"]]);
});
