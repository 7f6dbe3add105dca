// The call tree: top-down, bottom-up or flat, with what is asked for opened when it is looked at.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { isReport, type Metric, type Opened, type Params } from '../api';
import { Failed, Waiting } from '../boundary';
import { roomFor } from '../canvas';
import {
  exactValue,
  finiteSize,
  formatCount,
  formatPercent,
  formatQuantity,
  longestText,
  plural,
  quantityOf,
} from '../format';
import { formulasFor } from '../formulas';
import { NEXT_MATCH, useKeys } from '../keys';
import { openMenu, type MenuEntry } from '../menu';
import { runWords, shownParams } from '../shown';
import { navigate, readScreen, select, useScreen, type Selection } from '../state';
import { copyText } from '../toast';
import {
  BarCell,
  VTable,
  copyRows,
  exactly,
  focusTable,
  type Column,
  type TreeShape,
  type VTableProps,
} from '../vtable';
import {
  Apart,
  lineKey,
  MatchedName,
  moreOf,
  nameCells,
  shapeOf,
  useLine,
  useLists,
  useOpenNodes,
  useShape,
} from '../uselists';
import { commandLine, type Screen, type ScreenProps } from './screen';
import {
  APART,
  ASIDE,
  CUT,
  exactOf,
  HOT,
  MATCH,
  matchOption,
  placeText,
  plainName,
  shownName,
  TreeModel,
  unpackOpen,
  wholeName,
  type Entry,
  type TreeAnswer,
  type TreeRow,
  type TreeView,
} from './tree-data';
import { TreePanel } from './tree-panel';

/**
 * hide, without: what is hidden alone, and with all below it; a pattern a line, as the search takes them. least:
 * percent. open: packOpen().
 */
const DEFAULTS = {
  view: 'top-down',
  by: '',
  sort: '',
  order: '',
  filter: false,
  root: -1,
  row: -1,
  metrics: '',
  hidden: '-',
  columns: '',
  cube: false,
  panel: true,
  hide: '',
  without: '',
  least: 0,
  open: '',
};
type View = ReturnType<typeof readScreen<typeof DEFAULTS>>;

const VIEWS: [TreeView, string][] = [
  ['top-down', 'Top-down'],
  ['bottom-up', 'Bottom-up'],
  ['flat', 'Flat'],
];
/** Trees of their own, where the input has GPU activities. */
const REGROUPED: [TreeView, string][] = [
  ['kernel', 'Kernels'],
  ['api', 'API calls'],
  ['nvtx', 'NVTX'],
];
const isRegrouped = (view: View): boolean => REGROUPED.some(([id]) => id === view.view);
/** Inclusive values come first. */
const leadsDown = (view: View): boolean => view.view !== 'bottom-up' && view.view !== 'flat' && view.view !== 'kernel';
const GROUPS = ['scope', 'region', 'file', 'module', 'kind'];
const LEAST = [0, 0.1, 0.5, 1, 2, 5, 10];
const lines = (text: string): string[] => text.split('\n').filter(Boolean);
const patterns = (text: string): string[] => lines(text).map(matchOption);

/** Ids of the metrics beside the first; "-": there are none. */
const otherMetrics = (text: string): number[] =>
  text
    .split(' ')
    .filter((id) => /^\d+$/.test(id))
    .map(Number);

/** What an answer depends on, but for what is open. */
function treeParams(input: Opened, metric: Metric | null, selection: Selection, view: View): Params {
  const values = shownParams(input, metric, selection);
  return {
    ...values,
    ...(view.metrics && metric ? { metric: null, metrics: [metric.id, ...otherMetrics(view.metrics)].join(',') } : {}),
    view: view.view === 'top-down' || isRegrouped(view) ? null : view.view,
    by: isRegrouped(view) ? view.view : view.view === 'flat' && view.by ? view.by : null,
    root: view.root >= 0 && !isRegrouped(view) ? view.root : null,
    ...(isReport()
      ? {}
      : { hide: patterns(view.hide), 'hide-subtree': patterns(view.without), 'min-share': view.least || null }),
    sort: sortOf(selection, view),
    sort_metric: sortMetric(view) || null,
    order: view.order || null,
    match: selection.search || null,
    filter: selection.search && view.filter ? 1 : null,
  };
}

