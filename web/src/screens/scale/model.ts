// What api/scale and its like answer, and the arithmetic of the screen: places on axes, contours, functions in other
// notations.
import type { Num } from '../../format';

export interface Parameter {
  name: string;
  is_processes: boolean;
  /** Measured ones, ascending. */
  values: number[];
}

export interface Rows {
  context: number[];
  depth: number[];
  points: number[];
  flags: string[][];
  value: Num[];
  low: Num[];
  high: Num[];
  share: Num[];
  now: Num[];
  share_now: Num[];
  speedup: Num[];
  AR2: Num[];
  SMAPE: Num[];
  noise: Num[];
  callpath: string[];
  function: string[];
  text: string[];
  growth: string[];
  name: (string | null)[];
  order: string[];
  spark: Num[][];
}

export interface ScaleAnswer {
  inputs: number[];
  could_join: number[];
  parameters: Parameter[];
  metrics: { name: string; unit: string | null; callpaths: number }[];
  sets: { name: string | null; modeler: string | null; measure: string | null }[];
  metric: string;
  unit: string | null;
  set: number | null;
  modeler: string;
  measure: string;
  scaling: string;
  looks_strong: string | null;
  is_work: boolean;
  looks_inclusive: boolean;
  unknown: number;
  n_points: number;
  at: Record<string, Num>;
  largest: Record<string, Num>;
  total: { value: Num; low: Num; high: Num; now: Num; speedup: Num };
  n_models: number;
  n: number;
  offset: number;
  rows: Rows;
}

export interface Measured {
  at: number[][];
  mean: Num[];
  median: Num[];
  minimum: Num[];
  maximum: Num[];
  std: Num[];
  value: Num[];
  model: Num[];
  repetitions: (number | null)[];
  values: Num[][];
}

export interface ModelAnswer {
  context: number;
  name: string | null;
  callpath: string;
  function: string;
  text: string;
  python: string;
  latex: string;
  growth: string;
  order: string;
  RSS: Num;
  rRSS: Num;
  SMAPE: Num;
  AR2: Num;
  RE: Num;
  noise: Num;
  missing: number;
  flags: string[];
  rival: string | null;
  measured: Measured;
}

export interface Curve extends ModelAnswer {
  y: Num[];
  low: Num[];
  high: Num[];
}

export interface CurveAnswer {
  over: string;
  is_log: boolean;
  at: Record<string, Num>;
  x: number[];
  curves: Curve[];
}

export interface SurfaceAnswer extends ModelAnswer {
  over: [string, string];
  is_log: [boolean, boolean];
  at: Record<string, Num>;
  x: number[];
  y: number[];
  z: Num[];
}

export interface WhyAnswer {
  callpath: string;
  metric: string;
  hypotheses: {
    order: number;
    parameter: string | null;
    function: string;
    SMAPE: Num;
    RSS: Num;
    rRSS: Num;
    AR2: Num;
    RE: Num;
    verdict: string;
  }[];
}

/** Words of the flags, as `assay model` explains them. */
export const FLAGS: Record<string, string> = {
  'few-points': 'fewer than 5 points along a parameter: do not trust it',
  'missing-points': 'not measured at all points',
  'constant-by-few-points': 'constant because too few points are left',
  noisy: 'repetitions differ by more than 10 %',
  tie: 'another function explains the measurements as well',
  'not-finite': 'values that are NaN or infinite were left out',
  'no-logarithms': 'without logarithms: a parameter has values too small for them',
  'not-segmented': 'too few points for segments: the basic model',
  extrapolated: 'outside what was measured',
};

/** How bad a growth is: 0 (fine) … 4. */
export function severity(order: string): number {
  switch (order) {
    case 'constant':
    case 'decreasing':
      return 0;
    case 'logarithmic':
      return 1;
    case 'sublinear':
      return 2;
    case 'linear':
    case 'linearithmic':
      return 3;
    default:
      return 4;
  }
}

// ---- points

/** "p=64,n=100" of values in the order of the parameters. */
export const pointText = (parameters: readonly Parameter[], values: readonly number[]): string =>
  parameters.map((p, i) => `${p.name}=${values[i]}`).join(',');

/** The values of "p=64,n=100"; null where one is missing or no number. */
export function parsePoint(parameters: readonly Parameter[], text: string): number[] | null {
  const given = new Map(
    text
      .split(',')
      .map((part) => [part.slice(0, part.lastIndexOf('=')), part.slice(part.lastIndexOf('=') + 1)] as const),
  );
  const values = parameters.map((p) => {
    const word = given.get(p.name)?.trim();
    return word ? Number(word) : NaN;
  });
  return values.every(Number.isFinite) ? values : null;
}

export const FURTHEST = 1024;
const STEPS_PER_DOUBLING = 4;

/**
 * The values a slider steps through: from the smallest measured one to 1024 times the largest, four to a doubling, with
 * the measured ones among them. Whole numbers stay whole.
 */
