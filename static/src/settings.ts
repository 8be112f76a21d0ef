// What the person set up: for themselves, on the server, and for this device alone, in its storage, which comes first.
// The table is the twin of the one in sandbox/settings.go.

export interface Values {
  appearance: "system" | "light" | "dark";
  lightScheme: string;
  darkScheme: string;
  minimumContrast: number;
  fontFamily: string; // "": the one of css/tokens.css
  fontSize: number;
  lineHeight: number;
  cursorStyle: "block" | "bar" | "underline";
  cursorBlink: boolean;
  padding: number;
  scrollback: number;
  statusBar: boolean;
  screenReader: boolean;
  copyOnSelect: boolean;
  keyPreset: "default" | "vscode" | "iterm2" | "tmux";
  keys: Record<string, string[]>; // by command, instead of the preset's
  optionAsMeta: boolean;
  visualBell: boolean;
  audibleBell: boolean;
  notifications: boolean;
  quiet: boolean;
}

export type SettingName = keyof Values;

interface Setting<T> {
  fallback: T;
  /** The value, if it is one: both the server and the storage may have been written by another version. */
  read(value: unknown): T | undefined;
}

const boolean = (fallback: boolean): Setting<boolean> => ({
  fallback,
  read: (value) => (typeof value === "boolean" ? value : undefined),
});

const number = (fallback: number, least: number, most: number): Setting<number> & Bounds => ({
  fallback,
  least,
  most,
  read: (value) => (typeof value === "number" && value >= least && value <= most ? value : undefined),
});

interface Bounds {
  least: number;
  most: number;
}

const oneOf = <T extends string>(...values: T[]): Setting<T> & { values: T[] } => ({
  fallback: values[0],
  values,
  read: (value) => (values.includes(value as T) ? (value as T) : undefined),
});

const text = (fallback: string, form: RegExp): Setting<string> => ({
  fallback,
  read: (value) => (typeof value === "string" && form.test(value) ? value : undefined),
});

const keys: Setting<Record<string, string[]>> = {
  fallback: {},
  read(value) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const entries = Object.entries(value as Record<string, unknown>);
    const right = ([, all]: [string, unknown]): boolean => Array.isArray(all) && all.every((each) => typeof each === "string");
    return entries.every(right) ? (Object.fromEntries(entries) as Record<string, string[]>) : undefined;
  },
};