/** "x1" is the exclusive value of the second metric. */
function sortOf(selection: Selection, view: View): string | null {
  if (view.sort === 'name' || view.sort === 'source') return view.sort;
  const usual = leadsDown(view) ? 'inclusive' : 'exclusive';
  const wanted = view.sort
    ? view.sort.startsWith('x')
      ? 'exclusive'
      : 'inclusive'
    : selection.sides === 'exclusive'
      ? 'exclusive'
      : usual;
  return wanted === usual ? null : wanted;
}
const sortMetric = (view: View): number => Number(/\d+$/.exec(view.sort)?.[0] ?? 0);

function Name({ row, search }: { row: TreeRow; search: string }) {
  return (
    <>
      <MatchedName name={shownName(row)} isMatch={(row.flags & MATCH) !== 0} search={search} />
      <Apart row={row} />
    </>
  );
}

/** The columns of one metric. */
function metricColumns(answer: TreeAnswer, k: number, view: View, model: TreeModel): Column<Entry>[] {
  const metric = answer.metrics[k]!;
  const title = metric.display_name || metric.name || '';
  const largest = Math.max(
    finiteSize(metric.whole),
    ...[...model.rows.values()]
      .slice(0, 2000)
      .map((r) => Math.max(finiteSize(r.inclusive[k]), finiteSize(r.exclusive[k]))),
  );
  const quantity = quantityOf(metric.unit, largest, metric.is_whole);
  const scale = metric.whole ?? largest;
  const isOpen = (row: TreeRow) =>
    view.cube && metric.has_exclusive && model.open.has(row.node) && model.isExpandable(row);
  const value = (row: TreeRow, exclusive: boolean) =>
    (exclusive || isOpen(row) ? row.exclusive[k] : row.inclusive[k]) ?? null;
  const share = (row: TreeRow, exclusive: boolean) => {
    const v = value(row, exclusive);
    return v === null || metric.whole === null ? null : v / metric.whole;
  };
  const column = (exclusive: boolean): Column<Entry>[] => [
    {
      id: `${exclusive ? 'x' : 'i'}${k}`,
      title:
        k === 0
          ? `${exclusive ? 'Exclusive' : 'Inclusive'}${answer.by === 'kernel' ? ` ${title}` : ''}`
          : exclusive && metric.has_inclusive && !/^visits$/i.test(metric.name ?? '')
            ? `${title} (excl.)`
            : title,
      unit: quantity.unit,
      width: Math.max(k > 0 ? 100 : answer.by === 'kernel' ? 182 : 116, roomFor(longestText(quantity, largest))),
      grows: true,
      align: 'right',
      sortable: true,
      cell: ({ row }) =>
        row && (
          <BarCell
            text={formatQuantity(quantity, value(row, exclusive))}
            share={scale > 0 ? Math.abs(value(row, exclusive) ?? 0) / scale : 0}
          />
        ),
      ...exactly(metric.unit, ({ row }: Entry) => row && exactOf(row, exclusive || isOpen(row), k)),
    },
    ...(k === 0 && metric.whole !== null
      ? [
          {
            id: `${exclusive ? 'xp' : 'ip'}${k}`,
            title: '%',
            width: 58,
            align: 'right',
            cell: ({ row }) => row && <span class="share">{formatPercent(share(row, exclusive))}</span>,
            text: ({ row }) => (row ? formatPercent(share(row, exclusive)) : ''),
          } satisfies Column<Entry>,
        ]
      : []),
  ];
  return [
    // A column that was asked for is there, and empty
    ...(metric.has_inclusive || (!metric.has_exclusive && (k === 0 || view.metrics)) ? column(false) : []),
    ...(metric.has_exclusive && !(view.cube && metric.has_inclusive) ? column(true) : []),
  ];
}

