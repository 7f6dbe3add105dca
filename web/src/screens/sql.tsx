// SQL over the input: an editor with the tables at hand, results as a table and a quick chart.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { failure, isAborted, isReport, post, useData, type Failure, type Opened } from '../api';
import { roomFor } from '../canvas';
import { seriesColor } from '../colors';
import { formatCount, plural } from '../format';
import { useKeys } from '../keys';
import { openMenu } from '../menu';
import { Picker } from '../picker';
import { axis, Plot } from '../plot';
import { readScreen, select, useScreen } from '../state';
import { useTheme } from '../theme';
import { copyText } from '../toast';
import { tableText, VTable, type Column, type Sort } from '../vtable';
import { commandLine, type Screen, type ScreenProps } from './screen';
import {
  cellText,
  errorRange,
  examplesOf,
  guessChart,
  isNumeric,
  makeChart,
  resultJson,
  sortRows,
  sqlName,
  type Cell,
  type Chart,
  type ChartKind,
  type Result,
  type Schema,
} from './sql-data';

const DEFAULTS = { q: '', sort: '', down: false, chart: '', x: '', y: '', group: '' };
const HISTORY = 'assay-sql-history';
const MOST_REMEMBERED = 50;

// Pages of files may have no storage: then statements are remembered as long as the page is open.
let remembered: string[] | null = null;

function history(): string[] {
  if (remembered) return remembered;
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(HISTORY) ?? '[]');
    remembered = Array.isArray(kept) ? kept.filter((s): s is string => typeof s === 'string') : [];
  } catch {
    remembered = [];
  }
  return remembered;
}

function remember(statement: string): void {
  remembered = [statement, ...history().filter((s) => s !== statement)].slice(0, MOST_REMEMBERED);
  try {
    sessionStorage.setItem(HISTORY, JSON.stringify(remembered));
  } catch {
    // only here, then
  }
}

// ---- running

interface Running {
  result: Result | null;
  error: Failure | null;
  /** The statement of the result or the error. */
  statement: string;
  isRunning: boolean;
  stop: () => void;
}

function useStatement(d: number, statement: string, turn: number): Running {
  const [state, setState] = useState<Omit<Running, 'stop'>>({
    result: null,
    error: null,
    statement: '',
    isRunning: false,
  });
  const stop = useRef<() => void>(() => undefined);
  useEffect(() => {
    if (statement.trim() === '') {
      setState({ result: null, error: null, statement, isRunning: false });
      return undefined;
    }
    const abort = new AbortController();
    const end = (result: Result | null, error: Failure | null) =>
      setState({ result, error, statement, isRunning: false });
    stop.current = () => {
      abort.abort();
      end(null, { message: 'Stopped.' });
    };
    setState((old) => ({ ...old, isRunning: true }));
    post<Result>('sql', { d }, statement, abort.signal).then(
      (result) => !abort.signal.aborted && end(result, null),
      (error: unknown) => !isAborted(error) && !abort.signal.aborted && end(null, failure(error)),
    );
    return () => abort.abort();
  }, [d, statement, turn]);
  return { ...state, stop: () => stop.current() };
}

// ---- the screen

