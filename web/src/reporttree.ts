// A whole call tree that a report holds, and what the server would answer to requests for parts of it
// (docs/viewer-api.md, "Rows of call trees").
import type { Params } from './api';
import { known, type Num } from './format';
import {
  APART,
  CUT,
  HOT,
  MATCH,
  matcher,
  type RowColumns,
  type TreeAnswer,
  type TreeMetric,
} from './screens/tree-data';

/** The answer to `whole`: rows are in the order of the source, list by list; what has too little is left out. */
export interface WholeAnswer extends TreeAnswer {
  min_share: number | null;
  left_out: number;
  /** Ids of the metrics that are shown where nobody chooses. */
  usual: number[];
}

const LEADS_TO_MATCH = 64;
/** No call, but a part of the function above it: only whole trees say so. */
const INNER = 128;
const MOST_RELATIVES = 50;
const USUAL_ROWS = 200;
const MOST_ROWS = 5000;
const MOST_LEVELS = 50;
/** Marks of a search. */
const [IS_MATCH, ABOVE, BELOW] = [1, 2, 4];
const OPTIONAL = ['kind', 'module', 'file', 'line', 'call_file', 'call_line'] as const;

/** Thrown where only the measurement itself could tell. */
export class NotInside extends Error {}

const text = (params: Params, name: string): string | null => {
  const value = params[name];
  const one = Array.isArray(value) ? value[0] : value;
  return one === undefined || one === null || one === '' ? null : String(one);
};
const number = (params: Params, name: string, usual: number): number => Number(text(params, name) ?? usual);

interface Relative {
  context: number;
  /** Its row, in views whose rows are no contexts. */
  node?: number | null;
  name: string | null;
  n: number;
  value: number;
}
interface Relatives {
  n: number;
  rows: Relative[];
}
interface Sandwich {
  calls: number;
  callers: Relatives;
  callees: Relatives;
}
const NOBODY: Relatives = { n: 0, rows: [] };

/** Inlined or not, it is the same function. */
export const bareName = (name: string | null | undefined): string | null => name?.replace(/^\[I\] /, '') ?? null;

/** An answer of api/node about a context. */
export interface Kept extends Sandwich {
  context: number;
  name: string | null;
  file: string | null;
  line: number | null;
  metrics: TreeMetric[];
  source_id?: unknown;
  source: unknown;
  attributes: { owner: string }[];
}

/** Of one question. */
interface Question {
  /** Places of the metrics among those of the whole. */
  metrics: number[];
  sort: string;
  sortMetric: number;
  isReversed: boolean;
  marks: Uint8Array | null;
  isFiltered: boolean;
  hot: Set<number>;
}

export class WholeTree {
  private readonly children = new Map<number, number[]>();
  /** Of the first level -1. */
  private readonly parent: Int32Array;
  private readonly indexOf = new Map<number, number>();
  /** All rows, those above before those below, siblings in the order of the source. */
  private readonly preOrder: number[] = [];
  private readonly sizes = new Map<number, Float64Array>();

  constructor(private readonly whole: WholeAnswer) {
    const n = whole.rows.node.length;
    this.parent = new Int32Array(n).fill(-1);
    for (let i = 0; i < n; i++) this.indexOf.set(whole.rows.node[i]!, i);
    let at = 0;
    for (const { node, rows } of whole.lists) {
      const parent = node < 0 ? -1 : this.indexOf.get(node)!;
      const below = Array.from({ length: rows }, (_, i) => at + i);
      for (const i of below) this.parent[i] = parent;
      this.children.set(parent, below);
      at += rows;
    }
    const stack = [...this.below(-1)].reverse();
    while (stack.length > 0) {
      const i = stack.pop()!;
      this.preOrder.push(i);
      const below = this.below(i);
      for (let k = below.length - 1; k >= 0; k--) stack.push(below[k]!);
    }
  }

  get view(): string {
    return this.whole.view;
  }
  get by(): string | null {
    return this.whole.by;
  }