function columnsOf(
  answer: TreeAnswer,
  model: TreeModel,
  view: View,
  search: string,
  tree: TreeShape,
  loadMore: (entry: Entry) => Promise<unknown>,
): Column<Entry>[] {
  const text =
    (of: (row: TreeRow) => string | null) =>
    ({ row }: Entry) =>
      row ? (of(row) ?? '') : '';
  const ofParent = (row: TreeRow) => {
    const above = model.rows.get(row.parent)?.inclusive[0] ?? answer.metrics[0]?.whole ?? null;
    const own = row.inclusive[0] ?? null;
    return own === null || above === null || above === 0 ? null : own / above;
  };
  return [
    {
      id: 'name',
      title: 'Name',
      width: '1fr',
      fixed: true,
      sortable: true,
      ...nameCells(tree, loadMore, (row) => <Name row={row} search={search} />),
    },
    ...answer.metrics.flatMap((_, k) => metricColumns(answer, k, view, model)),
    ...(answer.metrics[0]?.adds_up
      ? [
          {
            id: 'parent',
            title: '% of parent',
            width: 84,
            align: 'right',
            cell: ({ row }) => row && formatPercent(ofParent(row)),
            text: ({ row }) => (row ? formatPercent(ofParent(row)) : ''),
          } satisfies Column<Entry>,
        ]
      : []),
    {
      id: 'place',
      title: 'Source',
      width: 156,
      cell: ({ row }) => row && <span class="hint">{placeText(row.file, row.line)}</span>,
      text: text((r) => (r.file ? `${r.file}${r.line ? `:${r.line}` : ''}` : '')),
    },
    {
      id: 'call',
      title: 'Called at',
      width: 156,
      cell: ({ row }) => row && <span class="hint">{placeText(row.callFile, row.callLine)}</span>,
      text: text((r) => (r.callFile ? `${r.callFile}${r.callLine ? `:${r.callLine}` : ''}` : '')),
    },
    {
      id: 'kind',
      title: 'Kind',
      width: 100,
      cell: ({ row }) => row && <span class="hint">{row.kind}</span>,
      text: text((r) => r.kind),
    },
    {
      id: 'module',
      title: 'Module',
      width: 180,
      cell: ({ row }) => row && <span class="hint">{placeText(row.module, null)}</span>,
      text: text((r) => r.module),
    },
  ];
}

/** Of further metrics one side is enough: what is counted at each call has it itself. */
function usuallyHidden(answer: TreeAnswer): string[] {
  const sides = answer.metrics.flatMap((m, k) =>
    k === 0 || !m.has_inclusive || !m.has_exclusive ? [] : [/^visits$/i.test(m.name ?? '') ? `i${k}` : `x${k}`],
  );
  return ['parent', 'call', 'kind', 'module', ...sides];
}

/** Columns that no row has anything in are not worth their room. */
function filledColumns(columns: Column<Entry>[], model: TreeModel): Column<Entry>[] {
  const rows = [...model.rows.values()].slice(0, 500);
  const has: Record<string, boolean> = {
    place: rows.some((r) => r.file),
    call: rows.some((r) => r.callFile),
    kind: rows.some((r) => r.kind),
    module: rows.some((r) => r.module),
  };
  return columns.filter((c) => has[c.id] ?? true);
}

function jsonOf(answer: TreeAnswer, entries: readonly Entry[]): string {
  const rows = entries.flatMap(({ row }) => (row ? [row] : []));
  return `${JSON.stringify(
    rows.map((r) => ({
      name: r.name,
      depth: r.depth,
      kind: r.kind,
      module: r.module,
      file: r.file,
      line: r.line,
      metrics: Object.fromEntries(
        answer.metrics.map((m, k) => [
          m.name ?? '',
          { inclusive: exactOf(r, false, k), exclusive: exactOf(r, true, k) },
        ]),
      ),
    })),
    null,
    1,
  )}\n`;
}

