// What is this: the file, its totals, the hot path, what costs most, what is uneven, what is wrong.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { reportNotes, useData } from '../api';
import { Failed, Waiting } from '../boundary';
import {
  exactValue,
  formatCount,
  formatPercent,
  formatQuantity,
  formatValue,
  plural,
  quantityOf,
  shortName,
} from '../format';
import { shownParams } from '../shown';
import { navigate, select } from '../state';
import { copyText } from '../toast';
import { Apart } from '../uselists';
import { commandLine, type Screen, type ScreenProps } from './screen';
import { placeText, rowsOf, type RowValues, type TreeMetric, type TreeRow } from './tree-data';

interface Problem {
  severity: string;
  rule: string | null;
  file: string | null;
  line: number | null;
  column: number | null;
  offset: number | null;
  message: string;
}

interface OverviewAnswer {
  info: {
    format_version: string | null;
    bytes: number;
    runs: number;
    points: number;
    parameters: string[];
    regions: number | null;
    contexts: number | null;
    locations: number | null;
    values: number | null;
    events: number | null;
    records: number;
    models: number;
    attributes: number | null;
    duration: number | null;
    problems: Problem[];
  };
  path: string;
  title: string | null;
  levels: number;
  call_paths: number;
  location_kinds: { kind: string; n: number }[];
  problem_counts: { note: number; warning: number; error: number; all: number };
  attributes_shown: { owner: string; id: number; key: string; value: unknown }[];
  next: string[];
  run?: string;
  location?: string;
  metrics?: TreeMetric[];
  hot_path?: RowValues;
}

interface Uneven {
  context: number;
  name: string | null;
  path: string | null;
  mean: number | null;
  max: number | null;
  imbalance: number | null;
  excess: number | null;
  sum: number | null;
  max_at: string;
  bins: number[];
}

interface FindingsAnswer {
  balance?: { over: string; places: number; metric: string; unit: string | null; rows: Uneven[] };
  no_balance: string | null;
  totals?: {
    id: number;
    name: string;
    display_name: string | null;
    unit: string | null;
    all: number | null;
    is_whole: boolean;
  }[];
  functions?: RowValues;
  gpus: { name: string; busy: number; kernels: number; seconds: number }[];
  kernels?: { name: string; n: number; seconds: number; share: number | null; mean: number }[];
}

const openTree = (context: number | null) =>
  navigate(context === null ? {} : { sel: String(context), 'tree.view': null, 'tree.root': null }, 'push', 'tree');

function Card({
  title,
  hint,
  wide,
  children,
}: {
  title: string;
  hint?: ComponentChildren;
  wide?: boolean;
  children: ComponentChildren;
}) {
  return (
    <section class={wide ? 'card wide' : 'card'}>
      <h2>
        {title} {hint && <span class="hint">{hint}</span>}
      </h2>
      {children}
    </section>
  );
}

function sizeText(bytes: number): string {
  return formatValue('B', bytes);
}

/** "HPCToolkit database 4" of version 4.0 has the number once. */
const formatText = (title: string, version: string | null): string =>
  version?.startsWith(`${/\d+$/.exec(title)?.[0]}.`)
    ? title.replace(/\d+$/, version)
    : [title, version].filter(Boolean).join(/^[a-z]/.test(version ?? '') ? ', layout ' : ' ');

function What({ answer, props }: { answer: OverviewAnswer; props: ScreenProps }) {
  const { info } = answer;
  const { input } = props;
  const kinds = answer.location_kinds
    .map(({ kind, n }) => plural(n, kind, kind.endsWith('s') ? `${kind}es` : `${kind}s`))
    .join(', ');
  const all: [string, string | false | null][] = [
    ['Format', formatText(answer.title ?? input.format ?? '', info.format_version)],
    ['File', answer.path],
    ['Size', sizeText(info.bytes)],
    ['Parameters', info.parameters.length > 0 && info.parameters.join(', ')],
    ['Points', info.points > 0 && formatCount(info.points)],
    ['Runs', info.runs > 1 && formatCount(info.runs)],
    [
      'Call tree',
      info.contexts !== null &&
        info.contexts > 0 &&
        `${plural(info.contexts, 'context')}, ${plural(answer.levels, 'level')}${info.regions ? `, ${plural(info.regions, 'region')}` : ''}`,
    ],
    ['Locations', kinds || (info.locations ? formatCount(info.locations) : false)],
    ['Values', info.values ? formatCount(info.values) : false],
    [
      'Events',
      info.events
        ? `${formatCount(info.events)}${info.duration !== null ? `, over ${formatValue('s', info.duration)}` : ''}`
        : false,
    ],
    ['Records', info.records > 0 && formatCount(info.records)],
    ['Models', info.models > 0 && formatCount(info.models)],
    [
      'Content',
      info.contexts === 0 && !info.events && info.records === 0 && 'nothing: no call path, no event, no record',
    ],
  ];
  return (
    <Card title={input.name}>
      <dl class="facts">
        {all.flatMap(([name, value]) =>
          value
            ? [
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>,
              ]
            : [],
        )}
      </dl>
    </Card>
  );
}

