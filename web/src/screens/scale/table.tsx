// The models of all call paths: how they grow, and what each will cost where the slider stands.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, type Failure, failure, isAborted, type Params } from '../../api';
import { roomFor } from '../../canvas';
import { exactValue, formatPercent, formatQuantity, longestText, quantityOf, real, type Num } from '../../format';
import type { MenuEntry } from '../../menu';
import { BarCell, VTable, focusTable, type Column, type Sort } from '../../vtable';
import { Formula } from './formula';
import { FLAGS, parameterText, severity, shortNumber, type Rows, type ScaleAnswer } from './model';

export interface Row {
  context: number;
  depth: number;
  callpath: string;
  name: string;
  function: string;
  text: string;
  growth: string;
  order: string;
  value: number;
  low: number;
  high: number;
  share: number;
  now: number;
  share_now: number;
  speedup: number;
  AR2: number;
  SMAPE: number;
  noise: number;
  points: number;
  flags: string[];
  spark: number[];
}

function rowOf(rows: Rows, i: number): Row {
  const n = (column: Num[]) => real(column[i]);
  return {
    context: rows.context[i]!,
    depth: rows.depth[i]!,
    callpath: rows.callpath[i]!,
    name: rows.name[i] ?? rows.callpath[i]!,
    function: rows.function[i]!,
    text: rows.text[i]!,
    growth: rows.growth[i]!,
    order: rows.order[i]!,
    value: n(rows.value),
    low: n(rows.low),
    high: n(rows.high),
    share: n(rows.share),
    now: n(rows.now),
    share_now: n(rows.share_now),
    speedup: n(rows.speedup),
    AR2: n(rows.AR2),
    SMAPE: n(rows.SMAPE),
    noise: n(rows.noise),
    points: rows.points[i]!,
    flags: rows.flags[i]!,
    spark: rows.spark[i]!.map(real),
  };
}

const PAGE = 200;

export interface KnownRows {
  row: (i: number) => Row | undefined;
  /** Where the call path is, of those that are here; -1: of none. */
  indexOf: (context: number | null) => number;
  /** Ends when they are here, or failed to come. */
  want: (first: number, last: number) => Promise<unknown>;
  error: Failure | null;
}

/** The rows of the first answer, and those of later pages as they come into sight. */
export function useRows(answer: ScaleAnswer | null, params: Params): KnownRows {
  const pages = useRef(new Map<number, Rows>());
  const asked = useRef(new Map<number, Promise<unknown>>());
  const [error, setError] = useState<Failure | null>(null);
  const [, redraw] = useState(0);
  const abort = useRef(new AbortController());
  useMemo(() => {
    abort.current.abort();
    abort.current = new AbortController();
    pages.current = new Map(answer ? [[0, answer.rows]] : []);
    asked.current = new Map([[0, Promise.resolve()]]);
  }, [answer]);
  useEffect(() => setError(null), [answer]);
  useEffect(() => () => abort.current.abort(), []);
  const want = (first: number, last: number) => {
    const coming: (Promise<unknown> | undefined)[] = [];
    for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page++) {
      const into = pages.current;
      if (!asked.current.has(page))
        asked.current.set(
          page,
          get<ScaleAnswer>('scale', { ...params, offset: page * PAGE }, abort.current.signal).then(
            (more) => {
              into.set(page, more.rows);
              redraw((n) => n + 1);
            },
            (e: unknown) => !isAborted(e) && setError(failure(e)),
          ),
        );
      coming.push(asked.current.get(page));
    }
    return Promise.all(coming);
  };
  const row = (i: number) => {
    const rows = pages.current.get(Math.floor(i / PAGE));
    const at = i % PAGE;
    return rows && at < rows.context.length ? rowOf(rows, at) : undefined;
  };
  const indexOf = (context: number | null) => {
    for (const [page, rows] of pages.current) {
      const at = context === null ? -1 : rows.context.indexOf(context);
      if (at >= 0) return page * PAGE + at;
    }
    return -1;
  };
  return { row, indexOf, want, error };
}

function Spark({ values, at }: { values: number[]; at: number }) {
  const finite = values.filter(Number.isFinite);
  if (finite.length < 2) return null;
  const [low, high] = [Math.min(0, ...finite), Math.max(...finite)];
  const span = high - low || 1;
  const flat = high === Math.min(...finite);
  const y = (v: number) => (flat ? 8 : 14.5 - ((v - low) / span) * 13);
  const points = values
    .map((v, i) => (Number.isFinite(v) ? `${((i * 54) / (values.length - 1) + 1).toFixed(1)},${y(v).toFixed(1)}` : ''))
    .filter(Boolean);
  return (
    <svg class={`spark grow-${at}`} width="56" height="16" viewBox="0 0 56 16" aria-hidden="true">
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linejoin="round"
      />
    </svg>
  );
}

