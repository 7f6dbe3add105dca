// What changed, as a tree of call paths or a list of functions.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { isReport, type Opened, type Params } from '../api';
import { Failed, Waiting } from '../boundary';
import { roomFor } from '../canvas';
import {
  exactValue,
  finiteSize,
  formatChange,
  formatQuantity,
  longestText,
  quantityOf,
  real,
  type Quantity,
} from '../format';
import { useKeys } from '../keys';
import type { MenuEntry } from '../menu';
import { navigate, selectionPatch } from '../state';
import { copyText } from '../toast';
import {
  lineKey,
  MatchedName,
  moreOf,
  nameCells,
  shapeOf,
  useLine,
  useLists,
  useOpenNodes,
  useShape,
  type Listed,
} from '../uselists';
import { VTable, exactly, focusTable, type Column, type TreeShape } from '../vtable';
import {
  CompareModel,
  exactOf,
  isNoise,
  MATCH,
  noiseOf,
  ONLY_A,
  ONLY_B,
  spreadText,
  sureText,
  type Amount,
  type CompareAnswer,
  type CompareEntry,
  type CompareRow,
  type View,
} from './compare-data';
import { placeText, unpackOpen } from './tree-data';

export interface PartProps {
  /** Of all requests. */
  params: Params;
  view: View;
  setView: (patch: Partial<View>, how?: 'push' | 'replace') => void;
  search: string;
  /** The context that is chosen on the other screens, and of which side it is; null: none of both. */
  chosen: { side: 0 | 1; context: number } | null;
  onChoose: (node: number, contexts: readonly [number | null, number | null]) => void;
}

export type CompareTree = Listed<CompareAnswer, CompareModel>;

/** The comparison as the parameters say; what is open stays open as long as it is the same pair. */
export function useComparison(params: Params, shape: string, chosen: PartProps['chosen'], open: string): CompareTree {
  const isSearch = params['match'] !== null;
  const reveal = {
    ...(open && !isSearch ? { node: [-1, ...unpackOpen(open)] } : {}),
    ...(chosen && !isReport() && !isSearch ? { [chosen.side === 0 ? 'reveal_a' : 'reveal_b']: chosen.context } : {}),
  };
  return useLists('compare', params, shape, reveal, () => new CompareModel(isReport()), !isSearch && !isReport());
}

/** A number in the middle of which nothing changed: less to the left, more to the right. */
function ChangeCell({
  text,
  part,
  isGrey,
  tip,
}: {
  text: string;
  part: number;
  isGrey: boolean;
  tip?: string | undefined;
}) {
  const width = `${(Math.min(1, Math.abs(part) || 0) * 50).toFixed(2)}%`;
  return (
    <span class="change-cell" title={tip}>
      <span class="change-track" aria-hidden="true">
        {part !== 0 && (
          <span
            class={isGrey ? 'change-bar grey' : part > 0 ? 'change-bar more' : 'change-bar less'}
            style={part > 0 ? { left: '50%', width } : { right: '50%', width }}
          />
        )}
      </span>
      <span class="change-text">{text}</span>
    </span>
  );
}

function Name({ row, search }: { row: CompareRow; search: string }) {
  return (
    <>
      <MatchedName name={row.name} isMatch={(row.flags & MATCH) !== 0} search={search} />
      {row.in === ONLY_A && (
        <span class="side-badge less" title="Only A has it">
          only A
        </span>
      )}
      {row.in === ONLY_B && (
        <span class="side-badge more" title="Only B has it">
          only B
        </span>
      )}
    </>
  );
}

const signed = (quantity: Quantity, value: number | null): string =>
  value === null ? '' : (value > 0 ? '+' : '') + formatQuantity(quantity, value);

/** The change as a part of A: "+16.1", "new", "gone". */
function relativeText(row: CompareRow, scale: number, bySelf: boolean): string {
  if (row.in === ONLY_B) return 'new';
  if (row.in === ONLY_A) return 'gone';
  if (!bySelf)
    return row.relative === null && row.change !== null && row.change !== 0 ? 'new' : formatChange(row.relative);
  if (row.change_exclusive === 0) return '0';
  return row.a_exclusive === 0
    ? 'new'
    : formatChange((row.change_exclusive ?? NaN) / Math.abs((row.a_exclusive ?? NaN) * scale));
}