  private below(i: number): readonly number[] {
    return this.children.get(i) ?? [];
  }
  /** How many there are below a row that are not here. */
  private missing(i: number): number {
    const all = i < 0 ? (this.whole.lists[0]?.n ?? 0) : (this.whole.rows.children[i] ?? 0);
    return Math.max(0, all - this.below(i).length);
  }

  // ---- metrics and sizes

  private chooseMetrics(params: Params): number[] {
    const { metrics } = this.whole;
    const numbers = text(params, 'metrics');
    if (numbers !== null)
      return numbers.split(',').map((id) => this.checked(metrics.findIndex((m) => m.id === Number(id))));
    const name = text(params, 'metric');
    if (name !== null) return [this.checked(metrics.findIndex((m) => m.name === name))];
    return this.whole.usual.map((id) => this.checked(metrics.findIndex((m) => m.id === id)));
  }
  private checked(place: number): number {
    if (place < 0) throw new NotInside();
    return place;
  }

  private exact(i: number, metric: number, exclusive: boolean): Num {
    return (exclusive ? this.whole.exclusive : this.whole.inclusive)[metric]?.[i] ?? null;
  }
  private value(i: number, metric: number, exclusive: boolean): number | null {
    return known(this.exact(i, metric, exclusive));
  }

  /**
   * What rows are sorted by: their size; where they have no value that of what lies below, of metrics that only some
   * rows have.
   */
  private size(i: number, metric: number, exclusive: boolean): number {
    const key = metric * 2 + Number(exclusive);
    let sizes = this.sizes.get(key);
    if (!sizes) {
      const { has_inclusive, has_exclusive } = this.whole.metrics[metric]!;
      sizes = new Float64Array(this.preOrder.length);
      for (let k = this.preOrder.length - 1; k >= 0; k--) {
        const at = this.preOrder[k]!;
        const value = this.value(at, metric, (exclusive || !has_inclusive) && has_exclusive);
        if (value !== null) sizes[at] = Math.abs(Number(value)) || 0;
        else if (!has_exclusive) for (const below of this.below(at)) sizes[at] = Math.max(sizes[at]!, sizes[below]!);
      }
      this.sizes.set(key, sizes);
    }
    return sizes[i]!;
  }

  // ---- order

  private sorted(items: readonly number[], q: Question): number[] {
    const { rows } = this.whole;
    const apart = (i: number) => rows.flags[i]! & APART;
    const metric = q.metrics[q.sortMetric];
    const sizes =
      (q.sort === 'inclusive' || q.sort === 'exclusive') && metric !== undefined
        ? new Map(items.map((i) => [i, this.size(i, metric, q.sort === 'exclusive')]))
        : null;
    const byName = (a: number, b: number) => {
      const [x, y] = [rows.name[a] ?? null, rows.name[b] ?? null];
      if (x === y || x === null || y === null) return Number(x === null) - Number(y === null);
      return x < y ? -1 : 1;
    };
    const key =
      q.sort === 'name'
        ? byName
        : sizes
          ? (a: number, b: number) => sizes.get(b)! - sizes.get(a)!
          : (a: number, b: number) => a - b;
    return [...items].sort((a, b) => apart(a) - apart(b) || (q.isReversed ? -key(a, b) : key(a, b)) || a - b);
  }

  private shown(i: number, q: Question): number[] {
    const below = this.below(i);
    return this.sorted(q.isFiltered && q.marks ? below.filter((k) => q.marks![k] !== 0) : below, q);
  }

  /** From the largest to its largest child, as long as that has half of it. */
  private hotPath(from: number, metric: number | undefined): number[] {
    const path: number[] = [];
    if (metric === undefined || !this.whole.metrics[metric]!.adds_up) return path;
    const exclusive = this.view !== 'top-down';
    let least = from < 0 ? 0 : this.size(from, metric, exclusive);
    for (let at = from; ;) {
      let [best, largest] = [-1, 0];
      for (const k of this.below(at)) {
        const size = this.size(k, metric, exclusive);
        if (!(size > largest) || !Number.isFinite(size) || this.whole.rows.flags[k]! & APART) continue;
        [best, largest] = [k, size];
      }
      if (best < 0 || largest < least / 2) return path;
      path.push(best);
      at = best;
      least = largest;
    }
  }

