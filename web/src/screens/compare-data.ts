// What the screen Compare asks for (docs/viewer-api.md), and what it makes of the answers.
import type { Input, Inputs, Metric, Opened, Params } from '../api';
import { isReport, opened } from '../api';
import { diverging, type Rgb } from '../colors';
import { finiteSize, formatValue, isTime, known, real, type Num } from '../format';
import { ListModel, type EntryOf, type ModelRow, type RowLists } from '../listmodel';
import { runWords } from '../shown';
import { readScreen, type Selection } from '../state';
import type { ScreenProps } from './screen';

/**
 * tab: tree, functions, flame or scatter; noise: percent of the whole that counts as no change; shown: of the flame
 * graph; row: the chosen node, as the comparison numbers them; run_a, run_b: as --run takes them, '': as usual.
 */
export const DEFAULTS = {
  a: -1,
  b: -1,
  tab: 'tree',
  sort: '',
  order: '',
  noise: 1,
  hide: false,
  normalize: false,
  metric_b: '',
  run_a: '',
  run_b: '',
  row: -1,
  root: -1,
  open: '',
  shown: 'both',
  points: 'paths',
  hidden: '-',
};
export type View = ReturnType<typeof readScreen<typeof DEFAULTS>>;

type Cells<T> = (T | null)[];

export interface Side {
  d: number;
  run: string;
  location: string;
  metric: string | null;
  total: Num;
}

/** What all answers begin with. */
export interface Head {
  a: Side;
  b: Side;
  metric: string | null;
  unit: string | null;
  adds_up: boolean;
  has_exclusive: boolean;
  /** What values of a are multiplied by before they are compared. */
  scale: number;
  /** That both have. */
  metrics: string[];
  /** Over how many locations changes are known one by one; 0: none. */
  locations: number;
}

/** Of each row, frame or point: the quartiles of the changes of its locations. */
interface Spreads {
  quarter?: Num[];
  three_quarters?: Num[];
}
export type Spread = readonly [number | null, number | null];
export const spreadAt = ({ quarter, three_quarters }: Spreads, i: number): Spread => [
  known(quarter?.[i]),
  known(three_quarters?.[i]),
];
/** Some locations have less, and some more: a quarter of them at least. */
export const isInSpread = ([low, high]: Spread): boolean => low !== null && high !== null && low <= 0 && high >= 0;
export const spreadText = (head: Head, [low, high]: Spread): string =>
  `${isInSpread([low, high]) ? 'within' : 'beyond'} the spread over ${head.locations} locations: half of them changed by ${formatValue(head.unit, low)} to ${formatValue(head.unit, high)}`;

export interface CompareRows extends Spreads {
  node: number[];
  depth: number[];
  name: Cells<string>;
  file: Cells<string>;
  line: Cells<number>;
  children: number[];
  in: number[];
  flags: number[];
  a_context: Cells<number>;
  b_context: Cells<number>;
  a?: Num[];
  b?: Num[];
  change?: Num[];
  relative?: Num[];
  a_exclusive?: Num[];
  b_exclusive?: Num[];
  change_exclusive?: Num[];
  verdict?: Cells<string>;
  low?: Num[];
  high?: Num[];
  p?: Num[];
}

export interface CompareAnswer extends Head, RowLists {
  view: string;
  items: number;
  only_a: { n: number; names: (string | null)[] };
  only_b: { n: number; names: (string | null)[] };
  verdict: { outcome: string; low: Num; high: Num; p: Num; counts: Record<string, number> } | null;
  found: number | null;
  at: number | null;
  rows: CompareRows;
}

export interface FlameShapes extends Spreads {
  node: Cells<number>;
  parent: number[];
  name: Cells<string>;
  value: number[];
  a: number[];
  b: number[];
  a_own: number[];
  b_own: number[];
  in: Cells<number>;
  a_context: Cells<number>;
  b_context: Cells<number>;
  rest: number[];
  found?: number[];
}

export interface CompareFlameAnswer extends Head {
  total: number;
  n_frames: number;
  n_levels?: number;
  above: number[];
  above_names: (string | null)[];
  shapes: FlameShapes;
}

export interface ScatterPoints extends Spreads {
  node: number[];
  name: Cells<string>;
  a: Num[];
  b: Num[];
  a_context: Cells<number>;
  b_context: Cells<number>;
}

export interface ScatterAnswer extends Head {
  view: string;
  kind: string;
  low: number | null;
  high: number | null;
  points: ScatterPoints;
  others: { n: number; beyond: number; cells: number; a: number[]; b: number[]; count: number[] };
}

// ---- rows

export const MATCH = 32;
export const ONLY_A = 1;
export const ONLY_B = 2;