function Totals({
  answer,
  findings,
  props,
}: {
  answer: OverviewAnswer;
  findings: FindingsAnswer | null;
  props: ScreenProps;
}) {
  const totals =
    findings?.totals ??
    (answer.metrics ?? []).map((m) => ({
      id: m.id,
      name: m.name ?? '',
      display_name: m.display_name,
      unit: m.unit,
      all: m.all,
      is_whole: m.is_whole,
    }));
  if (props.input.metrics.length === 0 && answer.info.contexts)
    return (
      <Card title="Totals">
        <p class="hint">
          No metrics are in it, so that no call path has a value: there is no tree, flame graph or comparison of it.
        </p>
      </Card>
    );
  if (totals.length === 0) return null;
  return (
    <Card
      title="Totals"
      hint={[
        answer.run,
        answer.location,
        totals.length < props.input.metrics.length &&
          `${formatCount(totals.length)} of ${plural(props.input.metrics.length, 'metric')}`,
      ]
        .filter(Boolean)
        .join(' · ')}
    >
      <ul class="plain-list">
        {totals.map((t) => (
          <li key={t.id}>
            <button
              class={t.id === props.metric?.id ? 'row chosen' : 'row'}
              title={exactValue(t.unit, t.all)}
              onClick={() => select({ metric: t.name })}
            >
              <span class="grow ellipsis">{t.display_name || t.name}</span>
              <span class="number">{t.all === null ? '–' : formatValue(t.unit, t.all)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function HotPath({ answer }: { answer: OverviewAnswer }) {
  const rows = answer.hot_path ? rowsOf(answer.hot_path) : [];
  const [metric] = answer.metrics ?? [];
  if (!metric || rows.length === 0) return null;
  const whole = metric.whole ?? rows[0]?.inclusive[0] ?? 0;
  const quantity = quantityOf(metric.unit, whole, metric.is_whole);
  return (
    <Card title="Hot path" hint="each step has at least half of the one before" wide>
      <ol class="hot-path">
        {rows.map((row, i) => {
          const value = row.inclusive[0] ?? row.exclusive[0] ?? null;
          const share = value === null || !(whole > 0) ? 0 : value / whole;
          return (
            <li key={row.node}>
              <button
                class="row"
                title={`${row.name}\n${exactValue(metric.unit, value)}${row.file ? `\n${row.file}${row.line ? `:${row.line}` : ''}` : ''}`}
                onClick={() => openTree(row.context)}
              >
                <span class="step-bar" style={{ width: `${Math.min(100, share * 100)}%` }} />
                <span class="step-name ellipsis" style={{ paddingLeft: `${Math.min(i, 20) * 10}px` }}>
                  {shortName(row.name)}
                </span>
                <span class="hint step-place ellipsis">{placeText(row.file, row.line)}</span>
                <span class="number">
                  {formatQuantity(quantity, value)} {quantity.unit}
                </span>
                <span class="number share">{metric.whole === null ? '' : `${formatPercent(share)} %`}</span>
              </button>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

function Functions({ answer, findings }: { answer: OverviewAnswer; findings: FindingsAnswer }) {
  const [metric] = answer.metrics ?? [];
  const isOwn = metric?.has_exclusive;
  const valueOf = (row: TreeRow) => (isOwn ? row.exclusive[0] : row.inclusive[0]) ?? null;
  const all = findings.functions ? rowsOf(findings.functions) : [];
  const rows = all.filter((r) => valueOf(r) !== null);
  if (!metric || all.length === 0) return null;
  const largest = Math.max(...rows.map((r) => Math.abs(valueOf(r) ?? 0)));
  const quantity = quantityOf(metric.unit, largest, metric.is_whole);
  const goTo = (row: TreeRow) =>
    navigate(
      {
        'tree.view': 'flat',
        'tree.by': 'region',
        'tree.row': String(row.node),
        sel: row.context === null ? null : String(row.context),
      },
      'push',
      'tree',
    );
  return (
    <Card title="Functions" hint={isOwn ? 'by what they cost themselves' : 'by their values'}>
      {rows.length === 0 && (
        <p class="hint">
          None has a value{isOwn && ' of its own: what has are call paths of other kinds, as lines or instructions'}.
        </p>
      )}
      <ul class="plain-list">
        {rows.map((row) => (
          <li key={row.node}>
            <button
              class="row relative"
              title={`${row.name}\n${exactValue(metric.unit, valueOf(row))}`}
              onClick={() => goTo(row)}
            >
              <span
                class="relative-bar"
                style={{ width: `${largest > 0 ? (Math.abs(valueOf(row) ?? 0) / largest) * 100 : 0}%` }}
              />
              <span class="grow ellipsis">
                {shortName(row.name)}
                <Apart row={row} />
              </span>
              <span class="number">
                {formatQuantity(quantity, valueOf(row))} {quantity.unit}
              </span>
              {metric.whole !== null && (
                <span class="number share">{formatPercent((valueOf(row) ?? 0) / metric.whole)} %</span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** How values lie from the least to the largest, in eighths. */
function Bins({ bins }: { bins: number[] }) {
  const most = Math.max(1, ...bins);
  return (
    <span class="bins" aria-hidden="true">
      {bins.map((n, i) => (
        <span key={i} style={{ height: `${n === 0 ? 0 : Math.max(8, (n / most) * 100)}%` }} />
      ))}
    </span>
  );
}

function Balance({ findings, canCompare }: { findings: FindingsAnswer; canCompare: boolean }) {
  const { balance } = findings;
  const rows = (balance?.rows ?? []).filter((r) => (r.excess ?? 0) > 0 && (r.imbalance ?? 0) > 0.005);
  if (!balance && findings.no_balance?.includes('takes a moment'))
    return (
      <Card title="Imbalance">
        <p class="hint">{findings.no_balance}</p>
      </Card>
    );
  if (!balance) return null;
  return (
    <Card
      title={balance.over === 'runs' ? 'Differences between runs' : 'Imbalance'}
      hint={`of ${balance.metric} over ${formatCount(balance.places)} ${balance.over}`}
    >
      {rows.length === 0 && <p class="hint">Evenly spread.</p>}
      <ul class="plain-list">
        {rows.length > 0 && (
          <li class="row uneven hint" title="excess: what perfect balance would save">
            <span />
            <span />
            <span>largest</span>
            <span class="number">over mean</span>
            <span class="number">excess</span>
          </li>
        )}
        {rows.map((r) => (
          <li key={r.context}>
            <button
              class="row uneven"
              title={`${r.path ?? ''}\nmean ${exactValue(balance.unit, r.mean)}\nmax ${exactValue(balance.unit, r.max)} at ${r.max_at}`}
              onClick={() => navigate({ sel: String(r.context) }, 'push', canCompare ? 'locations' : 'tree')}
            >
              <Bins bins={r.bins} />
              <span class="grow ellipsis">{r.name ?? '(unknown)'}</span>
              <span class="hint">
                {balance.over === 'runs' ? 'run' : 'at'} {r.max_at}
              </span>
              <span class="number">+{formatPercent(r.imbalance)} %</span>
              <span class="number share">{formatValue(balance.unit, r.excess)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Gpus({ findings }: { findings: FindingsAnswer }) {
  if (findings.gpus.length === 0) return null;
  return (
    <Card title="GPUs" hint={`over ${formatValue('s', findings.gpus[0]!.seconds)}`}>
      <ul class="plain-list">
        {findings.gpus.map((g) => (
          <li key={g.name} class="gpu">
            <span class="grow ellipsis" title={g.name}>
              {g.name}
            </span>
            <span
              class="meter"
              role="img"
              aria-label={`busy ${formatPercent(g.busy)} %, kernels ${formatPercent(g.kernels)} %`}
            >
              <span class="meter-all" style={{ width: `${g.busy * 100}%` }} />
              <span class="meter-part" style={{ width: `${g.kernels * 100}%` }} />
            </span>
            <span class="number">{formatPercent(g.busy)} % busy</span>
          </li>
        ))}
      </ul>
      {findings.kernels && findings.kernels.length > 0 && (
        <>
          <h3 class="sub">Kernels</h3>
          <ul class="plain-list">
            {findings.kernels.map((k) => (
              <li key={k.name}>
                <button
                  class="row relative"
                  title={`${k.name}\n${k.n} times, ${formatValue('s', k.mean)} each`}
                  onClick={() => navigate({ q: k.name, 'tree.view': 'flat', 'tree.by': 'region' }, 'push', 'tree')}
                >
                  <span class="relative-bar" style={{ width: `${(k.share ?? 0) * 100}%` }} />
                  <span class="grow ellipsis">{k.name}</span>
                  <span class="hint">{formatCount(k.n)}×</span>
                  <span class="number">{formatValue('s', k.seconds)}</span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

const FEW_PROBLEMS = 8;

function Problems({ answer, path }: { answer: OverviewAnswer; path: string }) {
  const [isAll, setAll] = useState(false);
  const counts = answer.problem_counts;
  if (counts.all === 0)
    return (
      <Card title="Problems">
        <p class="good">None found.</p>
      </Card>
    );
  const { problems } = answer.info;
  const shown = isAll ? problems : problems.slice(0, FEW_PROBLEMS);
  const words = (['error', 'warning', 'note'] as const).filter((s) => counts[s] > 0).map((s) => plural(counts[s], s));
  return (
    <Card title="Problems" hint={words.join(', ')}>
      <ul class="plain-list problems">
        {shown.map((p, i) => (
          <li key={i}>
            <span class={p.severity === 'error' ? 'badge bad' : p.severity === 'warning' ? 'badge warn' : 'badge'}>
              {p.severity}
            </span>
            <div>
              {p.message} {p.rule && <span class="hint">{p.rule}</span>}
              {(p.file || p.offset !== null) && (
                <div class="mono hint">
                  {p.file}
                  {p.line !== null && `:${p.line}`}
                  {p.line !== null && p.column !== null && `:${p.column}`}
                  {p.line === null && p.offset !== null && ` at byte ${formatCount(p.offset)}`}
                </div>
              )}
            </div>
          </li>
        ))}
      </ul>
      {problems.length > shown.length && (
        <button onClick={() => setAll(true)}>{`Show ${formatCount(problems.length - shown.length)} more`}</button>
      )}
      {isAll && counts.all > problems.length && (
        <p class="hint">{`assay validate ${path} lists all ${formatCount(counts.all)}`}</p>
      )}
    </Card>
  );
}

function Attributes({ answer }: { answer: OverviewAnswer }) {
  const all = answer.attributes_shown;
  if (all.length === 0) return null;
  const keys = [...new Set(all.map((a) => a.key))];
  const several = answer.info.runs > 1;
  return (
    <Card title="Attributes" hint={plural(answer.info.attributes ?? all.length, 'attribute')}>
      <details>
        <summary>
          {keys.slice(0, 4).join(', ')}
          {keys.length > 4 ? ' …' : ''}
        </summary>
        <dl class="facts attributes">
          {all.map((a, i) => (
            <div key={i}>
              <dt class="ellipsis" title={a.key}>
                {several && a.owner === 'run' ? `run ${a.id}: ` : ''}
                {a.key}
              </dt>
              <dd>{String(a.value ?? '')}</dd>
            </div>
          ))}
        </dl>
      </details>
    </Card>
  );
}

function Next({ answer, path }: { answer: OverviewAnswer; path: string }) {
  const commands = [
    ...answer.next.map(
      (verb) =>
        commandLine(verb.split(' ')[0]!, [path]) + (verb.includes(' ') ? ` ${verb.split(' ').slice(1).join(' ')}` : ''),
    ),
    commandLine('validate', [path]),
  ];
  return (
    <Card title="On the command line">
      <ul class="plain-list">
        {commands.map((c) => (
          <li key={c}>
            <button class="row mono" title="Copy" onClick={() => void copyText(c, 'Command copied')}>
              {c}
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** What a report leaves out. */
function LeftOut() {
  const notes = reportNotes();
  if (notes.length === 0) return null;
  return (
    <Card title="Not in this report" hint="for want of room" wide>
      <ul class="plain-list left-out">
        {notes.map((note) => (
          <li key={note} class="hint">
            {note}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Overview(props: ScreenProps) {
  const { input, metric, selection } = props;
  const params = shownParams(input, metric, selection);
  const { data, error, loading } = useData<OverviewAnswer>('overview', params);
  const found = useData<FindingsAnswer>('findings', params);
  // What was found of another metric, or of another dataset, has other units
  const findings = loading || found.loading ? null : found.data;
  if (error?.rule === 'not-in-report') {
    return (
      <div class="page overview">
        <Card title={input.name} hint={input.format_title}>
          <p>{error.message}</p>
        </Card>
      </div>
    );
  }
  if (error) return <Failed failure={error} />;
  if (!data) return <Waiting />;
  return (
    <div class="page overview">
      {IS_REPORT && document.title !== input.name && <h1 class="wide">{document.title}</h1>}
      <What answer={data} props={props} />
      <Totals answer={data} findings={findings} props={props} />
      <HotPath answer={data} />
      {found.error && <Failed failure={found.error} />}
      {findings && <Functions answer={data} findings={findings} />}
      {findings && <Balance findings={findings} canCompare={input.has.locations > 1} />}
      {findings && <Gpus findings={findings} />}
      <Problems answer={data} path={input.path} />
      <Next answer={data} path={input.path} />
      <Attributes answer={data} />
      <LeftOut />
    </div>
  );
}

export const overview: Screen = {
  id: 'overview',
  title: 'Overview',
  key: 'o',
  available: () => true,
  component: Overview,
  command: ({ input }) => commandLine('info', [input.path]),
};