  // ---- search

  private search(match: string): Uint8Array {
    const { rows } = this.whole;
    const marks = new Uint8Array(rows.node.length);
    const isMatch = matcher(match);
    for (const i of this.preOrder) {
      const name = rows.name[i];
      if (name !== null && name !== undefined && isMatch(name)) marks[i] = IS_MATCH;
      const parent = this.parent[i]!;
      if (parent >= 0 && marks[parent]! & (IS_MATCH | BELOW)) marks[i]! |= BELOW;
    }
    for (let k = this.preOrder.length - 1; k >= 0; k--) {
      const i = this.preOrder[k]!;
      const parent = this.parent[i]!;
      if (parent >= 0 && marks[i]! & (IS_MATCH | ABOVE)) marks[parent]! |= ABOVE;
    }
    return marks;
  }

  /** What all that matches has together, nested ones once. */
  private foundSum(marks: Uint8Array, metric: number, exclusive: boolean): number | null {
    const { adds_up, has_exclusive } = this.whole.metrics[metric]!;
    if (!adds_up || (exclusive && !has_exclusive)) return null;
    const takesAll = exclusive && this.view === 'top-down';
    let sum = 0;
    const stack = [...this.below(-1)].reverse();
    while (stack.length > 0) {
      const i = stack.pop()!;
      const isMatch = marks[i]! & IS_MATCH;
      const isApart = this.whole.rows.flags[i]! & APART;
      if (isMatch && !isApart) sum += this.value(i, metric, exclusive) ?? 0;
      if (isApart || (isMatch && !takesAll)) continue;
      const below = this.below(i);
      for (let k = below.length - 1; k >= 0; k--) stack.push(below[k]!);
    }
    return sum;
  }

  /** The match behind or before a row, as a reader of the whole tree would meet it; round again from the other end. */
  private nextMatch(q: Question, from: number, isBackwards: boolean): number {
    const all: number[] = [];
    const stack = this.sorted(this.below(-1), q).reverse();
    while (stack.length > 0) {
      const i = stack.pop()!;
      if (i === from || q.marks![i]! & IS_MATCH) all.push(i);
      if (i === from || q.marks![i]! & ABOVE || this.leadsTo(i, from))
        stack.push(...this.sorted(this.below(i), q).reverse());
    }
    const at = all.indexOf(from);
    const found = all.filter((i) => q.marks![i]! & IS_MATCH);
    const further =
      at < 0 ? [] : (isBackwards ? all.slice(0, at) : all.slice(at + 1)).filter((i) => q.marks![i]! & IS_MATCH);
    const some = further.length > 0 ? further : found;
    return some[isBackwards ? some.length - 1 : 0] ?? -1;
  }
  private leadsTo(i: number, to: number): boolean {
    for (let k = to; k >= 0; k = this.parent[k]!) if (k === i) return true;
    return false;
  }

  // ---- answers

