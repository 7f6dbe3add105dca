// A tree of lists (listmodel.ts) on a screen: asked for, opened and closed, its names with what was searched for.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { canonical, failure, get, isAborted, type Failure, type Params } from './api';
import { formatCount } from './format';
import type { EntryOf, ListModel, ModelRow, RowLists } from './listmodel';
import { APART, ASIDE, matchIn, packOpen, unpackOpen } from './screens/tree-data';
import { toastError } from './toast';
import { TreeCell, type Column, type TreeShape } from './vtable';

const MOST_OPEN = 400;

export interface Listed<A, M> {
  loaded: { model: M; answer: A; shape: string } | null;
  error: Failure | null;
  /** What is shown is the answer to an earlier question. */
  isOld: boolean;
  /** More of the same tree. */
  ask: (extra: Params) => Promise<A | null>;
  redraw: () => void;
}

/**
 * The tree as the parameters say. What is open stays open as long as `shape` is the same; else `first` says what to
 * open. make: an empty model.
 */
export function useLists<A extends RowLists, M extends ListModel<ModelRow> & { take: (answer: A) => void }>(
  path: string,
  params: Params,
  shape: string,
  first: Params,
  make: () => M,
  isKept = true,
): Listed<A, M> {
  const key = canonical(path, params);
  const [state, setState] = useState<{ key: string; loaded: Listed<A, M>['loaded']; error: Failure | null }>({
    key: '',
    loaded: null,
    error: null,
  });
  const [, setDrawn] = useState(0);
  const redraw = () => setDrawn((n) => n + 1);
  const latest = useRef(key);
  latest.current = key;
  useEffect(() => {
    const abort = new AbortController();
    const open = state.loaded?.shape === shape && isKept ? state.loaded.model.open : null;
    get<A>(
      path,
      { ...params, ...(open && open.size > 0 ? { node: [-1, ...[...open].slice(0, MOST_OPEN)] } : first) },
      abort.signal,
    ).then(
      (answer) => {
        const model = make();
        model.take(answer);
        setState({ key, loaded: { model, answer, shape }, error: null });
      },
      (error: unknown) => {
        if (!isAborted(error)) setState({ key, loaded: null, error: failure(error) });
      },
    );
    return () => abort.abort();
  }, [key]);
  const ask = async (extra: Params): Promise<A | null> => {
    const model = state.loaded?.model;
    if (!model) return null;
    try {
      const answer = await get<A>(path, { ...params, ...extra });
      if (latest.current !== key) return null;
      model.take(answer);
      redraw();
      return answer;
    } catch (error) {
      if (!isAborted(error)) toastError(error);
      return null;
    }
  };
  return { loaded: state.loaded, error: state.error, isOld: state.key !== key, ask, redraw };
}

/** What the table needs to know of the lines of a tree. */
export function shapeOf<R extends ModelRow>(
  entries: readonly EntryOf<R>[],
  model: ListModel<R> | undefined,
  redraw: () => void,
  openNode: (row: R) => Promise<void>,
): TreeShape {
  return {
    level: (i) => entries[i]?.row?.depth ?? entries[i]?.more?.depth ?? 0,
    isExpandable: (i) => {
      const row = entries[i]?.row;
      return row !== null && row !== undefined && model !== undefined && model.isExpandable(row);
    },
    isExpanded: (i) => model?.open.has(entries[i]?.row?.node ?? -1) ?? false,
    toggle: (i) => {
      const row = entries[i]?.row;
      if (!row || !model) return;
      if (model.open.delete(row.node)) redraw();
      else void openNode(row);
    },
    among: (i) => {
      const row = entries[i]?.row;
      const list = model?.lists.get(row?.parent ?? entries[i]?.more?.node ?? -1);
      return [row ? (list?.nodes.indexOf(row.node) ?? 0) + 1 : (list?.n ?? 1), list?.n ?? 1];
    },
    parent: (i) => {
      const above = entries[i]?.row?.parent ?? entries[i]?.more?.node ?? -1;
      return above < 0 ? -1 : entries.findIndex((e) => e.row?.node === above);
    },
  };
}

/** What tells a line of the table from all others. */
export const lineKey = (entry: EntryOf<ModelRow> | undefined): string | number =>
  entry?.row?.node ?? `more ${entry?.more?.node} ${entry?.more?.isMissing}`;

/**
 * The selected line: that of the chosen row, or one that stands for more, which is nobody's choice, but has to be
 * passed and can be opened.
 */
