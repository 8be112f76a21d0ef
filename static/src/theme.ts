// Colours, fonts and other looks of terminals. Colours come from the custom properties of the scheme in force, so that
// the frame and the terminal are one.

import type { ITerminalOptions, ITheme } from "@xterm/xterm";
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

/** What settings mean to xterm.js, but for the font. */
export function terminalOptions(settings: Settings): ITerminalOptions {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return {
    cursorBlink: settings.get("cursorBlink") && !still,
    cursorStyle: settings.get("cursorStyle"),
    macOptionIsMeta: settings.get("optionAsMeta"),
    minimumContrastRatio: settings.get("minimumContrast"),
    screenReaderMode: settings.get("screenReader"),
    scrollback: settings.get("scrollback"),
  };
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