  answer(params: Params): TreeAnswer {
    if (['root', 'run', 'location', 'hide', 'hide-subtree'].some((name) => text(params, name) !== null))
      throw new NotInside();
    const metrics = this.chooseMetrics(params);
    const byValue = (sort: string) => sort === 'inclusive' || sort === 'exclusive';
    const sort = text(params, 'sort') ?? (this.view === 'top-down' ? 'inclusive' : 'exclusive');
    const order = text(params, 'order');
    const match = text(params, 'match');
    const marks = match === null ? null : this.search(match);
    const isList = this.view === 'flat' && this.by !== 'scope';
    const hot = isList ? [] : this.hotPath(-1, metrics[0]);
    const q: Question = {
      metrics,
      sort,
      sortMetric: number(params, 'sort_metric', 0),
      isReversed: order !== null && (order === 'ascending') === byValue(sort),
      marks,
      isFiltered: marks !== null && text(params, 'filter') === '1',
      hot: new Set(hot),
    };
    const { lists, rows, at } = this.gather(params, q, hot);
    const found = marks && {
      n: marks.reduce((n, m) => n + (m & IS_MATCH), 0),
      inclusive: metrics.map((m) => this.foundSum(marks, m, false)),
      exclusive: metrics.map((m) => this.foundSum(marks, m, true)),
    };
    const { node } = this.whole.rows;
    const columns = (exclusive: boolean) =>
      rows.length > 0 ? metrics.map((m) => rows.map((i) => this.exact(i, m, exclusive))) : [];
    return {
      view: this.whole.view,
      by: this.whole.by,
      sort,
      run: this.whole.run,
      location: this.whole.location,
      items: this.whole.items,
      has_scopes: this.whole.has_scopes,
      metrics: metrics.map((m): TreeMetric => this.whole.metrics[m]!),
      hidden: null,
      found,
      at: at < 0 ? null : node[at]!,
      hot: hot.map((i) => node[i]!),
      lists,
      rows: this.columns(rows, q),
      inclusive: columns(false),
      exclusive: columns(true),
    };
  }

  private gather(
    params: Params,
    q: Question,
    hot: readonly number[],
  ): { lists: TreeAnswer['lists']; rows: number[]; at: number } {
    const lists: TreeAnswer['lists'] = [];
    const rows: number[] = [];
    const opened = new Set<number>();
    const [offset, limit] = [number(params, 'offset', 0), number(params, 'limit', USUAL_ROWS)];
    let at = -1;
    const open = (i: number, least = 0) => {
      if (opened.has(i) || rows.length >= MOST_ROWS) return;
      opened.add(i);
      const all = this.shown(i, q);
      const some = all.slice(offset, offset + Math.min(Math.max(limit, least), MOST_ROWS - rows.length));
      const missing = q.isFiltered ? 0 : this.missing(i);
      rows.push(...some);
      lists.push({
        node: i < 0 ? -1 : this.whole.rows.node[i]!,
        n: all.length,
        offset,
        rows: some.length,
        ...(missing > 0 ? { missing } : {}),
      });
    };
    const reveal = (i: number) => {
      const path: number[] = [];
      for (let k = i; k >= 0; k = this.parent[k]!) path.push(k);
      for (const k of path.reverse()) open(this.parent[k]!, this.shown(this.parent[k]!, q).indexOf(k) + 1);
    };
    const indexOf = (name: string) => this.indexOf.get(number(params, name, -1)) ?? -1;
    const find = text(params, 'find');
    if (find !== null && q.marks) {
      at = this.nextMatch(q, indexOf('from'), find === 'previous');
      if (at >= 0) reveal(at);
    }
    if (text(params, 'hot') !== null && indexOf('hot') >= 0) {
      open(indexOf('hot'));
      for (const k of this.hotPath(indexOf('hot'), q.metrics[q.sortMetric]).slice(0, MOST_LEVELS)) {
        at = k;
        if (this.below(k).length > 0) open(k);
      }
    }
    if (text(params, 'reveal') !== null && indexOf('reveal') >= 0) reveal(indexOf('reveal'));
    const asked = params['node'];
    if (asked !== undefined && asked !== null) {
      for (const node of Array.isArray(asked) ? asked : [asked]) {
        const i = Number(node) < 0 ? -1 : this.indexOf.get(Number(node));
        if (i !== undefined) open(i);
      }
    } else if (lists.length === 0) {
      open(-1);
      if (!q.isFiltered) for (const k of hot.slice(0, MOST_LEVELS)) if (this.below(k).length > 0) open(k);
    }
    this.openLevels(number(params, 'levels', 1), lists, rows, open);
    return { lists, rows, at };
  }

  private openLevels(levels: number, lists: TreeAnswer['lists'], rows: number[], open: (i: number) => void): void {
    let row = 0;
    for (let level = 1, from = 0; level < levels; level++) {
      const end = lists.length;
      for (let k = from; k < end; k++) {
        const n = lists[k]!.rows;
        for (let i = 0; i < n; i++, row++) if (this.below(rows[row]!).length > 0) open(rows[row]!);
      }
      from = end;
    }
  }

