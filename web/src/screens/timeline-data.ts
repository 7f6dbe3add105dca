// What the server says of time lines, and the arithmetic on it: lines on the screen, windows, ticks. Nothing here knows
// of the page.

export interface TimelineRows {
  label: string[];
  track: string[];
  location: (number | null)[];
  run: number[];
  gpu: number[];
  below: number[];
  n: number[];
}

/** api/timeline */
export interface TimelineAnswer {
  counted: 'samples' | 'intervals';
  count: number;
  from: number;
  to: number;
  ticks_per_second: number;
  depth: number;
  deepest: number;
  n_runs: number;
  pauses: number;
  hidden: number;
  n_rows: number;
  /** Of a report that has only the first rows: how many there were. */
  of_rows?: number;
  rows: TimelineRows;
  groups: { first: number; location: number | null; label: string | null; run: number }[];
}

export interface Procedures {
  name: string[];
  context: (number | null)[];
  kind: (string | null)[];
}

/** api/timeline_picture */
export interface PictureAnswer {
  from: number;
  to: number;
  columns: number;
  depth: number;
  exact: boolean;
  time: number;
  count: number | null;
  longest_gap: number;
  rows: number[];
  pieces: number[][];
  procedures: Procedures & { time: number[]; count: number[] };
  n_bins: number;
  bins: number[][];
  /** The procedure that the chosen context belongs to; null: none that is seen. */
  node?: number | null;
  /** Of a report that has no more detail than this, in seconds. */
  detail?: number;
}

/** api/timeline_depths */
export interface DepthsAnswer {
  from: number;
  to: number;
  columns: number;
  levels: number[][];
  procedures: Procedures;
}

export interface Interval {
  name: string | null;
  kind: string | null;
  start: number;
  end: number;
  duration: number;
  level: number;
  context: number | null;
  event?: number;
  source_id?: string | null;
  time?: number;
}

/** api/intervals */
export interface IntervalsAnswer {
  counted: 'samples' | 'intervals';
  more: boolean;
  list: Interval[];
  attributes?: [string, string | number | null][][];
}

/** From … to, in seconds. */
export interface Span {
  from: number;
  to: number;
}

// ---- lines on the screen

export interface Line {
  kind: 'group' | 'row';
  /** Of a group the first one, which stands for it where it is closed. */
  row: number;
  label: string;
  indent: number;
  /** It can be opened and closed; those below it are hidden where it is closed. */
  isOpen: boolean | null;
  y: number;
  height: number;
}

/**
 * Rows of groups and below others; closed: first rows of closed groups ("g7") and of rows whose lower ones are hidden
 * ("r3"). heightOf: of a row.
 */
export function layLines(
  answer: TimelineAnswer,
  closed: ReadonlySet<string>,
  heightOf: (row: number) => number,
): Line[] {
  const { rows, groups } = answer;
  const lines: Line[] = [];
  const n = rows.label.length;
  const hasGroups = groups.length > 1 && groups.some((g) => g.label !== null) && n > groups.length;
  let y = 0;
  const put = (line: Omit<Line, 'y'>) => {
    lines.push({ ...line, y });
    y += line.height;
  };
  groups.forEach((group, k) => {
    const end = groups[k + 1]?.first ?? n;
    const isHeaded = hasGroups && end - group.first > 1 && group.label !== null;
    const isOpen = !closed.has(`g${group.first}`);
    if (isHeaded)
      put({
        kind: 'group',
        row: group.first,
        label: group.label ?? '',
        indent: 0,
        isOpen,
        height: isOpen ? 22 : Math.max(22, heightOf(group.first)),
      });
    if (isHeaded && !isOpen) return;
    for (let row = group.first; row < end; row++) {
      const hasBelow = !rows.below[row] && row + 1 < end && rows.below[row + 1] === 1;
      const isShown = !closed.has(`r${row}`);
      put({
        kind: 'row',
        row,
        label: isHeaded ? withoutGroup(rows.label[row] ?? '', group.label ?? '') : (rows.label[row] ?? ''),
        indent: (isHeaded ? 1 : 0) + (rows.below[row] ? 1 : 0),
        isOpen: hasBelow ? isShown : null,
        height: heightOf(row),
      });
      if (hasBelow && !isShown) while (row + 1 < end && rows.below[row + 1] === 1) row++;
    }
  });
  return lines;
}

/** "thread 1" of "rank 0 thread 1" in the group "rank 0". */
const withoutGroup = (label: string, group: string): string =>
  label.startsWith(`${group} `) ? label.slice(group.length + 1) : label;

/** Whether the line shows a picture: of closed groups that of their first row. */
export const hasPicture = (line: Line): boolean => line.kind === 'row' || line.isOpen === false;