export interface ModelTableProps {
  answer: ScaleAnswer;
  rows: KnownRows;
  isTree: boolean;
  sort: Sort;
  onSort: (sort: Sort) => void;
  selected: number | null;
  onSelect: (context: number) => void;
  /** The colour of a call path in the plot, where it is there. */
  colour: (context: number) => string | undefined;
  onPin: (context: number) => void;
  menu: (row: Row) => MenuEntry[];
  hidden: readonly string[];
  onHidden: (hidden: string[]) => void;
}

const percent = (share: number): string => (Number.isFinite(share) ? formatPercent(share) : '');
/** Call paths and the whole are modelled apart. */
const isTooMuch = (share: number): boolean => share > 1.005;
const exact = (unit: string | null, value: number): string =>
  Number.isNaN(value) ? 'unknown' : exactValue(unit, value);

export function ModelTable({
  answer,
  rows: { row, indexOf, want },
  isTree,
  sort,
  onSort,
  selected,
  onSelect,
  colour,
  onPin,
  menu,
  hidden,
  onHidden,
}: ModelTableProps) {
  const parameters = useMemo(() => answer.parameters.map((p) => p.name), [answer]);
  let largest = 0;
  let largestNow = 0;
  const loaded = Math.min(answer.n, 2 * PAGE);
  for (let i = 0; i < loaded; i++) {
    const r = row(i);
    if (!r) continue;
    if (Number.isFinite(r.value)) largest = Math.max(largest, Math.abs(r.value));
    if (Number.isFinite(r.now)) largestNow = Math.max(largestNow, Math.abs(r.now));
  }
  const unit = answer.unit;
  const then = quantityOf(unit, largest);
  const now = quantityOf(unit, largestNow);
  const point = Object.entries(answer.at)
    .map(([k, v]) => `${k}=${parameterText(real(v))}`)
    .join(', ');
  const shown = (q: typeof then, v: number) => (Number.isNaN(v) ? '–' : formatQuantity(q, v));
  // A long name would leave no room for what grows: x stands for it, as in `assay compare`
  const [only] = parameters;
  const isLong = parameters.length === 1 && only!.length > 8;
  const growth = (text: string) => (isLong ? text.replaceAll(only!, 'x') : text);
  const title = parameters.length > 1 ? 'predicted' : `at ${growth(point)}`;
  const columns: Column<Row>[] = [
    {
      id: 'name',
      title: 'Call path',
      width: '1fr',
      least: 146,
      fixed: true,
      sortable: true,
      text: (r) => r.callpath,
      cell: (r) => (
        <span class="tree-cell" style={isTree ? { paddingLeft: `${Math.min(r.depth, 40) * 12}px` } : undefined}>
          <span
            class={colour(r.context) ? 'pin on' : 'pin'}
            role="checkbox"
            aria-checked={colour(r.context) !== undefined}
            aria-label={`Show ${r.name} in the plot`}
            style={{ color: colour(r.context) }}
            onMouseDown={(event) => {
              event.stopPropagation();
              onPin(r.context);
            }}
          />
          <span class="ellipsis">
            {r.name}
            {!isTree && r.callpath !== r.name && (
              <span class="hint path">{r.callpath.slice(0, Math.max(0, r.callpath.length - r.name.length - 2))}</span>
            )}
          </span>
        </span>
      ),
    },
    {
      id: 'growth',
      title: 'Growth',
      width: parameters.length > 1 ? 140 : 100,
      sortable: true,
      text: (r) => `${r.order}: O(${r.growth})`,
      cell: (r) => (
        <span class={`growth grow-${severity(r.order)}`}>
          {r.order === 'decreasing' ? '↘ ' : ''}
          <Formula text={r.growth === '1' ? 'constant' : growth(r.growth)} parameters={isLong ? ['x'] : parameters} />
        </span>
      ),
    },
    {
      id: 'spark',
      title: 'Shape',
      width: 66,
      raw: (r) => r.text,
      text: (r) => `from the smallest measured value to ${point}: ${r.text}`,
      cell: (r) => <Spark values={r.spark} at={severity(r.order)} />,
    },
    {
      id: 'share',
      title,
      unit: then.unit,
      width: Math.max(104, roomFor(longestText(then, largest)), roomFor(`${title} ${then.unit}`)),
      align: 'right',
      sortable: true,
      raw: (r) => r.value,
      rawUnit: unit,
      text: (r) =>
        `${exact(unit, r.value)}, with a probability of 95 % from ${exact(unit, r.low)} to ${exact(unit, r.high)}`,
      cell: (r) => <BarCell text={shown(then, r.value)} share={Math.abs(r.value) / largest} />,
    },
    {
      id: 'part',
      title: 'Share',
      unit: '%',
      width: 70,
      align: 'right',
      raw: (r) => r.share * 100,
      rawUnit: '%',
      text: (r) =>
        `${percent(r.share)} % of the total there${isTooMuch(r.share) ? ', which has a model of its own: they disagree so far out' : ''}, ${percent(r.share_now)} % at the largest measured point`,
      cell: (r) => (isTooMuch(r.share) ? <span class="badge warn">{percent(r.share)}</span> : percent(r.share)),
    },
    {
      id: 'change',
      title: '× now',
      width: 60,
      align: 'right',
      sortable: true,
      raw: (r) => r.value / r.now,
      text: (r) =>
        Number.isFinite(r.value / r.now) ? `${r.value / r.now} times its value at the largest measured point` : '',
      cell: (r) => (Number.isFinite(r.value / r.now) ? shortNumber(Number((r.value / r.now).toPrecision(3))) : '–'),
    },
    {
      id: 'interval',
      title: '95 % interval',
      unit: then.unit,
      width: 140,
      align: 'right',
      text: (r) => `${exact(unit, r.low)} to ${exact(unit, r.high)}`,
      cell: (r) => (Number.isNaN(r.low) ? '–' : `${shown(then, r.low)} – ${shown(then, r.high)}`),
    },
    {
      id: 'now',
      title: 'now',
      unit: now.unit,
      width: Math.max(84, roomFor(longestText(now, largestNow))),
      align: 'right',
      sortable: true,
      raw: (r) => r.now,
      rawUnit: unit,
      text: (r) => exact(unit, r.now),
      cell: (r) => shown(now, r.now),
    },
    {
      id: 'function',
      title: 'Function',
      width: 260,
      text: (r) => r.function,
      cell: (r) => <Formula text={r.text} parameters={parameters} />,
    },
    {
      id: 'AR2',
      title: 'adj. R²',
      width: 66,
      align: 'right',
      text: (r) => exact(null, r.AR2),
      cell: (r) => (Number.isFinite(r.AR2) ? r.AR2.toFixed(3) : '–'),
    },
    {
      id: 'error',
      title: 'SMAPE',
      unit: '%',
      width: 72,
      align: 'right',
      sortable: true,
      text: (r) => exact(null, r.SMAPE),
      cell: (r) => (Number.isFinite(r.SMAPE) ? Number(r.SMAPE.toPrecision(3)).toString() : '–'),
    },
    {
      id: 'noise',
      title: 'Noise',
      unit: '%',
      width: 64,
      align: 'right',
      text: (r) => percent(r.noise),
      cell: (r) => percent(r.noise),
    },
    {
      id: 'speedup',
      title: 'Speed-up',
      width: 74,
      align: 'right',
      text: (r) => exact(null, r.speedup),
      cell: (r) => (Number.isFinite(r.speedup) ? shortNumber(Number(r.speedup.toPrecision(3))) : '–'),
    },
    { id: 'points', title: 'Points', width: 56, align: 'right', text: (r) => String(r.points), cell: (r) => r.points },
    {
      id: 'flags',
      title: 'Doubts',
      width: 90,
      text: (r) => r.flags.map((f) => FLAGS[f] ?? f).join('; '),
      cell: (r) =>
        r.flags.map((f) => (
          <span key={f} class="badge warn flag">
            {f}
          </span>
        )),
    },
  ];
  useEffect(() => focusTable(document.getElementById('screen')), []);
  return (
    <VTable
      label="Models"
      columns={columns}
      rowCount={answer.n}
      row={row}
      onVisible={(first, last) => void want(first, last)}
      sort={sort}
      onSort={onSort}
      selected={indexOf(selected)}
      onSelect={(i) =>
        void want(i, i).then(() => {
          const r = row(i);
          if (r) onSelect(r.context);
        })
      }
      onOpen={(i) => {
        const r = row(i);
        if (r) onPin(r.context);
      }}
      rowMenu={(i) => {
        const r = row(i);
        return r ? menu(r) : [];
      }}
      hidden={hidden}
      onHidden={onHidden}
      empty="No call path matches the search"
    />
  );
}