  private columns(rows: readonly number[], q: Question): RowColumns {
    const all = this.whole.rows;
    const flags = (i: number) => {
      const mark = q.marks?.[i] ?? 0;
      return (
        (all.flags[i]! & ~INNER) |
        (q.hot.has(i) ? HOT : 0) |
        (mark & IS_MATCH ? MATCH : 0) |
        (mark & ABOVE ? LEADS_TO_MATCH : 0)
      );
    };
    // Where all of them are missing, opening says so
    const children = (i: number) => {
      if (all.flags[i]! & CUT) return this.below(i).length > 0 ? this.below(i).length : 0;
      if (q.isFiltered && q.marks) return this.below(i).filter((k) => q.marks![k] !== 0).length;
      return this.below(i).length || all.children[i] || 0;
    };
    const out: RowColumns = {
      node: rows.map((i) => all.node[i]!),
      depth: rows.map((i) => all.depth[i]!),
      name: rows.map((i) => all.name[i] ?? null),
      context: rows.map((i) => all.context[i] ?? null),
      children: rows.map(children),
      flags: rows.map(flags),
    };
    for (const key of OPTIONAL) {
      const column = all[key] as (string | number | null)[] | undefined;
      if (column && rows.some((i) => column[i] !== null))
        (out[key] as (string | number | null)[]) = rows.map((i) => column[i] ?? null);
    }
    return out;
  }

  /**
   * Who calls the function of a row, and whom it calls, of all its calls in the tree; null where some of them may not
   * be here.
   */
  private relatives(i: number, metric: number): Sandwich | null {
    if (this.whole.left_out > 0 || !this.whole.metrics[metric]?.has_inclusive) return null;
    const { name, flags, node } = this.whole.rows;
    const names = name.map(bareName);
    const isCall = (k: number) => !(flags[k]! & INNER);
    const [callers, callees] = [new Map<string | null, Relative>(), new Map<string | null, Relative>()];
    // the call that was counted last: those inside are part of it
    const counted = new Map<Relative, number>();
    const add = (to: Map<string | null, Relative>, k: number, of: number) => {
      const found = to.get(names[k]!) ?? { context: node[k]!, name: name[k] ?? null, n: 0, value: 0 };
      to.set(names[k]!, found);
      found.n++;
      const value = this.value(of, metric, false);
      if (value === null || this.leadsTo(counted.get(found) ?? -1, of)) return;
      found.value += Number(value);
      counted.set(found, of);
    };
    const above = (k: number, until?: string | null) => {
      do k = this.parent[k]!;
      while (k >= 0 && !isCall(k) && names[k] !== until);
      return k;
    };
    let calls = 0;
    const own = names[i]!;
    for (const k of this.preOrder) {
      if (isCall(k) && names[above(k, own)] === own) add(callees, k, k);
      if (names[k] !== own) continue;
      calls++;
      const caller = above(k);
      if (caller >= 0) add(callers, caller, k);
    }
    // of the same value the first in the tree is first
    const place = new Map(this.preOrder.map((k, at) => [node[k]!, at]));
    const sorted = (of: Map<string | null, Relative>) => ({
      n: of.size,
      rows: [...of.values()]
        .sort((a, b) => b.value - a.value || place.get(a.context)! - place.get(b.context)!)
        .slice(0, MOST_RELATIVES),
    });
    return { calls, callers: sorted(callers), callees: sorted(callees) };
  }

  /** Of each function its first row in the view; callers have rows below those. */
  private rowsByName(): Map<string | null, number> {
    const found = new Map<string | null, number>();
    const { rows } = this.whole;
    for (const k of this.preOrder) {
      const name = bareName(rows.name[k]);
      const isFunction =
        known(rows.context[k]) !== null &&
        rows.kind?.[k] !== 'call' &&
        (this.view !== 'bottom-up' || this.parent[k]! < 0);
      if (isFunction && !(found.get(name)! <= rows.node[k]!)) found.set(name, rows.node[k]!);
    }
    return found;
  }