/** "0-9,12" */
export function rowRanges(rows: readonly number[]): string {
  const sorted = [...new Set(rows)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j]! + 1) j++;
    parts.push(i === j ? String(sorted[i]) : `${sorted[i]}-${sorted[j]}`);
    i = j + 1;
  }
  return parts.length ? parts.join(',') : 'none';
}

/** The number of the procedure in a column; -1: nothing. */
export function pieceAt(pieces: readonly number[], column: number): { procedure: number; first: number; end: number } {
  let first = 0;
  for (let i = 0; i + 1 < pieces.length; i += 2) {
    const end = first + pieces[i]!;
    if (column < end) return { procedure: pieces[i + 1]!, first, end };
    first = end;
  }
  return { procedure: -1, first, end: first };
}

// ---- windows

const LEAST_TICKS = 200;

/** Not longer than the whole, not so short that ticks of the clock would be seen, and inside it. */
export function clampSpan(span: Span, whole: Span, ticksPerSecond: number): Span {
  const most = whole.to - whole.from;
  const least = Math.min(most, Math.max(LEAST_TICKS / ticksPerSecond, Math.abs(whole.to) * 1e-13));
  const length = Math.min(most, Math.max(least, span.to - span.from));
  if (length > most * (1 - 1e-9)) return { from: whole.from, to: whole.to };
  const middle = (span.from + span.to) / 2;
  const from = Math.max(
    whole.from,
    Math.min(whole.to - length, length === span.to - span.from ? span.from : middle - length / 2),
  );
  return { from, to: from + length };
}

/** Zooms by a factor (below 1: in) around a time, which stays where it is. */
export function zoomSpan({ from, to }: Span, at: number, factor: number): Span {
  return { from: at - (at - from) * factor, to: at + (to - at) * factor };
}

// ---- time in words

const UNITS: readonly [string, number][] = [
  ['s', 1],
  ['ms', 1e-3],
  ['µs', 1e-6],
  ['ns', 1e-9],
];

export function unitOf(seconds: number): readonly [string, number] {
  const size = Math.abs(seconds);
  return size === 0 ? UNITS[0]! : (UNITS.find(([, unit]) => size >= unit * 0.9995) ?? UNITS[3]!);
}

/** "1.234 ms": about four digits, for lengths. */
export function lengthText(seconds: number): string {
  const [name, unit] = unitOf(seconds);
  const value = seconds / unit;
  const digits = value === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
  return `${value.toFixed(Math.min(3, digits))} ${name}`;
}

/**
 * A moment to the last digit that `resolution` tells apart: "1.300 000 5 s" with thin spaces, in the unit of the
 * largest that stands beside it.
 */
export function momentText(seconds: number, resolution: number, largest = seconds): string {
  const [name, unit] = unitOf(Math.max(Math.abs(largest), resolution));
  const decimals = Math.max(0, Math.min(12, Math.ceil(-Math.log10(resolution / unit) - 1e-9)));
  const [whole, part = ''] = (seconds / unit).toFixed(decimals).split('.');
  return `${whole}${part ? `.${decimals > 4 ? part.replace(/(\d{3})(?=\d)/g, '$1\u2009') : part}` : ''} ${name}`;
}

export interface Ticks {
  /** Seconds; labels stand at these. */
  at: number[];
  labels: string[];
  step: number;
  /** What is added to the labels, where they would be long: "1.3 s +"; "" where nothing is. */
  base: string;
}

/** At most so many ticks at round times. */
export function ticksOf({ from, to }: Span, most: number): Ticks {
  const length = to - from;
  if (!(length > 0) || most < 1) return { at: [], labels: [], step: 0, base: '' };
  const rough = length / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough * 0.999999) ?? 10 * power;
  // Far from 0 the labels count from a round time near by
  const isFar = Math.max(Math.abs(from), Math.abs(to)) / step > 9999;
  const round = 10 ** Math.ceil(Math.log10(length));
  const base = isFar ? Math.floor(from / round) * round : 0;
  const [name, unit] = unitOf(isFar ? length : Math.max(Math.abs(from), Math.abs(to)));
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  const at: number[] = [];
  const labels: string[] = [];
  const first = Math.ceil((from - base) / step - 1e-9);
  for (let k = first; base + k * step <= to + step * 1e-9 && at.length <= most + 2; k++) {
    at.push(base + k * step);
    labels.push(`${isFar ? '+' : ''}${((k * step) / unit).toFixed(decimals)} ${name}`);
  }
  return { at, labels, step, base: isFar ? momentText(base, round) : '' };
}