function Tree(props: ScreenProps) {
  const { input, metric, selection } = props;
  const [view, setView] = useScreen('tree', DEFAULTS);
  const params = treeParams(input, metric, selection, view);
  const isDown = view.view === 'top-down';
  const shape = JSON.stringify([
    input.id,
    view.view,
    view.by,
    view.root,
    params['filter'] ? selection.search : '',
    view.hide,
    view.without,
  ]);
  const first = {
    ...(view.open ? { node: [-1, ...unpackOpen(view.open)] } : {}),
    ...(isDown && selection.node !== null ? { reveal: selection.node } : {}),
  };
  const listed = useLists<TreeAnswer, TreeModel>('tree', params, shape, first, () => new TreeModel());
  const { loaded, error, isOld, ask } = listed;
  const box = useRef<HTMLDivElement>(null);
  const model = loaded?.model;
  const entries = model?.entries() ?? [];
  const wanted = isDown ? selection.node : view.row >= 0 ? view.row : null;
  const selected = wanted === null ? -1 : entries.findIndex((e) => e.row?.node === wanted);
  const row = selected >= 0 ? entries[selected]!.row : null;

  const choose = (r: TreeRow | null | undefined) => {
    if (!r) return;
    if (isDown) select({ node: r.node }, 'replace');
    else navigate({ 'tree.row': String(r.node), sel: r.context === null ? null : String(r.context) }, 'replace');
  };
  const {
    keep: keepOpen,
    changed,
    open: openNode,
    packed,
  } = useOpenNodes(
    listed,
    view.open,
    (open, how) => setView({ open }, how),
    (answer) => answer.hot,
  );
  // Chosen elsewhere: show it
  useEffect(() => {
    if (model && wanted !== null && selected < 0 && !isOld) void ask({ reveal: wanted });
  }, [wanted, model, isOld]);
  // The first picture has a selection: keys have something to begin with
  useEffect(() => focusTable(box.current), [model !== undefined]);
  // Another table begins with what has most, wherever the one before was scrolled to
  useEffect(() => box.current?.querySelector('.vtable')?.scrollTo(0, 0), [view.view, view.by]);

  const openLevels = async (r: TreeRow) => {
    if (await ask({ node: r.node, levels: 3 })) keepOpen();
  };
  /** Names as they are, or what is searched for. */
  const hide = (pattern: string, key: 'hide' | 'without') =>
    model && setView({ [key]: [...new Set([...lines(view[key]), pattern])].join('\n'), open: packed() });
  const hideRow = (r: TreeRow | null, key: 'hide' | 'without') => {
    if (!r) return;
    hide(wholeName(r.name.replace(/^\[I\] /, '')), key);
    choose(model?.rows.get(r.parent));
  };
  const loadMore = (entry: Entry) => moreOf(listed, entry);
  const findMatch = async (find: 'next' | 'previous') => {
    if (!selection.search) return;
    const answer = await ask({ find, from: wanted });
    if (!answer) return;
    keepOpen('replace');
    if (answer.at !== null && answer.at !== undefined) choose(model?.rows.get(answer.at));
  };
  const hotPath = async () => {
    const answer = row ? await ask({ hot: row.node }) : await ask({});
    if (!answer) return;
    keepOpen();
    const end = row ? answer.at : answer.hot[answer.hot.length - 1];
    if (end !== null && end !== undefined) choose(model?.rows.get(end));
  };
  const heaviest = async () => {
    if (row) await openNode(row);
    choose(model?.heaviest(row?.node ?? -1));
  };
  const focus = () => {
    if (row && row.context !== null) setView({ root: row.context });
  };
  const collapse = () => {
    model?.open.clear();
    changed();
  };
  const setKind = (kind: TreeView) => setView({ view: kind, sort: '', order: '', row: -1, open: '' });
  const kinds = [...VIEWS, ...(isReport() ? [] : REGROUPED.filter(([id]) => input.has.regroupings?.includes(id)))];

  useKeys('Tree', [
    ...kinds.map(([id, title], i) => ({
      key: String(i + 1),
      label: id === 'bottom-up' ? 'Bottom-up: callers' : title,
      run: () => setKind(id),
    })),
    { key: 'h', label: 'Open the hot path', run: () => void hotPath() },
    { key: 'l', label: 'To the heaviest child', run: () => void heaviest() },
    { key: '*', label: 'Open three levels below', run: () => row && void openLevels(row) },
    { key: '-', label: 'Close everything', run: collapse },
    { key: 'Space', label: 'Open or close', hidden: true, run: () => selected >= 0 && tree.toggle(selected) },
    { key: 'n', label: NEXT_MATCH, run: () => void findMatch('next') },
    { key: 'N', label: 'Previous match', run: () => void findMatch('previous') },
    { key: 'i', label: 'Only what matches', run: () => setView({ filter: !view.filter }) },
    { key: 'f', label: 'Focus on the subtree', isLive: true, run: focus },
    { key: 'F', label: 'Focus no more', isLive: true, run: () => setView({ root: -1 }) },
    { key: 'z', label: 'Hide nodes of this name', isLive: true, run: () => hideRow(row, 'hide') },
    { key: 'Z', label: 'Hide them with all below', isLive: true, run: () => hideRow(row, 'without') },
    {
      key: 'c',
      label: 'Cube style: open nodes show what they have themselves',
      run: () => setView({ cube: !view.cube }),
    },
    { key: 'd', label: 'Details', run: () => setView({ panel: !view.panel }) },
  ]);

  const tree = useShape(shapeOf(entries, model, changed, openNode));
  const [line, selectLine] = useLine(entries, selected, choose);
  const columns = useMemo(
    () =>
      loaded && model
        ? filledColumns(columnsOf(loaded.answer, model, view, selection.search, tree, loadMore), model)
        : [],
    [loaded, model?.rows.size, entries.length, view.cube, selection.search],
  );

  if (error) return <Failed failure={error} />;
  if (!loaded || !model) return <Waiting />;
  const { answer } = loaded;
  const isTree = view.view !== 'flat' || answer.by === 'scope';
  const rowMenu = (i: number): MenuEntry[] => {
    const r = entries[i]?.row;
    if (!r) return [];
    const names = model.path(r.node).map((p) => p.name);
    return [
      { label: 'Open the hot path', hint: 'h', run: () => void hotPath() },
      { label: 'Open three levels', hint: '*', run: () => void openLevels(r) },
      ...(r.context === null || isReport()
        ? []
        : [{ label: 'Focus on the subtree', hint: 'f', run: () => setView({ root: r.context! }) }]),
      ...(isReport()
        ? []
        : [
            { label: 'Hide nodes of this name', hint: 'z', run: () => hideRow(r, 'hide') },
            { label: 'Hide them with all below', hint: 'Z', run: () => hideRow(r, 'without') },
          ]),
      {
        label: 'Callers of this function',
        run: () => navigate({ q: r.name, 'tree.view': 'bottom-up', 'tree.filter': '1', 'tree.sort': null }),
      },
      {
        label: 'Show in the flame graph',
        run: () => navigate(r.context === null ? {} : { sel: String(r.context) }, 'push', 'flame'),
      },
      'line',
      { label: 'Copy name', run: () => void copyText(r.name) },
      { label: 'Copy path', run: () => void copyText(names.join(isDown ? '->' : '<-')) },
      {
        label: 'Copy values',
        run: () =>
          void copyText(
            answer.metrics
              .map(
                (m, k) =>
                  `${m.name}: ${exactValue(m.unit, exactOf(r, false, k))} inclusive, ${exactValue(m.unit, exactOf(r, true, k))} exclusive`,
              )
              .join('\n'),
          ),
      },
    ];
  };
  // Rows that are no contexts have sums of their own
  const panelRow =
    isDown || view.row < 0
      ? null
      : {
          ...Object.fromEntries(
            ['metric', 'metrics', 'view', 'by', 'root', 'hide', 'hide-subtree'].map((key) => [key, params[key]]),
          ),
          node: view.row,
        };
  const sortedBy =
    view.sort || `${(params['sort'] ?? (leadsDown(view) ? 'inclusive' : 'exclusive')) === 'exclusive' ? 'x' : 'i'}0`;
  const byName = sortedBy === 'name';
  const table: VTableProps<Entry> = {
    label: 'Call tree',
    columns,
    rowCount: entries.length,
    row: (i) => entries[i],
    rowKey: (i) => lineKey(entries[i]),
    tree,
    selected: line,
    onSelect: selectLine,
    onOpen: (i) => (entries[i]?.more ? void loadMore(entries[i]!).then(choose) : tree.toggle(i)),
    rowMenu,
    rowClass: (i) => {
      const r = entries[i]?.row;
      if (!r) return 'dimmed';
      return (
        [r.flags & HOT && 'hot', r.flags & (APART | ASIDE) && 'dimmed', r.flags & CUT && 'cut']
          .filter(Boolean)
          .join(' ') || undefined
      );
    },
    sort: { column: sortedBy, descending: byName ? view.order === 'descending' : view.order !== 'ascending' },
    onSort: ({ column, descending }) =>
      setView({
        sort: column,
        order: column === 'name' ? (descending ? 'descending' : '') : descending ? '' : 'ascending',
      }),
    hidden: view.hidden === '-' ? usuallyHidden(answer) : view.hidden.split(' ').filter(Boolean),
    order: view.columns.split(' ').filter(Boolean),
    onOrder: (order) => setView({ columns: order.join(' ') }),
    onHidden: (hidden) => setView({ hidden: hidden.join(' ') }, 'replace'),
    empty: selection.search && view.filter ? 'No name matches' : 'Nothing to show',
  };
  return (
    <div class={isOld ? 'fill tree-screen old' : 'fill tree-screen'} ref={box}>
      <Toolbar
        {...{
          answer,
          view,
          setView,
          kinds,
          setKind,
          selection,
          input,
          metric,
          isTree,
          findMatch,
          hotPath,
          collapse,
          hide,
        }}
        copy={(format) =>
          format === 'json' ? void copyText(jsonOf(answer, entries), 'Copied as JSON') : copyRows(table, format)
        }
      />
      <div class="split">
        <VTable {...table} />
        {view.panel && (selection.node !== null || panelRow) && (
          <TreePanel
            params={shownParams(input, metric, selection)}
            context={selection.node}
            row={panelRow}
            sides={selection.sides}
            hasLocations={input.has.locations > 1}
          />
        )}
      </div>
    </div>
  );
}