export function sliderSteps(values: readonly number[]): number[] {
  const first = values[0] ?? 1;
  const last = values[values.length - 1] ?? 1;
  const isWhole = values.every(Number.isInteger);
  if (!(first > 0)) {
    const step = (last - first || 1) / 40;
    return Array.from({ length: 121 }, (_, i) => Number((first + i * step).toPrecision(6)));
  }
  const steps = new Set(values);
  for (let x = first; x < last * FURTHEST * 1.0001; x *= 2 ** (1 / STEPS_PER_DOUBLING))
    steps.add(isWhole ? Math.round(x) : Number(x.toPrecision(4)));
  for (let x = last; x < last * FURTHEST * 1.0001; x *= 2) steps.add(x);
  return [...steps].sort((a, b) => a - b);
}

export function nearestStep(steps: readonly number[], value: number): number {
  let best = 0;
  for (let i = 1; i < steps.length; i++) {
    if (Math.abs(steps[i]! - value) < Math.abs(steps[best]! - value)) best = i;
  }
  return best;
}

/**
 * A place that was pointed at: the measured value where one is near, else a short number, whole where all measured ones
 * are.
 */
export function snapped(values: readonly number[], value: number): number {
  const near = values.find((v) => Math.abs(v - value) <= 0.06 * Math.abs(v));
  if (near !== undefined) return near;
  const short = Number(value.toPrecision(3));
  return values.every(Number.isInteger) && Math.abs(short) >= 1 ? Math.round(short) : short;
}

/**
 * How far to draw: the largest value, times 4 as often as it takes to hold `at`. So a slider moves without a new
 * picture at every step.
 */
export function drawnUntil(largest: number, at: number): number {
  if (!(largest > 0)) return Math.max(largest, at);
  let to = largest * 4;
  while (to < at && Number.isFinite(to)) to *= 4;
  return to;
}

/** The same for both parameters of a map: it stays as it is when somebody clicks into it. Others are held at `at`. */
export function mapUntil(parameters: readonly Parameter[], over: readonly string[], at: readonly number[]): number[] {
  const processes = Math.max(
    0,
    parameters.findIndex((p) => p.is_processes),
  );
  return parameters.map((p, i) => {
    const largest = p.values.at(-1) ?? NaN;
    return !over.includes(p.name)
      ? at[i]!
      : i !== processes && at[i]! <= largest
        ? largest
        : drawnUntil(largest, at[i]!);
  });
}

// ---- axes

/** Places for labels on an axis, at most about `want`. */
export function ticksOf(min: number, max: number, isLog: boolean, want: number): number[] {
  if (!(max > min)) return [min];
  if (isLog && min > 0 && max / min > 3) {
    const decades = Math.log10(max / min);
    const perDecade = decades * 3 <= want ? [1, 2, 5] : [1];
    const skip = Math.max(1, Math.ceil((decades * perDecade.length) / want));
    const out: number[] = [];
    for (let e = Math.floor(Math.log10(min)); e <= Math.ceil(Math.log10(max)); e += perDecade.length > 1 ? 1 : skip) {
      for (const m of perDecade) {
        const v = Number(`${m}e${e}`);
        if (v >= min * 0.999 && v <= max * 1.001) out.push(v);
      }
    }
    if (out.length > 1) return out;
  }
  const rough = (max - min) / Math.max(1, want);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((m) => m * power >= rough) ?? 10) * power;
  const out: number[] = [];
  for (let k = Math.ceil(min / step - 1e-9); k * step <= max + step * 1e-9; k++)
    out.push(Number((k * step).toPrecision(12)));
  return out;
}

/** Those of a parameter: its measured values where they are powers of one factor, continued; else round numbers. */
export function parameterTicks(
  values: readonly number[],
  min: number,
  max: number,
  isLog: boolean,
  want: number,
): number[] {
  const ratio = values.length > 2 ? values[1]! / values[0]! : 0;
  const isGeometric = ratio > 1 && values.every((v, i) => i === 0 || Math.abs(v / values[i - 1]! / ratio - 1) < 1e-6);
  if (!isLog || !isGeometric) return ticksOf(min, max, isLog, want);
  const all: number[] = [];
  for (let v = values[0]!; v <= max * 1.001; v *= ratio) if (v >= min * 0.999) all.push(Number(v.toPrecision(12)));
  const skip = Math.ceil(all.length / want);
  return all.filter((_, i) => i % skip === 0);
}

const SHORT: [number, string][] = [
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

/** 4096, 65.5k, 1M, 0.025, 1e-7 */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return '0';
  if (size >= 1e18 || size < 1e-4) return value.toExponential(1).replace('.0', '').replace('e+', 'e');
  for (const [unit, letter] of SHORT)
    if (size >= unit && (unit > 1e3 || size >= 1e4)) return `${Number((value / unit).toPrecision(3))}${letter}`;
  return String(Number(value.toPrecision(4)));
}