/** "1.08 … 1.13, p = 0.002": how sure it is. */
function verdictTip(row: CompareRow): string {
  if (row.verdict === null) return '';
  return [row.verdict, sureText(row)].filter(Boolean).join('; ');
}

function columnsOf(
  answer: CompareAnswer,
  model: CompareModel,
  isFlat: boolean,
  search: string,
  tree: TreeShape,
  noise: number,
  loadMore: (entry: CompareEntry) => void,
): Column<CompareEntry>[] {
  const rows = [...model.rows.values()].slice(0, 3000);
  const largest = Math.max(
    finiteSize(answer.a.total),
    finiteSize(answer.b.total),
    ...rows.map((r) => Math.max(finiteSize(r.a), finiteSize(r.b))),
  );
  const isWhole = rows.every((r) => Number.isInteger(r.a ?? 0) && Number.isInteger(r.b ?? 0));
  const quantity = quantityOf(answer.unit, largest, isWhole);
  const bySelf = isFlat && answer.has_exclusive;
  const most = Math.max(
    ...rows.map((r) => finiteSize(bySelf ? r.change_exclusive : r.change)),
    bySelf ? 0 : finiteSize(real(answer.b.total) - real(answer.a.total) * answer.scale),
    0,
  );
  const changes = most > 0 ? quantityOf(answer.unit, most, isWhole && answer.scale === 1) : quantity;
  const whole = finiteSize(answer.a.total) * answer.scale;
  // As wide as the longest number, so that names have the rest
  const room = (q: Quantity, size: number) => Math.max(76, roomFor(longestText(q, size)));
  const text =
    (of: (row: CompareRow) => string) =>
    ({ row }: CompareEntry) =>
      row ? of(row) : '';
  const number = (id: string, title: string, of: Amount): Column<CompareEntry> => ({
    id,
    title,
    unit: quantity.unit,
    width: room(quantity, largest),
    align: 'right',
    sortable: true,
    cell: ({ row }) => row && formatQuantity(quantity, row[of]),
    ...exactly(answer.unit, ({ row }: CompareEntry) => row && exactOf(row, of)),
  });
  const change = (title: string, of: Amount): Column<CompareEntry> => ({
    ...number('change', title, of),
    unit: changes.unit,
    width: (innerWidth < 1200 ? 80 : 116) + room(changes, most),
    cell: ({ row }) =>
      row && (
        <ChangeCell
          text={signed(changes, row[of])}
          part={(row[of] ?? 0) / (most || 1)}
          isGrey={isNoise(row, noise)}
          tip={row.spread[0] === null ? undefined : spreadText(answer, row.spread)}
        />
      ),
  });
  const plainChange = (id: string, title: string, of: Amount): Column<CompareEntry> => ({
    ...number(id, title, of),
    unit: changes.unit,
    width: 24 + room(changes, most),
    sortable: id === 'self',
    cell: ({ row }) => row && signed(changes, row[of]),
  });
  const percent = (id: string, title: string, width: number, of: (r: CompareRow) => string): Column<CompareEntry> => ({
    id,
    title,
    width,
    align: 'right',
    sortable: id !== 'part',
    cell: ({ row }) => row && <span class="share">{of(row)}</span>,
    text: text(of),
  });
  const part = (r: CompareRow) => ((bySelf ? r.change_exclusive : r.change) ?? NaN) / whole;
  return [
    {
      id: 'name',
      title: isFlat ? 'Function' : 'Call path',
      width: '1fr',
      least: innerWidth < 1200 ? 210 : 250,
      fixed: true,
      sortable: true,
      ...nameCells(tree, loadMore, (row) => <Name row={row} search={search} />),
    },
    ...(answer.metric === null
      ? []
      : [
          ...(bySelf
            ? [
                number('base', 'A self', 'a_exclusive'),
                number('target', 'B self', 'b_exclusive'),
                change('Δ self', 'change_exclusive'),
              ]
            : [number('base', 'A', 'a'), number('target', 'B', 'b'), change('Δ', 'change')]),
          percent('relative', 'Δ %', 82, (r) => relativeText(r, answer.scale, bySelf)),
          ...(answer.adds_up && whole > 0 ? [percent('part', 'Δ of all %', 82, (r) => formatChange(part(r)))] : []),
          ...(answer.has_exclusive
            ? [
                bySelf
                  ? plainChange('inclusive', 'Δ inclusive', 'change')
                  : plainChange('self', 'Δ self', 'change_exclusive'),
              ]
            : []),
        ]),
    ...(answer.rows.verdict
      ? [
          {
            id: 'verdict',
            title: 'Verdict',
            width: 150,
            cell: ({ row }) => row && <span title={verdictTip(row)}>{row.verdict}</span>,
            text: text(verdictTip),
          } satisfies Column<CompareEntry>,
        ]
      : []),
    ...(rows.some((r) => r.file)
      ? [
          {
            id: 'place',
            title: 'Source',
            width: 140,
            cell: ({ row }) => row && <span class="hint">{placeText(row.file, row.line)}</span>,
            text: text((r) => (r.file ? `${r.file}${r.line ? `:${r.line}` : ''}` : '')),
          } satisfies Column<CompareEntry>,
        ]
      : []),
  ];
}

