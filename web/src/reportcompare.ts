// A comparison inside a report, and what the server would answer to requests for parts of it in another order
// (docs/viewer-api.md, api/compare).
import type { Params } from './api';
import { real, type Num } from './format';
import { matcher } from './screens/tree-data';
import { MATCH, type CompareAnswer } from './screens/compare-data';

/** Marks of a search; the first two are flags of rows. */
const [IS_MATCH, ABOVE, BELOW] = [MATCH, 64, 128];

/**
 * The lists that are inside, sorted and searched; of nodes that are asked for their lists, where there are none empty
 * ones that say what is missing.
 */
export function compared(answer: CompareAnswer, params: Params): CompareAnswer {
  const { rows } = answer;
  const starts: number[] = [];
  answer.lists.reduce((at, list) => (starts.push(at), at + list.rows), 0);
  const rowOf = new Map(rows.node.map((node, i) => [node, i]));
  const search = params['match'] ? matcher(String(params['match'])) : null;
  const marks = rows.name.map((name) => (search?.(name ?? '') ? IS_MATCH : 0));
  const rowsOf = (k: number) => Array.from({ length: answer.lists[k]!.rows }, (_, i) => starts[k]! + i);
  const above = answer.lists.map(({ node }) => rowOf.get(node) ?? -1);
  // Lists of those above come before those below
  for (let k = above.length - 1; k >= 0; k--)
    if (above[k]! >= 0 && rowsOf(k).some((i) => marks[i]! > 0)) marks[above[k]!]! |= ABOVE;
  above.forEach(
    (i, k) => i >= 0 && marks[i]! & (IS_MATCH | BELOW) && rowsOf(k).forEach((below) => (marks[below]! |= BELOW)),
  );
  const bySelf = answer.view === 'flat' && answer.has_exclusive;
  const column = (key: string): Num[] =>
    (rows as unknown as Record<string, Num[]>)[bySelf ? `${key}_exclusive` : key] ?? [];
  const or = (value: number, unknown: number) => (Number.isNaN(value) ? unknown : value);
  const at = (of: Num[] | undefined, i: number) => real(of?.[i]);
  const keys: Record<string, (i: number) => number> = {
    change: (i) => or(Math.abs(at(column('change'), i)), -1),
    increase: (i) => or(at(column('change'), i), 0),
    relative: (i) =>
      at(column('change'), i) && or(Math.abs(at(column('change'), i) / (at(column('a'), i) * answer.scale)), Infinity),
    base: (i) => or(at(column('a'), i), -Infinity),
    target: (i) => or(at(column('b'), i), -Infinity),
    self: (i) => or(Math.abs(at(rows.change_exclusive, i)), -1),
  };
  const sort = String(params['sort'] ?? 'change');
  const key = keys[sort] ?? (() => 0);
  const name = (i: number) => rows.name[i] ?? '';
  const isText = sort === 'name' || sort === 'source';
  const way = params['order'] && (params['order'] === 'ascending') !== isText ? -1 : 1;
  const before = (a: number, b: number) =>
    (sort === 'source' ? 0 : (rows.flags[a]! & 1) - (rows.flags[b]! & 1)) ||
    way *
      (key(b) - key(a) ||
        (sort === 'name' ? Number(name(a) > name(b)) - Number(name(a) < name(b)) : 0) ||
        rows.node[a]! - rows.node[b]!);
  const wanted = params['node'] === undefined || params['node'] === null ? null : [params['node']].flat().map(Number);
  const order: number[] = [];
  const lists = answer.lists.flatMap((list, k) => {
    if (wanted ? !wanted.includes(list.node) : search && above[k]! >= 0 && !(marks[above[k]!]! & ABOVE)) return [];
    const found = rowsOf(k)
      .filter((i) => !search || marks[i]! > 0)
      .sort(before);
    order.push(...found);
    return [
      { node: list.node, n: found.length, offset: 0, rows: found.length, missing: search ? 0 : list.n - list.rows },
    ];
  });
  for (const node of wanted ?? [])
    if (!lists.some((list) => list.node === node))
      lists.push({ node, n: 0, offset: 0, rows: 0, missing: rows.children[rowOf.get(node) ?? -1] ?? 0 });
  const picked = Object.fromEntries(
    Object.entries(rows).map(([key, list]) => [
      key,
      list && order.map((i) => (key === 'flags' ? rows.flags[i]! | (marks[i]! & ~BELOW) : (list as unknown[])[i])),
    ]),
  ) as unknown as CompareAnswer['rows'];
  return { ...answer, found: search ? marks.filter((m) => m & IS_MATCH).length : null, lists, rows: picked };
}
