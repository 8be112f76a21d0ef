// Every scheme has every colour, and the frame made from it is readable: WCAG 2.2 AA. What programs print is kept readable by
// the least contrast of text, a setting; our own two schemes need no such help.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { schemeOf, schemes } from "./schemes";
import { settings } from "./settings";

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

const names = Object.keys(schemes[0].tokens);

for (const { id, dark, tokens } of schemes) {
  const color = (token: string): Color => parse(tokens[token]);

  test(`${id}: every colour is there`, () => {
    assert.match(id, /^[a-z0-9-]{1,40}$/);
    assert.deepEqual(Object.keys(tokens), names);
    for (const [name, value] of Object.entries(tokens)) assert.match(value, /^#[0-9a-f]{6}([0-9a-f]{2})?$/, name);
    assert.equal(luminance(color("term-background")) < 0.2, dark);
  });

  test(`${id}: the frame is readable`, () => {
    const background = color("term-background");
    const foreground = color("term-foreground");
    for (const [surface, share] of [["background", 1], ["raised", 0.97], ["frame", 0.94], ["hover", 0.88]] as const) {
      const under = mix(background, foreground, share);
      for (const what of ["text", "quiet", "bad", "warn", "ok"]) {
        if (surface === "hover" && what !== "text" && what !== "quiet") continue; // never there
        const ratio = contrast(color(what), under);
        assert.ok(ratio >= 4.45, `${what} on ${surface} has ${ratio.toFixed(2)}`);
      }
      if (surface !== "hover") assert.ok(contrast(color("accent"), under) >= 2.95, `accent on ${surface}`);
    }
    assert.ok(contrast(color("on-accent"), color("accent")) >= 4.45);
  });
}

for (const id of ["tabs-light", "tabs-dark"]) {
  const { dark, tokens } = schemeOf(id, id === "tabs-dark");
  test(`${id}: terminal colours are readable on the background`, () => {
    const background = parse(tokens["term-background"]);
    for (const name of [...names.filter((token) => /^term-(bright-)?(black|red|green|yellow|blue|magenta|cyan|white)$/.test(token)), "term-foreground", "term-cursor"]) {
      if (dark && name === "term-black") continue; // programs mean a dark background by it
      const ratio = contrast(parse(tokens[name]), background);
      assert.ok(ratio >= 4.5, `${name} has ${ratio.toFixed(2)}`);
    }
    assert.ok(contrast(parse(tokens["term-foreground"]), parse(tokens["term-selection"])) >= 4.5);
  });
}

test("schemes have names of their own, and unknown ones are the default", () => {
  assert.equal(new Set(schemes.map(({ id }) => id)).size, schemes.length);
  assert.ok(schemes.length >= 12);
  assert.equal(schemeOf("nord", true).id, "nord");
  assert.equal(schemeOf("nord", false).id, settings.lightScheme.fallback); // it is a dark one
  assert.equal(schemeOf("none", true).id, settings.darkScheme.fallback);
});

test("style sheets use no colour that schemes lack", () => {
  const own = readFileSync("static/css/tokens.css", "utf8");
  for (const file of ["base", "strip", "stage", "overlay", "settings", "pages", "tokens"]) {
    const css = readFileSync(`static/css/${file}.css`, "utf8");
    for (const [, name] of css.matchAll(/var\(--([\w-]+)/g)) {
      assert.ok(names.includes(name) || own.includes(`--${name}:`), `${file}.css uses --${name}`);
    }
  }
});