  /**
   * Callers and callees of a row's function: as all call paths say it, which `down` has, or an answer about one of
   * them; null: neither.
   */
  private relativesOf(
    context: number | null,
    name: string | null,
    metric: number | undefined,
    down: WholeTree | undefined,
    kept: Kept | undefined,
  ): Sandwich | null {
    const id = metric === undefined ? -1 : this.whole.metrics[metric]!.id;
    const at = down?.indexOf.get(context ?? -1);
    const found =
      context === null
        ? { calls: 0, callers: NOBODY, callees: NOBODY }
        : kept && bareName(kept.name) === bareName(name) && kept.metrics[0]?.id === id
          ? kept
          : at === undefined
            ? null
            : down!.relatives(
                at,
                down!.whole.metrics.findIndex((m) => m.id === id),
              );
    if (!found || this === down) return found;
    const rows = this.rowsByName();
    const placed = ({ n, rows: all }: Relatives): Relatives => ({
      n,
      rows: all.map(({ context, name, n, value }) => ({
        context,
        node: rows.get(bareName(name)) ?? null,
        name,
        n,
        value,
      })),
    });
    return { calls: found.calls, callers: placed(found.callers), callees: placed(found.callees) };
  }

  /**
   * What the trees know of a context, or of a row of this view, as api/node says it. kept: what the report holds of a
   * call path of this function.
   */
  node(
    params: Params,
    down: WholeTree | undefined,
    kept: (context: number, name: string | null) => Kept | undefined,
  ): unknown {
    const isDown = this === down;
    const i = this.indexOf.get(number(params, isDown ? 'context' : 'node', -1));
    if (i === undefined) throw new NotInside();
    const { rows } = this.whole;
    const metrics = this.chooseMetrics(params);
    const path: { context: number | null; node: number; name: string | null }[] = [];
    for (let k = i; k >= 0; k = this.parent[k]!)
      path.unshift({ context: known(rows.context[k]), node: rows.node[k]!, name: rows.name[k] ?? null });
    let below = 0;
    if (isDown)
      for (const stack = [i]; stack.length > 0;)
        for (const k of this.below(stack.pop()!)) ((below += 1), stack.push(k));
    const { context, name } = path[path.length - 1]!;
    const place = Object.fromEntries(OPTIONAL.map((key) => [key, rows[key]?.[i] ?? null]));
    const one = context === null ? undefined : kept(context, name);
    // Of another call path the function is the same, its source where that is the same place
    const isSame = one?.context === context;
    const isThere = isSame || (one?.file === place['file'] && one?.line === place['line']);
    const relatives = this.relativesOf(context, name, metrics[0], down, one);
    return {
      context,
      name,
      ...place,
      is_aside: (rows.flags[i]! & 2) !== 0,
      is_inlined: (rows.flags[i]! & 4) !== 0,
      below,
      path,
      metrics: metrics.map((m) => this.whole.metrics[m]!),
      values: this.whole.metrics.map((m, k) => ({
        id: m.id,
        name: m.name,
        display_name: m.display_name,
        unit: m.unit,
        ...(m.has_inclusive ? { inclusive: this.exact(i, k, false) } : {}),
        ...(m.has_exclusive ? { exclusive: this.exact(i, k, true) } : {}),
      })),
      ...(relatives ?? { calls: 0, callers: NOBODY, callees: NOBODY }),
      source_id: isDown && isSame ? (one?.source_id ?? null) : null,
      source: isThere ? (one?.source ?? null) : null,
      attributes: one?.attributes.filter((a) => a.owner === 'region' || (isDown && isSame)) ?? [],
      lacks: [
        ...(relatives ? [] : ['callers and callees']),
        ...(context === null || isThere ? [] : ['lines of the source']),
        ...(context === null || isSame || (!isDown && one) ? [] : ['attributes']),
      ],
    };
  }
}
