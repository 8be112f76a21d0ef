// WebGL where it helps: for what is visible, on machines that have it in hardware. Chromium has 16 contexts a process and
// takes the oldest away; the DOM renderer of xterm.js is the fallback, and the better one on touch screens.

import { WebglAddon } from "@xterm/addon-webgl";
import type { Terminal } from "@xterm/xterm";

// Asking takes tens of milliseconds where the answer is no, before the first paint: a reload need not ask again.
const unusableKey = "tabs.webgl.unusable";
const maxContexts = 12;
let contexts = 0;
let usable: boolean | undefined;

export function webglUsable(): boolean {
  usable ??= probe();
  return usable;
}

function probe(): boolean {
  if (matchMedia("(pointer: coarse)").matches) return false;
  try {
    if (sessionStorage.getItem(unusableKey) !== null) return false;
    const hardware = probeHardware();
    if (!hardware) sessionStorage.setItem(unusableKey, "yes");
    return hardware;
  } catch {
    return probeHardware(); // the browser refuses storage
  }
}

function probeHardware(): boolean {
  const context = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!context) return false;
  // Chromium gives out contexts that are drawn by the CPU all the same.
  const info = context.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** Draws a terminal with WebGL until disposed or until the context is lost. Undefined: it stays with the DOM. */
export function useWebgl(term: Terminal, lost: () => void): { dispose(): void } | undefined {
  if (!webglUsable() || contexts >= maxContexts) return undefined;
  let addon: WebglAddon | undefined;
  const release = (): void => {
    if (!addon) return;
    contexts--;
    addon.dispose();
    addon = undefined;
  };
  try {
    addon = new WebglAddon();
    contexts++;
    addon.onContextLoss(() => {
      release();
      usable = false;
      lost();
    });
    term.loadAddon(addon);
  } catch {
    release();
    usable = false;
    lost();
    return undefined;
  }
  return { dispose: release };
}
