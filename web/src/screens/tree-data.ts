// Rows of call trees as the server sends them (docs/viewer-api.md), and what is open of them.
import { known, shortName, type Num } from '../format';
import { ListModel, type EntryOf, type ModelRow } from '../listmodel';

export type TreeView = 'top-down' | 'bottom-up' | 'flat' | 'kernel' | 'api' | 'nvtx';

export interface TreeMetric {
  id: number;
  name: string | null;
  display_name: string | null;
  unit: string | null;
  is_whole: boolean;
  adds_up: boolean;
  has_inclusive: boolean;
  has_exclusive: boolean;
  /** What shares are of; null: they mean nothing. */
  whole: number | null;
  all: number | null;
}

type Cells<T> = (T | null)[];

export interface RowColumns {
  node: number[];
  depth: number[];
  name: Cells<string>;
  context: Cells<number>;
  children: Cells<number>;
  flags: number[];
  kind?: Cells<string>;
  module?: Cells<string>;
  file?: Cells<string>;
  line?: Cells<number>;
  call_file?: Cells<string>;
  call_line?: Cells<number>;
}

export interface RowValues {
  rows: RowColumns;
  inclusive: Num[][];
  exclusive: Num[][];
}

export interface TreeAnswer extends RowValues {
  view: TreeView;
  by: string | null;
  sort: string;
  run: string;
  location: string;
  items: number;
  has_scopes: boolean;
  metrics: TreeMetric[];
  /** What no row has any more. */
  hidden?: { n: number; values: Cells<number> } | null;
  found: { n: number; inclusive: Cells<number>; exclusive: Cells<number> } | null;
  at: number | null;
  hot: number[];
  lists: { node: number; n: number; offset: number; rows: number; missing?: number }[];
}

export const APART = 1;
export const ASIDE = 2;
export const CUT = 8;
export const HOT = 16;
export const MATCH = 32;

export interface TreeRow extends ModelRow {
  name: string;
  context: number | null;
  flags: number;
  kind: string | null;
  module: string | null;
  file: string | null;
  line: number | null;
  callFile: string | null;
  callLine: number | null;
  inclusive: (number | null)[];
  exclusive: (number | null)[];
  /** The answer it is a row of, and which. */
  of: RowValues;
  at: number;
}

/** The value to the last digit: no number holds integers beyond 2^53. */
export const exactOf = ({ of, at }: TreeRow, isExclusive: boolean, k: number): Num =>
  (isExclusive ? of.exclusive : of.inclusive)[k]?.[at] ?? null;

/** A row of the answer as an object. */
export function rowAt(answer: RowValues, i: number, parent: number): TreeRow {
  const { rows } = answer;
  return {
    node: rows.node[i]!,
    parent,
    depth: rows.depth[i]!,
    name: rows.name[i] ?? '(unknown)',
    context: rows.context[i] ?? null,
    children: rows.children[i] ?? null,
    flags: rows.flags[i]!,
    kind: rows.kind?.[i] ?? null,
    module: rows.module?.[i] ?? null,
    file: rows.file?.[i] ?? null,
    line: rows.line?.[i] ?? null,
    callFile: rows.call_file?.[i] ?? null,
    callLine: rows.call_line?.[i] ?? null,
    inclusive: answer.inclusive.map((values) => known(values[i])),
    exclusive: answer.exclusive.map((values) => known(values[i])),
    of: answer,
    at: i,
  };
}

export const rowsOf = (answer: RowValues): TreeRow[] => answer.rows.node.map((_, i) => rowAt(answer, i, -1));

export type Entry = EntryOf<TreeRow>;

export class TreeModel extends ListModel<TreeRow> {
  take(answer: TreeAnswer): void {
    this.takeLists(answer, (i, parent) => rowAt(answer, i, parent));
  }

  /** The child with the largest value. */
  heaviest(node: number): TreeRow | null {
    let best: TreeRow | null = null;
    for (const child of this.lists.get(node)?.nodes ?? []) {
      const row = this.rows.get(child)!;
      const size = Math.abs(row.inclusive[0] ?? row.exclusive[0] ?? 0);
      if (!best || size > Math.abs(best.inclusive[0] ?? best.exclusive[0] ?? 0)) best = row;
    }
    return best;
  }
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** A search for names that are this, and what such a one looks like to people. */
export const wholeName = (name: string): string => `/^${escaped(name).replace(/\n/g, '\\n')}$/`;
export const plainName = (search: string): string =>
  /^\/\^.*\$\/$/.test(search) ? search.slice(2, -2).replace(/\\(.)/g, (_, c: string) => (c === 'n' ? ' ' : c)) : search;

const MOST_OPEN = 400;
const LONGEST_OPEN = 1500;

/**
 * Open nodes as text for the address: differences of sorted numbers, in base 36. Of too many those that were opened
 * last are left out: others are above them.
 */
export function packOpen(open: Iterable<number>): string {
  let nodes = [...open].slice(0, MOST_OPEN);
  for (;;) {
    let last = 0;
    const text = [...nodes]
      .sort((a, b) => a - b)
      .map((n) => [(n - last).toString(36), (last = n)][0])
      .join('.');
    if (text.length <= LONGEST_OPEN) return text || '-';
    nodes = nodes.slice(0, Math.floor((nodes.length * LONGEST_OPEN) / text.length));
  }
}

export function unpackOpen(text: string): number[] {
  let last = 0;
  return text
    .split('.')
    .flatMap((part) =>
      /^[0-9a-z]{1,11}$/.test(part) && Number.isSafeInteger((last += parseInt(part, 36))) ? [last] : [],
    )
    .slice(0, MOST_OPEN);
}

/**
 * What is between slashes is a regular expression; else small letters stand for large ones, too. Gives what --match
 * takes.
 */
export function matchOption(search: string): string {
  if (/^\/.+\/$/.test(search)) return search.slice(1, -1);
  const plain = escaped(search);
  return /[A-Z]/.test(search) ? plain : plain.replace(/[a-z]/g, (c) => `[${c}${c.toUpperCase()}]`);
}

/** What is typed into the search, as the server understands it. */
export function matcher(search: string): (name: string) => boolean {
  if (/^\/.+\/$/s.test(search)) {
    const pattern = new RegExp(search.slice(1, -1));
    return (name) => pattern.test(name);
  }
  if (/[A-Z]/.test(search)) return (name) => name.includes(search);
  const low = search.toLowerCase();
  return (name) => name.toLowerCase().includes(low);
}

/** As matcher(); a pattern that is none finds nothing. */
export function finder(search: string): (name: string) => boolean {
  try {
    return matcher(search);
  } catch {
    return () => false;
  }
}

/** Where a part of the name matches: [from, to]; null of regular expressions and where it does not. */
export function matchIn(name: string, search: string): [number, number] | null {
  if (search === '' || /^\/.+\/$/.test(search)) return null;
  const at = /[A-Z]/.test(search) ? name.indexOf(search) : name.toLowerCase().indexOf(search);
  return at < 0 ? null : [at, at + search.length];
}

/** What a row is called on the screen: modules and files without their folders, too. */
export function shownName({ name, kind }: { name: string; kind: string | null }): string {
  return kind === 'module' || kind === 'file' ? name.slice(name.lastIndexOf('/') + 1) || name : shortName(name);
}

/** "solve.c:70" without the folders. */
export function placeText(file: string | null, line: number | null): string {
  // HPCToolkit writes so, with the module behind it, where it knows no source
  if (!file || file.startsWith('<unknown file>')) return '';
  const name = file.slice(file.lastIndexOf('/') + 1) || file;
  return line ? `${name}:${line}` : name;
}
