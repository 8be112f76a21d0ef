// Colours and fonts of terminals: from the tokens of css/tokens.css, so that the frame and the terminal are one scheme.

import type { ITheme } from "@xterm/xterm";
import type { Cell } from "./layout";
import { settings as known, type Settings } from "./settings";

export interface Font {
  family: string;
  size: number;
  lineHeight: number;
}

const ansi = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

/** The scheme in force, as xterm.js wants it. */
export function readTheme(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(`--term-${name}`).trim();
  const theme: Record<string, string> = {
    background: token("background"),
    foreground: token("foreground"),
    cursor: token("cursor"),
    cursorAccent: token("background"),
    selectionBackground: token("selection"),
    selectionInactiveBackground: token("selection-inactive"),
    scrollbarSliderBackground: token("slider"),
    scrollbarSliderHoverBackground: token("slider-hover"),
    overviewRulerBorder: "#00000000",
    scrollbarSliderActiveBackground: token("slider-hover"),
  };
  for (const name of ansi) {
    theme[name] = token(name);
    theme["bright" + name[0].toUpperCase() + name.slice(1)] = token("bright-" + name);
  }
  return theme as ITheme;
}

/** Calls back when the scheme changes. */
export function watchTheme(changed: (theme: ITheme) => void, signal: AbortSignal): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => changed(readTheme()), { signal });
}

export function readFont(settings: Settings): Font {
  const fallback = getComputedStyle(document.documentElement).getPropertyValue("--font-mono").trim();
  const chosen = settings.get("fontFamily").trim();
  return {
    family: chosen === "" ? fallback : `${chosen}, ${fallback}`,
    size: settings.get("fontSize"),
    lineHeight: settings.get("lineHeight"),
  };
}

export const clampFontSize = (size: number): number =>
  Math.min(known.fontSize.most, Math.max(known.fontSize.least, size));

/** localStorage, where the browser lets us have it. */
export function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

let canvas: OffscreenCanvasRenderingContext2D | null | undefined;

/**
 * The size of a cell as xterm.js will draw it, known before there is a terminal, so that the first frame to the server
 * has the right size. Both renderers round as here (DomRenderer.ts, WebglRenderer.ts of the pinned version).
 */
export function measureCell(font: Font, webgl: boolean): { cell: Cell; letterSpacing: number } {
  canvas ??= new OffscreenCanvas(1, 1).getContext("2d");
  if (!canvas) return { cell: { width: font.size * 0.6, height: font.size * font.lineHeight }, letterSpacing: 0 };
  const dpr = devicePixelRatio;
  canvas.font = `${font.size}px ${font.family}`;
  const metrics = canvas.measureText("W");
  const exact = metrics.width * dpr;
  const charHeight = Math.ceil((metrics.fontBoundingBoxAscent + metrics.fontBoundingBoxDescent) * dpr);
  const height = Math.floor(charHeight * font.lineHeight) / dpr;
  if (!webgl) return { cell: { width: exact / dpr, height }, letterSpacing: 0 };
  // WebGL cuts a cell to whole pixels, which makes text tight where half a pixel or more is lost: round instead.
  const letterSpacing = Math.round(exact) - Math.floor(exact);
  return { cell: { width: Math.round(exact) / dpr, height }, letterSpacing };
}
