// Colours for canvases: of names (the same name has the same colour on every screen), of kinds, and scales that people
// with colour-blindness can read.

export type Rgb = readonly [number, number, number];

export const css = ([r, g, b]: Rgb): string => `rgb(${r},${g},${b})`;

/** FNV-1a of the UTF-16 units. */
export function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

function hsl(hue: number, saturation: number, lightness: number): Rgb {
  const a = saturation * Math.min(lightness, 1 - lightness);
  const part = (n: number) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (lightness - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

const HUES = 24;

/** Calm colours that text in --text is readable on, light or dark. */
export function colorOfName(name: string, dark: boolean): Rgb {
  const h = hash(name);
  const hue = ((h % HUES) * 360) / HUES;
  const step = ((h >>> 8) % 3) * 0.035;
  return dark ? hsl(hue, 0.36, 0.24 + step * 0.6) : hsl(hue, 0.58, 0.74 + step);
}

/** Warm colours, as flame graphs have them. */
export function flameColor(name: string, dark: boolean): Rgb {
  const h = hash(name);
  const hue = 8 + (h % 44);
  const step = ((h >>> 8) % 4) * 0.02;
  return dark ? hsl(hue, 0.52, 0.31 + step) : hsl(hue, 0.86, 0.7 + step);
}

/** A few lines that are told apart without seeing colours as most do (Okabe and Ito). */
export const SERIES_LIGHT: readonly string[] = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#8c6d1f',
  '#56b4e9',
  '#6a51a3',
  '#444444',
];
export const SERIES_DARK: readonly string[] = [
  '#56b4e9',
  '#e69f00',
  '#2bc79a',
  '#e39ac4',
  '#f0e442',
  '#7db4ff',
  '#b7a3e8',
  '#bbbbbb',
];
export const seriesColor = (i: number, dark: boolean): string =>
  (dark ? SERIES_DARK : SERIES_LIGHT)[i % SERIES_LIGHT.length]!;

/** Kinds of regions and events, as the data names them. */
const KINDS: readonly [RegExp, number][] = [
  [/mpi|communicat|message|nccl|shmem/i, 12],
  [/omp|openmp|pthread|thread|lock|barrier|sync/i, 275],
  [/kernel|gpu|cuda|hip|device/i, 145],
  [/mem|copy|alloc|transfer/i, 45],
  [/(^|[^a-z])io([^a-z]|$)|file|read|write|disk/i, 320],
  [/idle|wait|overhead/i, -1],
];

export function colorOfKind(kind: string, dark: boolean): Rgb {
  const hue = KINDS.find(([words]) => words.test(kind))?.[1] ?? 210;
  if (hue < 0) return dark ? [82, 86, 94] : [200, 203, 209];
  return dark ? hsl(hue, 0.42, 0.38) : hsl(hue, 0.62, 0.72);
}

function between(stops: readonly Rgb[], t: number): Rgb {
  const at = Math.min(1, Math.max(0, Number.isFinite(t) ? t : 0)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [stops[i]!, stops[i + 1]!];
  const mix = (k: 0 | 1 | 2) => Math.round(a[k] + (b[k] - a[k]) * (at - i));
  return [mix(0), mix(1), mix(2)];
}

const DIVERGING_LIGHT: readonly Rgb[] = [
  [33, 102, 172],
  [103, 169, 207],
  [209, 229, 240],
  [238, 238, 238],
  [253, 219, 199],
  [240, 148, 98],
  [198, 80, 20],
];
const DIVERGING_DARK: readonly Rgb[] = [
  [90, 170, 240],
  [58, 116, 170],
  [44, 72, 100],
  [58, 60, 66],
  [110, 66, 46],
  [180, 92, 56],
  [245, 130, 80],
];

/** -1 (less: blue) … 0 (no change: grey) … 1 (more: orange). */
export const diverging = (t: number, dark: boolean): Rgb =>
  between(dark ? DIVERGING_DARK : DIVERGING_LIGHT, (t + 1) / 2);

// cividis: as readable with as without red and green
const SEQUENTIAL: readonly Rgb[] = [
  [0, 34, 78],
  [33, 56, 110],
  [75, 84, 112],
  [108, 110, 114],
  [142, 136, 120],
  [180, 165, 112],
  [217, 195, 92],
  [254, 232, 56],
];

/** 0 … 1. The low end is the darker one; on a light page the light end would be lost. */
export const sequential = (t: number): Rgb => between(SEQUENTIAL, t);

/** Black or white, whichever is easier to read on the colour. */
export function inkOn([r, g, b]: Rgb): string {
  const linear = (c: number) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  return luminance > 0.179 ? '#000' : '#fff';
}
