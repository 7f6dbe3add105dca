// The answer of api/locations, and what the pictures need of it: places with a row, a column and a value, one by one or
// some in a cell.
import { real, type Num } from '../format';
import type { NamedPlace } from './locations-words';
import { kindWord, rangesOf, wordsFor } from './locations-words';

export interface Statistics {
  count: number;
  sum: number | string;
  mean: number;
  min: number | string;
  max: number | string;
  stddev: number;
  q1: number;
  median: number;
  q3: number;
  imbalance: number | null;
  excess: number;
  min_at: string;
  max_at: string;
}

interface Axis {
  kind: (string | null)[];
  name: (string | null)[];
  number: (number | null)[];
  last: (number | null)[];
}

export interface LocationsAnswer {
  over: 'locations' | 'processes' | 'runs';
  run: string | null;
  metric: string;
  unit: string | null;
  kind: 'inclusive' | 'exclusive';
  adds_up: boolean;
  is_integer: boolean;
  n: number;
  n_processes: number;
  context: number | null;
  path: string | null;
  statistics: Statistics | null;
  selection?: { label: string; n: number; statistics: Statistics | null };
  grid?: {
    layout: 'processes' | 'nodes' | 'wrapped';
    n_rows: number;
    n_columns: number;
    rows: Axis;
    columns: Axis | null;
  };
  kinds?: string[];
  processes?: { id: number[]; kind: (number | null)[]; number: (number | null)[]; name: (string | null)[] };
  places?: {
    id: number[];
    label: string[];
    value: Num[];
    kind?: (number | null)[];
    number?: (number | null)[];
    name?: (string | null)[];
    process?: (number | null)[];
    row?: number[];
    column?: number[];
    selected?: number[];
  };
  cells?: {
    rows: number;
    columns: number;
    row_step: number;
    column_step: number;
    n: number[];
    mean: Num[];
    min: Num[];
    max: Num[];
    selected?: number[];
  };
  curve?: { index: number[]; value: Num[]; label: string[] };
  histogram: { min: number; max: number; count: number[] } | null;
  outliers: { low: number; high: number; place: number[]; label: string[]; value: Num[] };
}

/** What stands above the places is a process: not the context of a GPU, nor a node. */
export const isOfProcesses = (answer: LocationsAnswer): boolean =>
  answer.processes?.kind.every((k) => /^(process|rank)$/i.test(answer.kinds?.[k ?? -1] ?? 'process')) ?? true;

/** Each place is a process. */
export const areProcesses = (answer: LocationsAnswer): boolean =>
  answer.n_processes === answer.n && isOfProcesses(answer);

/** One cell of the heat map. */
export interface Cell {
  row: number;
  column: number;
  /** NaN: nothing there has a value. */
  value: number;
  label: string;
  /** Several places in one cell. */
  many: { n: number; min: number; max: number } | null;
  isSelected: boolean;
}

export interface Places {
  answer: LocationsAnswer;
  cells: Cell[];
  rows: number;
  columns: number;
  rowLabels: string[];
  columnLabels: string[];
  /** What rows and columns are: "rank", "thread"; "" where there are several. */
  rowTitle: string;
  columnTitle: string;
  /** Cells with a value, the smallest first. */
  sorted: Cell[];
  hasSelection: boolean;
}

/** "3", "0–49"; where there are several kinds "device 0". */
const labelOf = (axis: Axis, i: number, isMixed: boolean): string => {
  const [number, last, name, kind] = [axis.number[i] ?? null, axis.last[i] ?? null, axis.name[i], axis.kind[i]];
  if (number === null) return name ?? '';
  return `${isMixed && kind ? `${kind.replace(/^gpustream$/, 'stream')} ` : ''}${number}${last !== null && last !== number ? `–${last}` : ''}`;
};

const isMixed = (axis: Axis): boolean => new Set(axis.kind).size > 1;

const titleOf = (axis: Axis | null | undefined): string => (axis && !isMixed(axis) ? kindWord(axis.kind[0] ?? '') : '');

