// Text must be readable: at least 4.5 : 1 between it and what it stands on, light and dark, from the colours of
// style.css and colors.ts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { colorOfKind, colorOfName, diverging, flameColor, inkOn, sequential, type Rgb } from '../src/colors';

const style = readFileSync(join(process.env['ASSAY_SOURCE'] ?? '.', 'web', 'src', 'style.css'), 'utf-8');

/** The variables of all rules with this selector. */
function variables(selector: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const rule of style.split('}')) {
    const [head, body] = rule.split('{');
    if (head?.replace(/\/\*[^]*?\*\//g, '').trim() !== selector) continue;
    for (const [, name, value] of body!.matchAll(/--([\w-]+):\s*([^;]+);/g)) found[name!] = value!.trim();
  }
  return found;
}

const hex = (text: string): Rgb => {
  assert.match(text, /^#[0-9a-f]{6}$/, text);
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16)) as unknown as Rgb;
};

// As WCAG 2 defines it, in words of its own: colors.ts has a luminance, too
const luminance = (color: Rgb): number =>
  color
    .map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i]!, 0);

function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}

test('black on white is 21 : 1, #767676 on white 4.54 : 1', () => {
  assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21);
  assert.equal(contrast(hex('#767676'), [255, 255, 255]).toFixed(2), '4.54');
});

const LIGHT = variables(':root');
const THEMES: Record<string, Record<string, string>> = {
  light: LIGHT,
  dark: { ...LIGHT, ...variables(':root[data-theme="dark"]') },
};

/** What stands on what. */
const PAIRS: [text: string, grounds: string[]][] = [
  ['text', ['ground', 'raised', 'sunken', 'accent-soft', 'bar', 'warn-soft', 'bad-soft']],
  ['muted', ['ground', 'raised', 'sunken', 'accent-soft']],
  ['accent', ['ground', 'raised', 'accent-soft']],
  ['on-accent', ['accent']],
  ['ground', ['text']],
  ['bad', ['ground', 'raised', 'bad-soft']],
  ['warn', ['ground', 'warn-soft']],
  ['good', ['ground', 'raised']],
  ['less', ['ground', 'raised', 'less-soft', 'accent-soft']],
  ['more', ['ground', 'raised', 'more-soft', 'accent-soft']],
];

for (const [theme, colors] of Object.entries(THEMES))
  test(`text on its ground, ${theme}`, () => {
    for (const [text, grounds] of PAIRS)
      for (const ground of grounds) {
        const ratio = contrast(hex(colors[text]!), hex(colors[ground]!));
        assert.ok(ratio >= 4.5, `--${text} on --${ground}: ${ratio.toFixed(2)} : 1`);
      }
  });

const ink = (ground: Rgb): Rgb => (inkOn(ground) === '#000' ? [0, 0, 0] : [255, 255, 255]);

test('what is written on boxes and scales', () => {
  for (const dark of [false, true]) {
    const names = Array.from({ length: 2000 }, (_, i) => `name ${i}`).flatMap((name) => [
      colorOfName(name, dark),
      flameColor(name, dark),
    ]);
    const kinds = ['mpi', 'omp', 'gpu kernel', 'memcpy', 'file', 'idle', 'function'].map((kind) =>
      colorOfKind(kind, dark),
    );
    const scales = Array.from({ length: 201 }, (_, i) => i / 100 - 1).flatMap((t) => [
      sequential((t + 1) / 2),
      diverging(t, dark),
    ]);
    for (const color of [...names, ...kinds, ...scales])
      assert.ok(contrast(ink(color), color) >= 4.5, `${color}: ${contrast(ink(color), color).toFixed(2)} : 1`);
  }
});
