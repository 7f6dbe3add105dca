// Where the boxes of a flame graph lie: parts of the whole width, and levels. No drawing here.
import { formatCount } from './format';

export interface FlameBoxes {
  n: number;
  /** Index of the parent, which comes before it; -1 of the first box, which is the whole. */
  parent: ArrayLike<number>;
  value: ArrayLike<number>;
  /** Beginning and width, of 1. */
  x: Float64Array;
  width: Float64Array;
  depth: Int32Array;
  /** Boxes of each level from left to right. */
  levels: Int32Array[];
}

/** Children lie side by side from the left end of their parent on, in their order. */
export function layOut(parent: ArrayLike<number>, value: ArrayLike<number>): FlameBoxes {
  const n = parent.length;
  const x = new Float64Array(n);
  const width = new Float64Array(n);
  const used = new Float64Array(n);
  const depth = new Int32Array(n);
  const counts: number[] = [];
  const whole = n > 0 && value[0]! > 0 ? value[0]! : 1;
  for (let i = 0; i < n; i++) {
    const above = parent[i]!;
    width[i] = Math.max(0, value[i]! / whole) || 0;
    if (above >= 0) {
      x[i] = x[above]! + used[above]!;
      used[above] = used[above]! + width[i]!;
      depth[i] = depth[above]! + 1;
    }
    counts[depth[i]!] = (counts[depth[i]!] ?? 0) + 1;
  }
  const levels = counts.map((count) => new Int32Array(count));
  const next = counts.map(() => 0);
  for (let i = 0; i < n; i++) {
    const level = depth[i]!;
    levels[level]![next[level]!] = i;
    next[level]!++;
  }
  for (const level of levels) level.sort((a, b) => x[a]! - x[b]! || a - b);
  return { n, parent, value, x, width, depth, levels };
}

/** The box at a place of a level, or -1. */
export function boxAt(boxes: FlameBoxes, level: number, at: number): number {
  const row = boxes.levels[level];
  if (!row) return -1;
  const i = firstEndingAfter(boxes, row, at);
  const found = row[i];
  return found !== undefined && boxes.x[found]! <= at ? found : -1;
}

/** Index in the row of the first box that ends behind the place. */
export function firstEndingAfter(boxes: FlameBoxes, row: Int32Array, at: number): number {
  let [low, high] = [0, row.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const i = row[middle]!;
    if (boxes.x[i]! + boxes.width[i]! <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The deepest box that has all from … to. */
export function boxAround(boxes: FlameBoxes, from: number, to: number): number {
  let best = 0;
  const middle = (from + to) / 2;
  for (let level = 1; level < boxes.levels.length; level++) {
    const i = boxAt(boxes, level, middle);
    if (i < 0 || boxes.x[i]! > from + 1e-9 || boxes.x[i]! + boxes.width[i]! < to - 1e-9) break;
    best = i;
  }
  return best;
}

/** What there was no room for. */
export const cutText = (levels: number | undefined): string =>
  levels ? `only the first ${formatCount(levels)} levels: “… more” shows those below` : '';

export type Step = 'parent' | 'child' | 'previous' | 'next';

/** Where a key leads to; the same box where there is nothing. */
export function neighbour(boxes: FlameBoxes, i: number, step: Step): number {
  if (step === 'parent') return Math.max(0, boxes.parent[i] ?? 0);
  const depth = boxes.depth[i]!;
  if (step === 'child') {
    let best = i;
    for (const k of boxes.levels[depth + 1] ?? [])
      if (boxes.parent[k] === i && (best === i || boxes.width[k]! > boxes.width[best]!)) best = k;
    return best;
  }
  const row = boxes.levels[depth]!;
  const at = row.indexOf(i) + (step === 'next' ? 1 : -1);
  return row[at] ?? i;
}

export interface Range {
  from: number;
  to: number;
}

export const WHOLE: Range = { from: 0, to: 1 };
export const rangeOf = (boxes: FlameBoxes, i: number): Range => ({
  from: boxes.x[i]!,
  to: boxes.x[i]! + boxes.width[i]!,
});

/** A range as another picture has it, of which all is the range `part` of the first one. */
export const rangeInside = (range: Range, part: Range): Range => {
  const width = part.to - part.from || 1;
  return { from: (range.from - part.from) / width, to: (range.to - part.from) / width };
};
export const rangeOutside = (range: Range, part: Range): Range => {
  const width = part.to - part.from;
  return { from: part.from + range.from * width, to: part.from + range.to * width };
};

/** Not narrower than what can be told apart, and inside the whole. */
export function clampRange({ from, to }: Range): Range {
  const width = Math.min(1, Math.max(1e-9, to - from));
  const start = Math.min(1 - width, Math.max(0, from));
  return { from: start, to: start + width };
}