interface ToolbarProps {
  answer: TreeAnswer;
  view: View;
  setView: (patch: Partial<View>) => void;
  kinds: [TreeView, string][];
  setKind: (kind: TreeView) => void;
  hide: (pattern: string, key: 'hide' | 'without') => void;
  selection: Selection;
  input: Opened;
  metric: Metric | null;
  isTree: boolean;
  findMatch: (find: 'next' | 'previous') => Promise<void>;
  hotPath: () => Promise<void>;
  collapse: () => void;
  copy: (format: 'csv' | 'markdown' | 'json') => void;
}

function Hidden({ answer, view, setView }: ToolbarProps) {
  if (!answer.hidden) return null;
  const { n, values } = answer.hidden;
  const whole = answer.metrics[0]?.whole ?? null;
  const all = (['hide', 'without'] as const).flatMap((key) =>
    lines(view[key]).map((pattern) => ({
      key,
      pattern,
      name: `${plainName(pattern)}${key === 'without' ? ' …' : ''}`,
    })),
  );
  const share = whole !== null && typeof values[0] === 'number' ? ` · ${formatPercent(values[0] / whole)} %` : '';
  return (
    <span class="chip" title={`Not shown, and in no number of a row that is: ${plural(n, 'node')}${share}`}>
      <button
        class="quiet ellipsis"
        aria-label="What is hidden"
        onClick={(event) =>
          openMenu(
            event,
            all.map(({ key, pattern, name }): MenuEntry => ({
              label: `Show ${name}`,
              run: () =>
                setView({
                  [key]: lines(view[key])
                    .filter((p) => p !== pattern)
                    .join('\n'),
                }),
            })),
          )
        }
      >
        <span class="picker-label">hidden</span> {all.map((a) => a.name).join(', ')}
      </button>
      <span>{`${formatCount(n)}${share}`}</span>
      <button class="quiet" aria-label="Hide nothing" onClick={() => setView({ hide: '', without: '' })}>
        ✕
      </button>
    </span>
  );
}