/** Columns that give their room to names where the window is narrower, unless somebody chooses. */
const USUALLY_HIDDEN: [string, number][] = [
  ['place', 1100],
  ['self', 1000],
  ['inclusive', 1000],
  ['part', 900],
];

/** sides: the inputs; shown: which of them the other screens show. */
export function ComparisonTable({
  view,
  setView,
  search,
  chosen,
  onChoose,
  comparison,
  sides,
  shown,
}: PartProps & { comparison: CompareTree; sides: [Opened, Opened]; shown: 0 | 1 }) {
  const { loaded, error, isOld, ask } = comparison;
  const box = useRef<HTMLDivElement>(null);
  const isFlat = view.tab === 'functions';
  const model = loaded?.model;
  const entries = model?.entries() ?? [];
  const isRow = (r: CompareRow) =>
    chosen && !isFlat ? r.contexts[chosen.side] === chosen.context : r.node === view.row;
  const selected = entries.findIndex((e) => e.row !== null && isRow(e.row));
  const row = selected >= 0 ? entries[selected]!.row : null;
  const noise = loaded ? noiseOf(loaded.answer, view.noise) : 0;
  const { changed, open: openNode } = useOpenNodes(
    comparison,
    isFlat || search ? '' : view.open,
    (open, how) => !isFlat && !search && setView({ open }, how),
    (answer) => answer.lists.map((l) => l.node).filter((n) => n >= 0),
  );

  // Chosen elsewhere: show it
  useEffect(() => {
    if (model && chosen && !isFlat && selected < 0 && !isOld && !search && !isReport())
      void ask({ [chosen.side === 0 ? 'reveal_a' : 'reveal_b']: chosen.context });
  }, [chosen?.side, chosen?.context, model, isOld]);
  useEffect(() => focusTable(box.current), [model !== undefined]);

  const loadMore = (entry: CompareEntry) => moreOf(comparison, entry);
  const choose = (r: CompareRow | null | undefined) => r && onChoose(r.node, r.contexts);
  /** Down to where it happened: always the child that changed most. */
  const follow = async () => {
    if (!model) return;
    let at: CompareRow | undefined = row ?? model.rows.get(model.lists.get(-1)?.nodes[0] ?? -1);
    for (let level = 0; at && level < 60; level++) {
      await openNode(at);
      const below: CompareRow[] = (model.lists.get(at.node)?.nodes ?? []).map((n) => model.rows.get(n)!);
      const next: CompareRow | undefined = below.sort((x, y) => Math.abs(y.change ?? 0) - Math.abs(x.change ?? 0))[0];
      if (!next || Math.abs(next.change ?? 0) < 0.5 * Math.abs(at.change ?? 0)) break;
      at = next;
    }
    choose(at);
  };
  useKeys('Changes', [
    { key: 'h', label: 'Down to where most of the change is', run: () => void follow() },
    { key: '-', label: 'Close everything', run: () => (model?.open.clear(), changed()) },
    { key: 'Space', label: 'Open or close', hidden: true, run: () => selected >= 0 && tree.toggle(selected) },
  ]);
  const tree = useShape(shapeOf(entries, model, changed, openNode));
  const [line, selectLine] = useLine(entries, selected, choose);
  const columns = useMemo(
    () => (loaded && model ? columnsOf(loaded.answer, model, isFlat, search, tree, noise, loadMore) : []),
    [loaded, model?.rows.size, entries.length, search, noise],
  );
  if (error) return <Failed failure={error} />;
  if (!loaded || !model) return <Waiting />;
  const rowMenu = (i: number): MenuEntry[] => {
    const r = entries[i]?.row;
    if (!r) return [];
    // The side that is looked at; what that one does not have is the other's
    const own = r.contexts[shown] === null ? ((1 - shown) as 0 | 1) : shown;
    return [
      { label: 'Down to where most of the change is', hint: 'h', run: () => void follow() },
      {
        label: 'Show in the flame graph',
        disabled: isFlat,
        run: () => (choose(r), setView({ tab: 'flame', root: -1 })),
      },
      {
        label: `Show in the tree of ${sides[own].name}`,
        run: () => navigate(selectionPatch({ dataset: sides[own].id, node: r.contexts[own] }), 'push', 'tree'),
      },
      'line',
      { label: 'Copy name', run: () => void copyText(r.name) },
      {
        label: 'Copy path',
        run: () =>
          void copyText(
            model
              .path(r.node)
              .map((p) => p.name)
              .join('->'),
          ),
      },
      {
        label: 'Copy values',
        run: () =>
          void copyText(
            (['a', 'b', 'change'] as const)
              .map((of, k) => `${['A', 'B', 'change'][k]} ${exactValue(loaded.answer.unit, exactOf(r, of))}`)
              .join(', '),
          ),
      },
    ];
  };
  const sorted = view.sort || 'change';
  const byName = sorted === 'name';
  return (
    <div class={isOld ? 'fill tree-screen old' : 'fill tree-screen'} ref={box}>
      <VTable
        label={isFlat ? 'Functions that changed' : 'Call paths that changed'}
        columns={columns}
        rowCount={entries.length}
        row={(i) => entries[i]}
        rowKey={(i) => lineKey(entries[i])}
        {...(isFlat ? {} : { tree })}
        selected={line}
        onSelect={selectLine}
        onOpen={(i) => (entries[i]?.more ? void loadMore(entries[i]!).then(choose) : tree.toggle(i))}
        rowMenu={rowMenu}
        rowClass={(i) => (!entries[i]?.row || isNoise(entries[i]!.row!, noise) ? 'dimmed' : undefined)}
        sort={{
          column: sorted === 'increase' ? 'change' : sorted,
          descending: byName ? view.order === 'descending' : view.order !== 'ascending',
        }}
        onSort={({ column, descending }) => {
          // Sizes of changes first; pressed again by sign, the largest increase or the largest decrease first
          if (column === 'change')
            setView(
              sorted === 'change'
                ? { sort: 'increase', order: '' }
                : sorted === 'increase' && view.order === ''
                  ? { sort: 'increase', order: 'ascending' }
                  : { sort: '', order: '' },
            );
          else
            setView({
              sort: column,
              order: column === 'name' ? (descending ? 'descending' : '') : descending ? '' : 'ascending',
            });
        }}
        hidden={
          view.hidden === '-'
            ? USUALLY_HIDDEN.filter(([, least]) => innerWidth < least).map(([id]) => id)
            : view.hidden.split(' ').filter(Boolean)
        }
        onHidden={(hidden) => setView({ hidden: hidden.join(' ') }, 'replace')}
        empty={
          search ? 'No name matches' : view.hide ? `Nothing changed by ${view.noise} % of the whole` : 'Nothing to show'
        }
      />
    </div>
  );
}