export interface CompareRow extends ModelRow {
  name: string;
  file: string | null;
  line: number | null;
  in: number;
  flags: number;
  contexts: readonly [number | null, number | null];
  a: number | null;
  b: number | null;
  change: number | null;
  relative: number | null;
  a_exclusive: number | null;
  b_exclusive: number | null;
  change_exclusive: number | null;
  verdict: string | null;
  low: number | null;
  high: number | null;
  p: number | null;
  spread: Spread;
  /** The rows it is one of, and which. */
  of: CompareRows;
  at: number;
}
export type CompareEntry = EntryOf<CompareRow>;
export type Amount = 'a' | 'b' | 'change' | 'a_exclusive' | 'b_exclusive' | 'change_exclusive';
/** To the last digit: no number holds integers beyond 2^53. */
export const exactOf = ({ of, at }: CompareRow, amount: Amount): Num => of[amount]?.[at] ?? null;

function rowAt({ rows }: CompareAnswer, i: number, parent: number): CompareRow {
  return {
    node: rows.node[i]!,
    parent,
    depth: rows.depth[i]!,
    children: rows.children[i]!,
    name: rows.name[i] ?? '(unknown)',
    file: rows.file[i] ?? null,
    line: rows.line[i] ?? null,
    in: rows.in[i]!,
    flags: rows.flags[i]!,
    contexts: [rows.a_context[i] ?? null, rows.b_context[i] ?? null],
    a: known(rows.a?.[i]),
    b: known(rows.b?.[i]),
    change: known(rows.change?.[i]),
    relative: known(rows.relative?.[i]),
    a_exclusive: known(rows.a_exclusive?.[i]),
    b_exclusive: known(rows.b_exclusive?.[i]),
    change_exclusive: known(rows.change_exclusive?.[i]),
    verdict: rows.verdict?.[i] ?? null,
    low: known(rows.low?.[i]),
    high: known(rows.high?.[i]),
    p: known(rows.p?.[i]),
    spread: spreadAt(rows, i),
    of: rows,
    at: i,
  };
}

export class CompareModel extends ListModel<CompareRow> {
  /** isWhole: answers have all there is, and only the way to where most of the change is will be open. */
  constructor(private readonly isWhole: boolean) {
    super();
  }

  take(answer: CompareAnswer): void {
    this.takeLists(answer, (i, parent) => rowAt(answer, i, parent));
    if (this.isWhole && answer.found === null && answer.lists[0]?.node === -1) this.openWay();
  }

  private openWay(): void {
    this.open.clear();
    let nodes = this.lists.get(-1)?.nodes ?? [];
    for (let all = 0; nodes.length > 0;) {
      const rows = nodes.map((node) => this.rows.get(node)!);
      const largest = rows.reduce((x, y) => (Math.abs(y.change ?? 0) > Math.abs(x.change ?? 0) ? y : x));
      const size = Math.abs(largest.change ?? 0);
      if (largest.depth > 0 && size < 0.5 * all) break;
      this.open.add(largest.node);
      all = size;
      nodes = this.lists.get(largest.node)?.nodes ?? [];
    }
  }
}

// ---- what is compared

export const readable = (inputs: Inputs): Opened[] =>
  inputs.inputs.flatMap((i: Input) => opened(i) ?? []).filter((i) => i.has.tree);

/** The runs and points one can choose of an input, the words --run takes for each. */
export const runsOf = (input: Opened): { word: string; label: string }[] => [
  ...(input.points.length > 1 ? input.points.map((p) => ({ word: pointWord(p.label), label: p.label })) : []),
  ...(input.runs.length > 1
    ? input.runs.map((r) => ({
        word: String(r.id),
        label: input.runs.every((o) => o === r || o.label !== r.label) ? r.label : `run ${r.id}`,
      }))
    : []),
];
export const canCompare = (inputs: Inputs): boolean =>
  readable(inputs).length > 1 || (!isReport() && readable(inputs).some((i) => runsOf(i).length > 1));

/** The two inputs: those that are chosen, else the first two that can be read; or one with several runs. */
export function sidesOf(inputs: Inputs, view: View): [Opened, Opened] | null {
  const all = readable(inputs);
  if (!canCompare(inputs)) return null;
  const a = all.find((i) => i.id === view.a) ?? all.find((i) => i.id !== view.b) ?? all[0]!;
  const b = all.find((i) => i.id === view.b) ?? all.find((i) => i.id !== a.id) ?? a;
  return [a, b];
}

const pointWord = (label: string): string => label.replace(/, /g, ',');
/** No run of one belongs to one of the other: points of other parameters, or elsewhere. */
const areApart = (a: Opened, b: Opened): boolean =>
  a.points.length + b.points.length > 0 &&
  !b.points.some((p) => a.points.some((q) => q.label === p.label)) &&
  ![a, b].every((i) => i.runs.some((r) => r.point === null));