function Found({ answer, selection, view, setView, findMatch, hide }: ToolbarProps) {
  const { found } = answer;
  if (!selection.search || !found) return null;
  const [metric] = answer.metrics;
  const sum = selection.sides === 'exclusive' ? found.exclusive[0] : found.inclusive[0];
  const share =
    metric && metric.whole !== null && sum !== null && sum !== undefined
      ? ` · ${formatPercent(sum / metric.whole)} %`
      : '';
  return (
    <span class="found-box" role="status">
      <span>{found.n === 0 ? 'no match' : `${plural(found.n, 'match', 'matches')}${share}`}</span>
      <button
        class="quiet"
        title="Previous match (N)"
        aria-label="Previous match"
        disabled={found.n === 0}
        onClick={() => void findMatch('previous')}
      >
        ↑
      </button>
      <button
        class="quiet"
        title="Next match (n)"
        aria-label="Next match"
        disabled={found.n === 0}
        onClick={() => void findMatch('next')}
      >
        ↓
      </button>
      <button
        aria-pressed={view.filter}
        title="Only what matches (i)"
        onClick={() => setView({ filter: !view.filter })}
      >
        filter
      </button>
      {!isReport() && found.n > 0 && (
        <button
          title="Hide what matches"
          onClick={(event) =>
            openMenu(
              event,
              (['hide', 'without'] as const).map((key): MenuEntry => ({
                label: key === 'hide' ? 'Hide these nodes' : 'Hide them with all below',
                run: () => {
                  hide(selection.search, key);
                  select({ search: '' }, 'replace');
                },
              })),
            )
          }
        >
          hide
        </button>
      )}
    </span>
  );
}