function cellsOf(answer: LocationsAnswer): Cell[] {
  const { places, cells } = answer;
  if (cells) {
    return cells.n.map((n, i) => ({
      row: Math.floor(i / cells.columns),
      column: i % cells.columns,
      value: real(cells.mean[i]),
      label: '',
      many: { n, min: real(cells.min[i]), max: real(cells.max[i]) },
      isSelected: (cells.selected?.[i] ?? 0) > 0,
    }));
  }
  const perRow = Math.min(25, places?.id.length ?? 0) || 1;
  return (places?.id ?? []).map((_, i) => ({
    row: places!.row?.[i] ?? Math.floor(i / perRow),
    column: places!.column?.[i] ?? i % perRow,
    value: real(places!.value[i]),
    label: places!.label[i]!,
    many: null,
    isSelected: places!.selected?.[i] === 1,
  }));
}

export function placesOf(answer: LocationsAnswer): Places {
  const cells = cellsOf(answer);
  const rows = answer.cells?.rows ?? Math.max(0, ...cells.map((c) => c.row)) + 1;
  const columns = answer.cells?.columns ?? Math.max(0, ...cells.map((c) => c.column)) + 1;
  const labels = (n: number, of: Axis | null | undefined): string[] => {
    const mixed = of ? isMixed(of) : false;
    return Array.from({ length: n }, (_, i) => (of ? labelOf(of, i, mixed) : ''));
  };
  const sorted = cells.filter((c) => !Number.isNaN(c.value)).sort((a, b) => a.value - b.value);
  return {
    answer,
    cells,
    rows,
    columns,
    rowLabels: labels(rows, answer.grid?.rows),
    columnLabels: labels(columns, answer.grid?.columns),
    rowTitle: titleOf(answer.grid?.rows),
    columnTitle: answer.grid?.layout === 'wrapped' ? '' : titleOf(answer.grid?.columns),
    sorted,
    hasSelection: answer.selection !== undefined,
  };
}

function named(answer: LocationsAnswer): NamedPlace[] {
  const { places, processes, kinds = [] } = answer;
  const kind = (i: number | null | undefined): string => (i === null || i === undefined ? '' : (kinds[i] ?? ''));
  return (places?.id ?? []).map((id, i) => {
    const above = places!.process?.[i] ?? null;
    const process =
      above === null || !processes || processes.id[above] === id
        ? null
        : {
            kind: kind(processes.kind[above]),
            number: processes.number[above] ?? null,
            name: processes.name[above] ?? null,
          };
    return {
      kind: kind(places!.kind?.[i]),
      number: places!.number?.[i] ?? null,
      name: places!.name?.[i] ?? null,
      process,
    };
  });
}

/** The location filter that means these cells; '' for all of them; null where there are no words for it. */
export function wordsOf({ answer, cells, columns, rows }: Places, chosen: ReadonlySet<number>): string | null {
  if (answer.over === 'runs') return null;
  if (answer.places) {
    const all = named(answer);
    return wordsFor(
      [...chosen].sort((a, b) => a - b).map((i) => all[i]!),
      all,
    );
  }
  const grid = answer.grid;
  if (!grid) return null;
  const pick = (axis: Axis, of: Set<number>): string | null => {
    const numbers: number[] = [];
    const kinds = new Set([...of].map((i) => axis.kind[i]));
    if (kinds.size !== 1) return null;
    for (const i of of) for (let n = axis.number[i] ?? NaN; n <= (axis.last[i] ?? NaN); n++) numbers.push(n);
    return numbers.length > 0 ? `${kindWord([...kinds][0] ?? '')}=${rangesOf(numbers)}` : null;
  };
  const someRows = new Set([...chosen].map((i) => cells[i]!.row));
  const someColumns = new Set([...chosen].map((i) => cells[i]!.column));
  const terms: (string | null)[] = [];
  if (someRows.size < rows) terms.push(pick(grid.rows, someRows));
  if (grid.layout === 'processes' && someColumns.size < columns)
    terms.push(grid.columns ? pick(grid.columns, someColumns) : null);
  return terms.includes(null) ? null : terms.join(',');
}