/** A value of a parameter, as it is typed. */
export const parameterText = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e9 ? String(value) : shortNumber(value);

// ---- contours

/**
 * Segments of the line z = level over a grid (row by row, nx to a row), in units of cells: x1, y1, x2, y2. Cells with a
 * corner that is no number have none.
 */
export function contour(z: readonly number[], nx: number, ny: number, level: number): number[] {
  const out: number[] = [];
  const cross = (a: number, b: number) => (level - a) / (b - a);
  for (let j = 0; j + 1 < ny; j++) {
    for (let i = 0; i + 1 < nx; i++) {
      const [a, b, c, d] = [z[j * nx + i]!, z[j * nx + i + 1]!, z[(j + 1) * nx + i + 1]!, z[(j + 1) * nx + i]!];
      if (!Number.isFinite(a + b + c + d)) continue;
      const points: number[] = [];
      if (a < level !== b < level) points.push(i + cross(a, b), j);
      if (b < level !== c < level) points.push(i + 1, j + cross(b, c));
      if (d < level !== c < level) points.push(i + cross(d, c), j + 1);
      if (a < level !== d < level) points.push(i, j + cross(a, d));
      for (let k = 0; k + 3 < points.length; k += 4)
        out.push(points[k]!, points[k + 1]!, points[k + 2]!, points[k + 3]!);
    }
  }
  return out;
}

/** Levels for contours between two values: round numbers, or powers where they span decades. */
export function levelsOf(min: number, max: number, isLog: boolean): number[] {
  return ticksOf(min, max, isLog, isLog ? 16 : 8).filter((v) => v > min && v < max);
}

// ---- functions

export interface Piece {
  kind: 'text' | 'sup' | 'sub' | 'var';
  text: string;
}

/** "12.3 - 0.25 * p^(3/2) * log2(p)^2" as pieces to be typeset. */
export function formulaPieces(text: string, parameters: readonly string[]): Piece[] {
  const names = [...parameters]
    .sort((a, b) => b.length - a.length)
    .map((n) => n.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(
    `(\\d)e([+-]?\\d+)|\\^\\(([^)]*)\\)|\\^(-?[\\d.]+)|(log)2(?=\\()|( \\* )|( - )|<=|>=${names.length ? `|(?<![\\w.])(${names.join('|')})(?![\\w])` : ''}`,
    'g',
  );
  const out: Piece[] = [];
  const put = (kind: Piece['kind'], piece: string) => {
    const last = out[out.length - 1];
    if (kind === 'text' && last?.kind === 'text') last.text += piece;
    else if (piece) out.push({ kind, text: piece });
  };
  let at = 0;
  for (const m of text.matchAll(pattern)) {
    put('text', text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[2] !== undefined) {
      put('text', `${m[1]}×10`);
      put('sup', String(Number(m[2])).replace('-', '−'));
    } else if (m[3] !== undefined || m[4] !== undefined) put('sup', (m[3] ?? m[4])!.replace('-', '−'));
    else if (m[5]) {
      put('text', ' log');
      put('sub', '2');
    } else if (m[6]) put('text', ' · ');
    else if (m[7]) put('text', ' − ');
    else if (m[0] === '<=') put('text', ' ≤ ');
    else if (m[0] === '>=') put('text', ' ≥ ');
    else put('var', m[0]);
  }
  put('text', text.slice(at));
  for (const piece of out) if (piece.kind === 'text') piece.text = piece.text.replace(/ {2,}/g, ' ');
  return out;
}

/** A C expression of one in Python, or null where that has no simple one (segments, names that are no identifiers). */
export function toC(python: string, parameters: readonly string[]): string | null {
  if (/ if |\n/.test(python) || !parameters.every((p) => /^[A-Za-z_]\w*$/.test(p))) return null;
  const exponent = (e: string) => e.replace(/^(-?\d+)$/, '$1.0').replace(/^(-?\d+)\/(\d+)$/, '$1.0/$2.0');
  const c = python.replace(/(log2\(\w+\)|[A-Za-z_]\w*)\*\*\(([^)]*)\)/g, (_, base: string, e: string) =>
    e === '1' ? base : `pow(${base}, ${exponent(e)})`,
  );
  return c.includes('**') ? null : c;
}

// ---- speed-up

export type View = 'lines' | 'speedup' | 'efficiency' | 'residuals' | 'map';

/**
 * What a value at x becomes in a view: time of the base / time, or that by the factor in processes where the work
 * stays.
 */
export function shownValue(view: View, isWork: boolean, x0: number, y0: number, x: number, y: number): number {
  if (view !== 'speedup' && view !== 'efficiency') return y;
  const speedup = isWork ? y0 / x0 / (y / x) : y0 / y;
  if (!(speedup > 0)) return NaN;
  return view === 'efficiency' && isWork ? speedup / (x / x0) : speedup;
}