function Toolbar(props: ToolbarProps) {
  const { answer, view, setView, setKind, input, metric, isTree } = props;
  // Menus with marks stay open while what they were made of changes: the address knows how it is now
  const metricMenu = (): MenuEntry[] => {
    const text = readScreen('tree', DEFAULTS).metrics;
    const chosen = text ? otherMetrics(text) : answer.metrics.map((m) => m.id);
    return input.metrics
      .filter((m) => m.id !== metric?.id)
      .map((m) => {
        const isShown = chosen.includes(m.id);
        const others = chosen.filter((id) => id !== metric?.id && id !== m.id);
        return {
          label: m.display_name || m.name,
          checked: isShown,
          run: () => setView({ metrics: (isShown ? others : [...others, m.id]).join(' ') || '-' }),
        };
      });
  };
  const viewMenu = (): MenuEntry[] => {
    const { cube, panel } = readScreen('tree', DEFAULTS);
    return [
      ...(
        [
          ['CSV', 'csv'],
          ['Markdown', 'markdown'],
          ['JSON', 'json'],
        ] as const
      ).map(([name, format]): MenuEntry => ({ label: `Copy as ${name}`, run: () => props.copy(format) })),
      'line',
      {
        label: 'Cube style: open nodes show their own value',
        hint: 'c',
        checked: cube,
        run: () => setView({ cube: !cube }),
      },
      { label: 'Details beside the tree', hint: 'd', checked: panel, run: () => setView({ panel: !panel }) },
    ];
  };
  return (
    <div class="toolbar" role="toolbar" aria-label="Tree">
      <div class="segmented" role="group" aria-label="View">
        {props.kinds.map(([id, title], i) => (
          <button key={id} aria-pressed={view.view === id} title={`${title} (${i + 1})`} onClick={() => setKind(id)}>
            {title}
          </button>
        ))}
      </div>
      {view.view === 'flat' && (
        <label class="inline">
          <span class="picker-label">by</span>
          <select
            value={answer.by ?? 'region'}
            onChange={(event) => setView({ by: event.currentTarget.value, open: '' })}
          >
            {GROUPS.filter((g) => g !== 'scope' || answer.has_scopes).map((g) => (
              <option key={g} value={g}>
                {g === 'scope' ? 'module, file, function' : g === 'region' ? 'function' : g}
              </option>
            ))}
          </select>
        </label>
      )}
      {isTree && (
        <button title="Open the hot path (h)" onClick={() => void props.hotPath()}>
          Hot path
        </button>
      )}
      {isTree && (
        <button title="Close everything (-)" onClick={props.collapse}>
          Close all
        </button>
      )}
      {!isReport() && answer.metrics[0]?.adds_up && (
        <label class="inline" title="Leave out what has less of the whole">
          <span class="picker-label">min share</span>
          <select
            aria-label="Least share"
            value={view.least}
            onChange={(event) => setView({ least: Number(event.currentTarget.value) })}
          >
            {[...new Set([...LEAST, view.least])]
              .sort((a, b) => a - b)
              .map((least) => (
                <option key={least} value={least}>
                  {least ? `≥ ${least} %` : 'any'}
                </option>
              ))}
          </select>
        </label>
      )}
      {view.root >= 0 && !isRegrouped(view) && (
        <span class="chip">
          <span class="picker-label">only below</span>
          <span class="ellipsis">{answer.rows.name[0] ?? ''}</span>
          <button class="quiet" aria-label="Focus no more" onClick={() => setView({ root: -1 })}>
            ✕
          </button>
        </span>
      )}
      <Hidden {...props} />
      <Found {...props} />
      <span class="hint grow if-room">
        <span>{[answer.run, answer.location, plural(answer.items, 'node')].filter(Boolean).join(' · ')}</span>
      </span>
      {input.metrics.length > 1 && (
        <button title="More metrics as columns" onClick={(event) => openMenu(event, metricMenu)}>
          Metrics
        </button>
      )}
      <button title="Copying, style, details" aria-label="More" onClick={(event) => openMenu(event, viewMenu)}>
        ⋯
      </button>
    </div>
  );
}