function Sql({ input, metric }: ScreenProps) {
  const [view, setView] = useScreen('sql', DEFAULTS);
  const examples = useMemo(() => examplesOf(input, metric), [input, metric]);
  const [text, setText] = useState(view.q || (examples[0]?.statement ?? ''));
  const [turn, setTurn] = useState(0);
  const running = useStatement(input.id, view.q, turn);
  const editor = useRef<HTMLTextAreaElement>(null);
  const shown = useRef(view.q);
  useEffect(() => {
    // Back and forward bring statements back
    if (view.q !== shown.current && view.q !== '') setText(view.q);
    shown.current = view.q;
  }, [view.q]);
  const run = (statement: string = text) => {
    if (statement.trim() === '') return;
    remember(statement);
    shown.current = statement;
    if (statement !== text) {
      setText(statement);
      editor.current?.scrollTo(0, 0);
    }
    if (statement === view.q) setTurn(turn + 1);
    else setView({ q: statement, sort: '', down: false, chart: view.chart ? 'guess' : '', x: '', y: '', group: '' });
  };
  const insert = (piece: string) => {
    const field = editor.current;
    if (!field) return;
    const [from, to] = [field.selectionStart, field.selectionEnd];
    const space = from > 0 && /[\w"']$/.test(text.slice(0, from)) ? ' ' : '';
    setText(text.slice(0, from) + space + piece + text.slice(to));
    field.focus();
    requestAnimationFrame(() =>
      field.setSelectionRange(from + space.length + piece.length, from + space.length + piece.length),
    );
  };
  useKeys('SQL', [
    { key: 'Ctrl+Enter', label: 'Run the statement', inFields: true, run: () => run() },
    { key: 'i', label: 'Into the editor', run: () => editor.current?.focus() },
    { key: 'c', label: 'Table or chart', run: () => setView({ chart: view.chart ? '' : 'guess' }) },
  ]);
  const isChanged = text !== view.q;
  return (
    <div class="sql">
      <SchemaTree d={input.id} onInsert={insert} onRows={(table) => run(`select * from ${sqlName(table)} limit 100`)} />
      <div class="sql-main">
        <Editor
          text={text}
          error={running.error && running.statement === text ? running.error : null}
          field={editor}
          onText={setText}
        />
        <div class="toolbar">
          {running.isRunning ? (
            <button onClick={running.stop}>Stop</button>
          ) : (
            <button
              class="primary"
              title="Run the statement (Ctrl-Enter)"
              disabled={text.trim() === ''}
              onClick={() => run()}
            >
              Run <kbd>Ctrl ↵</kbd>
            </button>
          )}
          <Picker
            label="Examples"
            value=""
            choices={examples.map((e, i) => ({ id: String(i), label: e.title, run: () => run(e.statement) }))}
          />
          <Picker
            label="History"
            value=""
            choices={history().map((s, i) => ({ id: String(i), label: s.replace(/\s+/g, ' '), run: () => run(s) }))}
          />
          <span class="grow" />
          <Status running={running} isChanged={isChanged && view.q !== ''} />
          {running.result && (
            <Results
              result={running.result}
              input={input}
              statement={view.q}
              isChart={view.chart !== ''}
              onChart={(on) => setView({ chart: on ? 'guess' : '' })}
            />
          )}
        </div>
        {running.error && (
          <div class="sql-error" role="alert">
            {running.error.line ? <b>{`Line ${running.error.line}, column ${running.error.column ?? 1}: `}</b> : null}
            {running.error.message}
          </div>
        )}
        {running.result && view.chart === '' && (
          <ResultTable
            key={running.statement}
            result={running.result}
            sort={view.sort === '' ? undefined : { column: view.sort, descending: view.down }}
            onSort={(sort) => setView({ sort: sort.column, down: sort.descending }, 'replace')}
          />
        )}
        {running.result && view.chart !== '' && (
          <QuickChart result={running.result} view={view} onView={(patch) => setView(patch, 'replace')} />
        )}
        {!running.result && !running.error && !running.isRunning && (
          <div class="message">
            Run the statement above (Ctrl-Enter), change it, or take one of the examples. The tables are at the left; a
            click puts a name into the statement.
          </div>
        )}
      </div>
    </div>
  );
}

function Status({ running, isChanged }: { running: Running; isChanged: boolean }) {
  const { result } = running;
  return (
    <span class="hint" role="status">
      {running.isRunning
        ? 'Running …'
        : result
          ? `${result.more ? 'the first ' : ''}${plural(result.n, 'row')}, ${(result.seconds * 1000).toFixed(result.seconds < 0.1 ? 1 : 0)} ms`
          : ''}
      {isChanged && !running.isRunning ? `${result ? ' · ' : ''}changed since` : ''}
    </span>
  );
}

function Results({
  result,
  input,
  statement,
  isChart,
  onChart,
}: {
  result: Result;
  input: Opened;
  statement: string;
  isChart: boolean;
  onChart: (on: boolean) => void;
}) {
  const copy = (format: 'csv' | 'markdown') =>
    void copyText(tableText(columnsOf(result), result.rows, format), `Copied ${plural(result.n, 'row')}`);
  return (
    <>
      <div class="segmented" role="group" aria-label="Result as">
        <button aria-pressed={!isChart} onClick={() => onChart(false)}>
          Table
        </button>
        <button aria-pressed={isChart} onClick={() => onChart(true)}>
          Chart
        </button>
      </div>
      <button
        aria-haspopup="menu"
        onClick={(event) =>
          openMenu(event, [
            { label: 'As CSV', run: () => copy('csv') },
            { label: 'As Markdown', run: () => copy('markdown') },
            { label: 'As JSON', run: () => void copyText(resultJson(result), `Copied ${plural(result.n, 'row')}`) },
            'line',
            {
              label: 'As command',
              hint: 'y',
              run: () => void copyText(commandLine('sql', [input.path, statement]), 'Command copied'),
            },
          ])
        }
      >
        Copy
      </button>
    </>
  );
}

// ---- the editor

interface EditorProps {
  text: string;
  error: Failure | null;
  field: { current: HTMLTextAreaElement | null };
  onText: (text: string) => void;
}

/** A field with numbers of lines; behind it the same text, of which only the mark of an error is seen. */
function Editor({ text, error, field, onText }: EditorProps) {
  const gutter = useRef<HTMLPreElement>(null);
  const under = useRef<HTMLPreElement>(null);
  const range = error ? errorRange(text, error) : null;
  const lines = text.split('\n').length;
  useEffect(() => {
    if (range && document.activeElement === field.current) field.current?.setSelectionRange(range[0], range[0]);
  }, [error]);
  const follow = () => {
    if (!field.current || !gutter.current || !under.current) return;
    gutter.current.scrollTop = under.current.scrollTop = field.current.scrollTop;
    under.current.scrollLeft = field.current.scrollLeft;
  };
  return (
    <div class="sql-editor">
      <pre class="sql-gutter" ref={gutter} aria-hidden="true">
        {Array.from({ length: lines }, (_, i) => (
          <span key={i} class={error?.line === i + 1 ? 'bad' : undefined}>{`${i + 1}\n`}</span>
        ))}
      </pre>
      <div class="sql-text">
        <pre class="sql-under" ref={under} aria-hidden="true">
          {range ? text.slice(0, range[0]) : text}
          {range && <mark>{text.slice(range[0], range[1]) || ' '}</mark>}
          {range ? `${text.slice(range[1])}\n` : '\n'}
        </pre>
        <textarea
          ref={field}
          aria-label="Statement"
          aria-invalid={error !== null}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          wrap="off"
          value={text}
          placeholder="select …"
          onInput={(event) => onText(event.currentTarget.value)}
          onScroll={follow}
        />
      </div>
    </div>
  );
}

// ---- tables

function SchemaTree({
  d,
  onInsert,
  onRows,
}: {
  d: number;
  onInsert: (text: string) => void;
  onRows: (table: string) => void;
}) {
  const { data, error } = useData<Schema>('schema', { d });
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (name: string) => {
    const next = new Set(open);
    if (!next.delete(name)) next.add(name);
    setOpen(next);
  };
  return (
    <nav class="sql-schema" aria-label="Tables">
      {error && <p class="hint">{error.message}</p>}
      <ul class="plain-list">
        {data?.tables.map((table) => (
          <li key={table.name}>
            <div class={table.rows === 0 ? 'sql-table empty' : 'sql-table'}>
              <button
                class={open.has(table.name) ? 'twist open' : 'twist'}
                aria-expanded={open.has(table.name)}
                aria-label={`Columns of ${table.name}`}
                onClick={() => toggle(table.name)}
              />
              <button
                class="sql-name ellipsis"
                title={`${table.about ?? table.name}\nA click puts the name into the statement, a double click shows its rows`}
                onClick={() => onInsert(sqlName(table.name))}
                onDblClick={() => onRows(table.name)}
              >
                {table.name}
              </button>
              <span class="hint">{table.rows === null ? '' : formatCount(table.rows)}</span>
              <button
                class="quiet sql-rows"
                aria-label={`Rows of ${table.name}`}
                title={`select * from ${table.name} limit 100`}
                onClick={() => onRows(table.name)}
              >
                ▸
              </button>
            </div>
            {open.has(table.name) && (
              <ul class="plain-list sql-columns">
                {table.columns.map((column) => (
                  <li key={column.name}>
                    <button
                      class="sql-name"
                      title={column.about ?? undefined}
                      onClick={() => onInsert(sqlName(column.name))}
                    >
                      <span class="ellipsis">{column.name}</span>
                      <span class="hint ellipsis">{column.about ?? column.type.toLowerCase()}</span>
                    </button>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

// ---- results

const [NARROWEST, WIDEST, LOOKED_AT, LONGEST] = [56, 460, 200, 100];

function columnsOf(result: Result): Column<Cell[]>[] {
  return result.columns.map((title, i) => {
    const room = result.rows
      .slice(0, LOOKED_AT)
      .reduce((most, row) => Math.max(most, roomFor(cellText(row[i] ?? null).slice(0, LONGEST))), roomFor(title) + 14);
    return {
      id: String(i),
      title,
      width: Math.max(NARROWEST, Math.min(WIDEST, room)),
      align: isNumeric(result.types[i]) ? ('right' as const) : undefined,
      sortable: true,
      cell: (row: Cell[]) =>
        (row[i] ?? null) === null ? <span class="sql-null">NULL</span> : cellText(row[i] ?? null),
      text: (row: Cell[]) => ((row[i] ?? null) === null ? '' : String(row[i])),
    };
  });
}

function ResultTable({
  result,
  sort,
  onSort,
}: {
  result: Result;
  sort: Sort | undefined;
  onSort: (sort: Sort) => void;
}) {
  const columns = useMemo(() => columnsOf(result), [result]);
  const [at, setAt] = useState(-1);
  const rows = useMemo(
    () =>
      sort && Number(sort.column) < result.columns.length
        ? sortRows(result, Number(sort.column), sort.descending)
        : result.rows,
    [result, sort?.column, sort?.descending],
  );
  const context = result.columns.indexOf('context');
  const choose = (i: number) => {
    setAt(i);
    const node = context >= 0 ? rows[i]?.[context] : null;
    if (typeof node === 'number' && Number.isInteger(node) && node >= 0) select({ node }, 'replace');
  };
  return (
    <VTable
      label="Rows"
      columns={columns}
      rowCount={rows.length}
      row={(i) => rows[i]}
      sort={sort}
      onSort={onSort}
      selected={at}
      onSelect={choose}
      empty="No rows"
    />
  );
}

// ---- charts

interface ChartView {
  chart: string;
  x: string;
  y: string;
  group: string;
}

const KINDS: readonly ChartKind[] = ['line', 'bar', 'scatter'];

function QuickChart({
  result,
  view,
  onView,
}: {
  result: Result;
  view: ChartView;
  onView: (patch: Partial<ChartView>) => void;
}) {
  const guess = useMemo(() => guessChart(result), [result]);
  const x = result.columns.includes(view.x) ? view.x : (guess?.x ?? '');
  const y = result.columns.includes(view.y) ? view.y : (guess?.y ?? '');
  const group = view.group === '-' ? '' : result.columns.includes(view.group) ? view.group : (guess?.group ?? '');
  const kind = KINDS.find((k) => k === view.chart) ?? guess?.kind ?? 'line';
  const chart = useMemo(() => makeChart(result, x, y, group), [result, x, y, group]);
  const names = (chosen: string, put: (name: string) => void, list: readonly string[]) =>
    list.map((name, i) => ({ id: String(i), label: name, chosen: name === chosen, run: () => put(name) }));
  if (!guess || !chart) return <div class="message">A chart needs a column of numbers and another column.</div>;
  return (
    <div class="fill sql-chart">
      <div class="toolbar">
        <Picker label="x" value={x} choices={names(x, (name) => onView({ x: name }), result.columns)} />
        <Picker
          label="y"
          value={y}
          choices={names(
            y,
            (name) => onView({ y: name }),
            result.columns.filter((_, i) => isNumeric(result.types[i])),
          )}
        />
        <Picker
          label="Group"
          value={group || 'none'}
          choices={[
            { id: '-', label: 'none', chosen: group === '', run: () => onView({ group: '-' }) },
            ...names(group, (name) => onView({ group: name }), result.columns),
          ]}
        />
        <div class="segmented" role="group" aria-label="Kind of chart">
          {KINDS.map((k) => (
            <button key={k} aria-pressed={kind === k} onClick={() => onView({ chart: k })}>
              {k}
            </button>
          ))}
        </div>
        {chart.left > 0 && (
          <span class="hint">
            {group ? `${plural(chart.left, 'more group')} not drawn` : `${plural(chart.left, 'row')} without a number`}
          </span>
        )}
      </div>
      <ChartLegend chart={chart} group={group} />
      <div class="grow sql-plot">
        <Plot
          data={[chart.x, ...chart.series.map((s) => s.y)] as uPlot.AlignedData}
          options={(isDark) => plotOptions(chart, kind, x, y, isDark)}
          depends={[chart, kind]}
          label={`${y} over ${x}`}
        />
      </div>
    </div>
  );
}

function ChartLegend({ chart, group }: { chart: Chart; group: string }) {
  const { isDark } = useTheme();
  if (!group) return null;
  return (
    <div class="sql-series">
      {chart.series.map((s, i) => (
        <span key={i} class="ellipsis" title={s.name}>
          <span class="series-mark" style={{ background: seriesColor(i, isDark) }} />
          {s.name}
        </span>
      ))}
    </div>
  );
}

function plotOptions(
  chart: Chart,
  kind: ChartKind,
  x: string,
  y: string,
  isDark: boolean,
): Omit<uPlot.Options, 'width' | 'height'> {
  const label = (i: number) => (Number.isInteger(i) ? (chart.labels?.[i] ?? '') : '');
  const isNamed = chart.labels !== null;
  const n = chart.series.length;
  return {
    scales: {
      x: { time: false, ...(isNamed || kind === 'bar' ? { range: barRange(chart) } : {}) },
      y:
        kind === 'bar'
          ? { range: (_: uPlot, low: number, high: number) => [Math.min(0, low), Math.max(0, high) * 1.05 || 1] }
          : {},
    },
    axes: [
      axis(
        isNamed
          ? {
              label: x,
              splits: () => namedSplits(chart),
              values: (_: uPlot, at: number[]) => at.map((i) => shorten(label(i), 18)),
              rotate: (chart.labels?.length ?? 0) > 6 ? -40 : 0,
              size: (chart.labels?.length ?? 0) > 6 ? 96 : 44,
            }
          : { label: x },
      ),
      axis({ label: y, size: 72 }),
    ],
    cursor: { drag: { x: true, y: false } },
    series: [
      { label: x },
      ...chart.series.map((s, i) => {
        const color = seriesColor(i, isDark);
        return {
          label: s.name,
          stroke: color,
          width: 1.5,
          spanGaps: true,
          fill: kind === 'bar' ? `${color}b0` : undefined,
          paths: kind === 'bar' ? bars(chart, i, n) : kind === 'scatter' ? () => null : undefined,
          points: { show: kind !== 'bar' && (kind === 'scatter' || chart.x.length <= 200), size: 6, fill: color },
        };
      }),
    ],
  };
}

const shorten = (text: string, most: number): string => (text.length > most ? `…${text.slice(1 - most)}` : text);

/** The smallest distance of two places. */
function gapOf({ x, labels }: Chart): number {
  let gap = Infinity;
  for (let i = 1; i < x.length && !labels; i++) if (x[i]! > x[i - 1]!) gap = Math.min(gap, x[i]! - x[i - 1]!);
  return Number.isFinite(gap) ? gap : 1;
}

/** Half a place more at both ends. */
function barRange(chart: Chart): [number, number] {
  const room = 0.6 * gapOf(chart);
  return [(chart.x[0] ?? 0) - room, (chart.x[chart.x.length - 1] ?? 1) + room];
}

/** The bars of the i-th of n series, side by side. */
function bars(chart: Chart, i: number, n: number): uPlot.Series.PathBuilder {
  return (u, _, first, last) => {
    const path = new Path2D();
    const wide = Math.min(
      120,
      Math.max(1, ((u.valToPos(gapOf(chart), 'x', true) - u.valToPos(0, 'x', true)) * 0.8) / n),
    );
    const ground = u.valToPos(0, 'y', true);
    for (let k = first; k <= last; k++) {
      const value = chart.series[i]?.y[k];
      if (value === null || value === undefined) continue;
      const top = u.valToPos(value, 'y', true);
      path.rect(
        u.valToPos(chart.x[k]!, 'x', true) + (i - n / 2) * wide,
        Math.min(top, ground),
        Math.max(1, wide - 1),
        Math.abs(ground - top),
      );
    }
    return { stroke: null, fill: path };
  };
}

function namedSplits(chart: Chart): number[] {
  const n = chart.labels?.length ?? 0;
  const step = Math.max(1, Math.ceil(n / 40));
  return Array.from({ length: Math.ceil(n / step) }, (_, i) => i * step);
}

export const sql: Screen = {
  id: 'sql',
  title: 'SQL',
  key: 'q',
  available: () => !isReport(),
  without: 'runs',
  component: Sql,
  command: ({ input }) =>
    commandLine('sql', [input.path, ...(readScreen('sql', DEFAULTS).q ? [readScreen('sql', DEFAULTS).q] : [])], {
      derive: input.metrics.map((m) => m.derive),
    }),
};
