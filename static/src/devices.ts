// The page of /devices: rename, log out, add one by QR code.

import { Api, ApiError, readServer } from "./api";
import { ask } from "./dialog";
import { copyText } from "./clipboard";
import { element, find } from "./dom";
import { duration, strings } from "./strings";

const api = new Api(readServer());
const root = find("[data-testid=devices]");
const error = find("[data-testid=error]", root);

async function attempt(run: () => Promise<void>): Promise<void> {
  error.hidden = true;
  try {
    await run();
  } catch (failure) {
    if (failure instanceof ApiError && failure.status === 401) {
      location.assign(api.page("/login"));
      return;
    }
    error.textContent = failure instanceof ApiError ? failure.message : strings.failed(strings.changeFailed, strings.noAnswer);
    error.hidden = false;
  }
}

function rename(row: HTMLElement, id: string): void {
  const name = find(".name", row);
  const before = name.textContent ?? "";
  const input = element("input", { aria: { label: strings.deviceName } });
  input.value = before;
  input.maxLength = 64;
  let over = false;
  const finish = (keep: boolean): void => {
    if (over) return;
    over = true;
    const after = input.value.trim();
    input.replaceWith(name);
    if (!keep || after === "" || after === before) return;
    name.textContent = after;
    void attempt(async () => {
      try {
        await api.renameDevice(id, after);
      } catch (failure) {
        name.textContent = before;
        throw failure;
      }
    });
  };
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") finish(true);
    if (event.key === "Escape") finish(false);
  });
  input.addEventListener("blur", () => finish(true));
  name.replaceWith(input);
  input.focus();
  input.select();
}

async function logout(row: HTMLElement, id: string): Promise<void> {
  const name = find(".name", row).textContent ?? "";
  if (!(await ask({ text: strings.logoutDeviceQuestion(name), keep: strings.cancel, act: strings.logOut }))) return;
  await attempt(async () => {
    await api.removeDevice(id);
    if (row.dataset.current === "true") location.assign(api.page("/login"));
    else row.remove();
  });
}

async function logoutOthers(): Promise<void> {
  if (!(await ask({ text: strings.logoutOthersQuestion, keep: strings.cancel, act: strings.logOut }))) return;
  await attempt(async () => {
    await api.removeOtherDevices();
    for (const row of root.querySelectorAll("[data-device]:not([data-current=true])")) row.remove();
  });
}

async function add(): Promise<void> {
  await attempt(async () => {
    const { address, qr, expiresAt, localOnly } = await api.addDevice();
    // The server's own markup, parsed as an image: nothing in it can run.
    const parsed = new DOMParser().parseFromString(qr, "image/svg+xml").documentElement;
    find("[data-testid=qr]", root).replaceChildren(document.importNode(parsed, true));
    find("[data-testid=login-address]", root).textContent = address;
    find("[data-testid=expires]", root).textContent = duration(Date.parse(expiresAt) - Date.now() + 1_000);
    find("[data-testid=local-only]", root).hidden = !localOnly;
    const section = find("[data-testid=add]", root);
    section.hidden = false;
    section.scrollIntoView({ block: "nearest" });
  });
}

root.addEventListener("click", (event) => {
  const action = (event.target as Element).closest<HTMLElement>("[data-action]");
  if (!action) return;
  const row = action.closest<HTMLElement>("[data-device]");
  const id = row?.dataset.device ?? "";
  switch (action.dataset.action) {
    case "rename":
      if (row) rename(row, id);
      break;
    case "logout":
      if (row) void logout(row, id);
      break;
    case "logout-others":
      void logoutOthers();
      break;
    case "add":
      void add();
      break;
    case "copy":
      void copyText(find("[data-testid=login-address]", root).textContent ?? "").then((copied) => {
        if (copied) action.textContent = strings.copied;
      });
  }
});

const format = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
for (const time of root.querySelectorAll("time")) {
  const at = new Date(time.dateTime);
  if (!Number.isNaN(at.getTime())) time.textContent = format.format(at);
}