function treeCommand({ input, metric, selection }: ScreenProps): string {
  const view = readScreen('tree', DEFAULTS);
  const sort = view.sort === 'name' ? 'name' : sortOf(selection, view);
  const shown = [metric, ...otherMetrics(view.metrics).map((id) => input.metrics.find((m) => m.id === id))];
  return commandLine('tree', [input.path], {
    'bottom-up': view.view === 'bottom-up',
    flat: view.view === 'flat' && !view.by,
    by: isRegrouped(view) ? view.view : view.view === 'flat' ? view.by : null,
    derive: formulasFor(
      input,
      shown.map((m) => m?.name),
    ),
    metric: view.metrics ? shown.map((m) => m?.name) : metric && !metric.is_main ? metric.name : null,
    run: runWords(input, selection),
    location: selection.locations,
    context: view.root >= 0 && !isRegrouped(view) ? view.root : null,
    hide: patterns(view.hide),
    'hide-subtree': patterns(view.without),
    'min-share': view.least || null,
    sort,
    match: selection.search && view.filter ? matchOption(selection.search) : null,
  });
}

export const tree: Screen = {
  id: 'tree',
  title: 'Tree',
  key: 't',
  available: (_, input) => input.has.tree,
  hasSides: true,
  component: Tree,
  command: treeCommand,
};