export const settings = {
  appearance: oneOf("system", "light", "dark"),
  lightScheme: text("tabs-light", /^[a-z0-9-]{1,40}$/),
  darkScheme: text("tabs-dark", /^[a-z0-9-]{1,40}$/),
  minimumContrast: number(4.5, 1, 21),
  fontFamily: text("", /^[\p{L}\p{N} ,._'"-]{0,200}$/u),
  fontSize: number(13, 6, 40),
  lineHeight: number(1.2, 1, 2),
  cursorStyle: oneOf("block", "bar", "underline"),
  cursorBlink: boolean(false),
  padding: number(4, 0, 40),
  scrollback: number(10_000, 0, 50_000),
  statusBar: boolean(true),
  screenReader: boolean(false),
  copyOnSelect: boolean(false),
  keyPreset: oneOf("default", "vscode", "iterm2", "tmux"),
  keys,
  optionAsMeta: boolean(false),
  visualBell: boolean(true),
  audibleBell: boolean(false),
  notifications: boolean(false),
  quiet: boolean(false),
} satisfies { [K in SettingName]: Setting<Values[K]> };

/** Where a value comes from. */
export type Origin = "default" | "user" | "device";

const deviceKey = "tabs.settings";
// Where earlier versions kept what is a device's own.
const formerKeys: Partial<Record<SettingName, [key: string, read: (kept: string) => unknown]>> = {
  fontSize: ["tabs.fontSize", Number],
  statusBar: ["tabs.statusBar", (kept) => kept !== "off"],
  screenReader: ["tabs.screenReader", (kept) => kept === "on"],
};

export interface SettingsHost {
  storage: Storage | undefined;
  /** Saves for the person; null is the default. */
  save(changes: Record<string, unknown>): Promise<unknown>;
  /** The server did not take a change, which is undone. */
  failed(error: unknown): void;
}

type Raw = Record<string, unknown>;

export class Settings {
  private user: Partial<Values> = {};
  private device: Partial<Values> = {};
  private readonly pending: Partial<Record<SettingName, unknown>> = {}; // on the way to the server, null: its default
  private readonly listeners = new Set<(changed: ReadonlySet<SettingName>) => void>();

  constructor(
    private readonly host: SettingsHost,
    user: unknown,
  ) {
    this.user = readAll(user);
    this.device = readDevice(host.storage);
  }

  get<K extends SettingName>(name: K): Values[K] {
    return this.device[name] ?? this.ofUser(name) ?? (settings[name].fallback as Values[K]);
  }

  origin(name: SettingName): Origin {
    if (this.device[name] !== undefined) return "device";
    return this.ofUser(name) === undefined ? "default" : "user";
  }

  /** Calls back with what changed, here, on another device, or in another page of this one. */
  watch(changed: (names: ReadonlySet<SettingName>) => void, signal?: AbortSignal): void {
    this.listeners.add(changed);
    signal?.addEventListener("abort", () => this.listeners.delete(changed));
  }

  /** Sets a value for the person, at once here and soon elsewhere; undefined is the default. */
  async set<K extends SettingName>(name: K, value: Values[K] | undefined): Promise<void> {
    const wanted = value === undefined ? null : value;
    this.change(() => {
      this.pending[name] = wanted;
      this.writeDevice(name, undefined);
    });
    let failure: unknown;
    try {
      await this.host.save({ [name]: wanted });
    } catch (error) {
      failure = error;
    }
    if (this.pending[name] !== wanted) return; // changed again meanwhile
    this.change(() => {
      delete this.pending[name];
      // The server tells of it too, perhaps later.
      if (failure === undefined) this.user = { ...this.user, [name]: value };
    });
    if (failure !== undefined) this.host.failed(failure);
  }

  /** Sets a value for this device alone; undefined is what the person has everywhere. */
  setHere<K extends SettingName>(name: K, value: Values[K] | undefined): void {
    this.change(() => this.writeDevice(name, value));
  }

  /** The server says what the person has set up. */
  load(user: unknown): void {
    this.change(() => (this.user = readAll(user)));
  }

  /** Another page of this device has written to the storage. */
  reload(): void {
    this.change(() => (this.device = readDevice(this.host.storage)));
  }

  private ofUser<K extends SettingName>(name: K): Values[K] | undefined {
    const pending = this.pending[name];
    if (pending !== undefined) return pending === null ? undefined : (pending as Values[K]);
    return this.user[name];
  }

  private writeDevice<K extends SettingName>(name: K, value: Values[K] | undefined): void {
    if (value === undefined && this.device[name] === undefined) return;
    // Other pages may have written meanwhile.
    const device: Partial<Values> = readDevice(this.host.storage);
    if (value === undefined) delete device[name];
    else device[name] = value;
    this.device = device;
    try {
      this.host.storage?.setItem(deviceKey, JSON.stringify(device));
      const former = formerKeys[name];
      if (former) this.host.storage?.removeItem(former[0]);
    } catch {
      // The storage is full: the value holds until the page is left.
    }
  }

  private change(run: () => void): void {
    const names = Object.keys(settings) as SettingName[];
    const before = names.map((name) => JSON.stringify(this.get(name)));
    run();
    const changed = new Set(names.filter((name, i) => JSON.stringify(this.get(name)) !== before[i]));
    if (changed.size > 0) for (const listener of this.listeners) listener(changed);
  }
}

/** What is right in an object of settings. */
function readAll(values: unknown): Partial<Values> {
  const all: Raw = {};
  if (typeof values !== "object" || values === null) return all;
  for (const [name, setting] of Object.entries(settings)) {
    if (!Object.hasOwn(values, name)) continue;
    const value = setting.read((values as Raw)[name]);
    if (value !== undefined) all[name] = value;
  }
  return all as Partial<Values>;
}

function readDevice(storage: Storage | undefined): Partial<Values> {
  if (!storage) return {};
  const kept: Raw = {};
  for (const [name, [key, read]] of Object.entries(formerKeys)) {
    const former = storage.getItem(key);
    if (former !== null) kept[name] = read(former);
  }
  return { ...readAll(kept), ...readAll(parse(storage.getItem(deviceKey))) };
}

export function parse(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
}