const lastOf = ({ points, runs }: Opened): string =>
  points.length > 0 ? pointWord(points.at(-1)!.label) : runs.length > 1 ? '0' : '';

/**
 * The runs of both sides, '': as usual. Of one input the first against the last, of inputs without a point in common
 * the last of each, unless something is chosen.
 */
export function chosenRuns([a, b]: readonly [Opened, Opened], { run_a, run_b }: View): [string, string] {
  const runs = runsOf(a);
  if (areApart(a, b)) return [run_a || lastOf(a), run_b || lastOf(b)];
  const ends =
    a.id !== b.id || run_a || run_b || runs.length < 2 ? null : a.points.length > 1 ? a.points.length : runs.length;
  return ends ? [runs[0]!.word, runs[ends - 1]!.word] : [run_a, run_b];
}

/** Which of both is the input that the other screens show: 0, 1 or -1. */
export const shownSide = (sides: readonly [Opened, Opened], selection: Selection): number =>
  sides.findIndex((s) => s.id === selection.dataset);

/** What all requests of the screen say. */
export function compareParams(
  { input, metric, selection }: ScreenProps,
  [a, b]: readonly [Opened, Opened],
  view: View,
): Params {
  const isMain = metric === null || metric.is_main;
  const [run_a, run_b] = chosenRuns([a, b], view);
  return {
    a: a.id === 0 ? null : a.id,
    b: b.id === 1 ? null : b.id,
    metric: isMain ? null : metric.name,
    metric_b: view.metric_b || null,
    run: runWords(input, selection),
    run_a: run_a || null,
    run_b: run_b || null,
    location: selection.locations,
    normalize: view.normalize ? 1 : null,
  };
}

const isCount = (unit: string | null) => /^(occ|#|count)$/.test(unit ?? '');

/** Where one has no unit, the same name tells that it is the same. */
const areAlike = (m: Metric, n: Metric) =>
  m.unit === n.unit ||
  (isTime(m.unit) && isTime(n.unit)) ||
  (isCount(m.unit) && isCount(n.unit)) ||
  (m.name === n.name && (!m.unit || !n.unit));

/** Pairs of metrics whose units allow for a comparison. */
export const pairsOf = ([a, b]: readonly [Opened, Opened]): [Metric, Metric][] =>
  a.metrics.flatMap((m) => b.metrics.filter((n) => areAlike(m, n)).map((n): [Metric, Metric] => [m, n]));

// ---- what changed

/** Percent of the larger whole, in the metric's unit. */
export function noiseOf(head: Head, percent: number): number {
  return (percent / 100) * Math.max(finiteSize(head.a.total) * head.scale, finiteSize(head.b.total));
}

export const changeOf = (head: Head, a: number, b: number): number => b - a * head.scale;

/** Of the change from a to b: NaN where there was nothing. */
export function relativeOf(head: Head, a: number, b: number): number {
  const change = changeOf(head, a, b);
  return change === 0 ? 0 : change / Math.abs(a * head.scale || NaN);
}

/** -1 … 1: half as much is -0.75, twice as much 0.75; all or nothing the ends. */
export function intensity(head: Head, a: number, b: number): number {
  const [from, to] = [a * head.scale, b];
  if (from === to) return 0;
  if (from <= 0 || to <= 0) return to > from ? 1 : -1;
  const t = Math.log2(to / from) * 0.75;
  return Math.sign(t) * Math.min(1, Math.max(0.18, Math.abs(t)));
}

export const isSmall = (head: Head, a: number, b: number, noise: number, spread: Spread): boolean =>
  Math.abs(changeOf(head, a, b)) < noise || changeOf(head, a, b) === 0 || isInSpread(spread);
export const changeColor = (head: Head, a: number, b: number, noise: number, spread: Spread, isDark: boolean): Rgb =>
  diverging(isSmall(head, a, b, noise, spread) ? 0 : intensity(head, a, b), isDark);

/** "B is 1.08 to 1.13 times A (95 %), p = 0.002"; '' where that is not known. */
export const sureText = ({ low, high, p }: { low: Num; high: Num; p: Num }): string =>
  (low === null || high === null
    ? ''
    : `B is ${real(low).toPrecision(4)} to ${real(high).toPrecision(4)} times A (95 %)`) +
  (p === null ? '' : `, p = ${real(p).toPrecision(2)}`);
export const NOTHING_FOUND = new Set(['no change', 'too few repetitions']);
export const isNoise = (row: CompareRow, noise: number): boolean =>
  (row.verdict !== null
    ? NOTHING_FOUND.has(row.verdict)
    : row.change !== null && Math.max(Math.abs(row.change), Math.abs(row.change_exclusive ?? 0)) < noise) ||
  row.change === 0 ||
  isInSpread(row.spread);
