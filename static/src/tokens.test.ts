// Both schemes are readable: WCAG 2.2 AA, 4.5:1, for every colour that text has.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const css = readFileSync("static/css/tokens.css", "utf8");
const dark = css.indexOf("prefers-color-scheme: dark");
const schemes = { light: tokens(css.slice(0, dark)), dark: tokens(css.slice(dark)) };

function tokens(text: string): Map<string, string> {
  return new Map([...text.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));
}

type Color = [number, number, number];

const parse = (hex: string): Color => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Color;
const mix = (a: Color, b: Color, share: number): Color => a.map((value, i) => value * share + b[i] * (1 - share)) as Color;

function luminance(color: Color): number {
  const [r, g, b] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: Color, b: Color): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

for (const [name, scheme] of Object.entries(schemes)) {
  const color = (token: string): Color => {
    const value = scheme.get(token);
    assert.ok(value, `${name} has no --${token}`);
    return parse(value);
  };

  test(`${name}: terminal colours are readable on the background`, () => {
    const colors = [...scheme.keys()].filter((token) => /^term-(bright-)?(black|red|green|yellow|blue|magenta|cyan|white)$/.test(token));
    assert.equal(colors.length, 16);
    for (const token of [...colors, "term-foreground", "term-cursor"]) {
      if (name === "dark" && token === "term-black") continue; // programs mean a dark background by it
      const ratio = contrast(color(token), color("term-background"));
      assert.ok(ratio >= 4.5, `--${token} has ${ratio.toFixed(2)}`);
    }
    assert.ok(contrast(color("term-foreground"), color("term-selection")) >= 4.5);
  });

  test(`${name}: the frame is readable`, () => {
    const background = color("term-background");
    const foreground = color("term-foreground");
    const quiet = mix(foreground, background, 0.72);
    for (const [surface, share] of [["background", 1], ["raised", 0.97], ["frame", 0.94], ["hover", 0.88]] as const) {
      const under = mix(background, foreground, share);
      for (const [what, text] of [["text", foreground], ["quiet", quiet], ["bad", color("bad")], ["warn", color("warn")]] as const) {
        if (surface === "hover" && (what === "warn" || what === "bad")) continue; // never there
        const ratio = contrast(text, under);
        assert.ok(ratio >= 4.5, `${what} on ${surface} has ${ratio.toFixed(2)}`);
      }
    }
    assert.ok(contrast(color("on-accent"), color("accent")) >= 4.5);
  });
}