export function useLine<R extends ModelRow>(
  entries: readonly EntryOf<R>[],
  chosen: number,
  choose: (row: R) => void,
): [number, (line: number) => void] {
  const [more, setMore] = useState<{ key: string | number; chosen: string | number } | null>(null);
  const at =
    more && more.chosen === lineKey(entries[chosen]) ? entries.findIndex((e) => e.more && lineKey(e) === more.key) : -1;
  const select = (line: number) => {
    const entry = entries[line];
    setMore(entry?.more ? { key: lineKey(entry), chosen: lineKey(entries[chosen]) } : null);
    if (entry?.row) choose(entry.row);
  };
  return [at >= 0 ? at : chosen, select];
}

/** Asks for what a line stands for; gives the first of the rows that came. */
export async function moreOf<A, R extends ModelRow>(
  { loaded, ask }: Listed<A, ListModel<R>>,
  { more }: EntryOf<R>,
): Promise<R | undefined> {
  const model = loaded?.model;
  const offset = model?.lists.get(more?.node ?? -1)?.nodes.length ?? 0;
  if (!more || more.isMissing || !(await ask({ node: more.node, offset }))) return undefined;
  return model?.rows.get(model.lists.get(more.node)?.nodes[offset] ?? -1);
}

export interface OpenNodes<R> {
  /** Writes down what is open now. */
  keep: (how?: 'replace') => void;
  /** The same, and the table shows it. */
  changed: () => void;
  open: (row: R) => Promise<void>;
  /** The same, for whoever writes it with something else. */
  packed: () => string;
}

/**
 * Which nodes are open is in the address (`text`, as packOpen() has it), and followed there: back, forward, or another
 * address. usual: what is open where it says nothing.
 */
export function useOpenNodes<A, R extends ModelRow>(
  { loaded, ask, redraw }: Listed<A, ListModel<R>>,
  text: string,
  write: (text: string, how?: 'replace') => void,
  usual: (answer: A) => readonly number[],
): OpenNodes<R> {
  const written = useRef(text);
  const model = loaded?.model;
  const packed = () => (written.current = model ? packOpen(model.open) : '');
  useEffect(() => {
    if (!model || !loaded || text === written.current) return;
    written.current = text;
    const wanted = text ? unpackOpen(text) : usual(loaded.answer).filter((n) => model.lists.has(n));
    const missing = wanted.filter((n) => !model.lists.has(n));
    model.open.clear();
    for (const n of wanted) model.open.add(n);
    if (missing.length > 0) void ask({ node: missing });
    else redraw();
  }, [text, model]);
  const keep = (how?: 'replace') => model && write(packed(), how);
  const changed = () => {
    redraw();
    keep();
  };
  const open = async (row: R) => {
    if (!model || !model.isExpandable(row)) return;
    if (model.lists.has(row.node)) model.open.add(row.node);
    else if (!(await ask({ node: row.node }))) return;
    changed();
  };
  return { keep, changed, open, packed };
}

/** As the table of the last call, wherever it is asked: columns are made once for many tables. */
export function useShape(tree: TreeShape): TreeShape {
  return Object.assign(useRef({} as TreeShape).current, tree);
}

/** A name, and in it what is searched for; a pattern marks all of it. */
export function MatchedName({ name, isMatch, search }: { name: string; isMatch: boolean; search: string }) {
  const at = isMatch ? (matchIn(name, search) ?? [0, name.length]) : null;
  if (!at) return <>{name}</>;
  return (
    <>
      {name.slice(0, at[0])}
      <mark>{name.slice(at[0], at[1])}</mark>
      {name.slice(at[1])}
    </>
  );
}

/** What is no part of the whole says so, as `assay diff` does. */
export function Apart({ row }: { row: { flags: number } }) {
  return row.flags & (APART | ASIDE) ? <span class="hint">{row.flags & APART ? ' section' : ' aside'}</span> : null;
}

/** Stands for the rest of a list. */
function MoreCell({ more, onMore }: { more: NonNullable<EntryOf<ModelRow>['more']>; onMore: () => void }) {
  return (
    <span class="tree-cell" style={{ '--level': more.depth }}>
      <span class="twist none" />
      {more.isMissing ? (
        <span class="hint">{`${formatCount(more.left)} smaller, not in this report`}</span>
      ) : (
        <button class="link" onClick={onMore}>{`${formatCount(more.left)} more …`}</button>
      )}
    </span>
  );
}

/** Of the column of names: rows in their places, and what stands for the rest of a list. */
export function nameCells<R extends ModelRow & { name: string }>(
  tree: TreeShape,
  loadMore: (entry: EntryOf<R>) => void,
  name: (row: R) => ComponentChildren,
): Pick<Column<EntryOf<R>>, 'cell' | 'text'> {
  return {
    cell: (entry, index) =>
      entry.row ? (
        <TreeCell tree={tree} index={index}>
          {name(entry.row)}
        </TreeCell>
      ) : (
        <MoreCell more={entry.more!} onMore={() => loadMore(entry)} />
      ),
    text: ({ row, more }) => row?.name ?? `${more!.left} more`,
  };
}
