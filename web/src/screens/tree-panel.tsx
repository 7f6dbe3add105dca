// Beside the tree: all there is to say of the selected context.
import type { ComponentChildren } from 'preact';
import { useCallback } from 'preact/hooks';
import { useData, type Params } from '../api';
import { Canvas, type Size } from '../canvas';
import {
  exactValue,
  formatCount,
  formatPercent,
  formatValue,
  known,
  plural,
  shortName,
  shortValue,
  type Num,
} from '../format';
import { navigate, select } from '../state';
import { cssColor } from '../theme';
import { shownName, type TreeMetric } from './tree-data';

interface Relative {
  context: number;
  /** Its row, where rows are no contexts; null: it has none. */
  node?: number | null;
  name: string | null;
  n: number;
  value: number | null;
}

export interface NodeAnswer {
  context: number | null;
  name: string | null;
  kind: string | null;
  module: string | null;
  file: string | null;
  line: number | null;
  call_file: string | null;
  call_line: number | null;
  is_aside: boolean;
  is_inlined: boolean;
  below: number;
  path: { context: number | null; node?: number; name: string | null }[];
  metrics: TreeMetric[];
  values: {
    id: number;
    name: string | null;
    display_name: string | null;
    unit: string | null;
    inclusive?: Num;
    exclusive?: Num;
  }[];
  calls: number;
  callers: { n: number; rows: Relative[] };
  callees: { n: number; rows: Relative[] };
  source: { file: string; first: number; line: number; lines: string[] } | null;
  attributes: { owner: string; key: string; value: unknown }[];
  /** What a report does not have of it, in words. */
  lacks?: string[];
}

interface LocationsAnswer {
  over: string;
  unit: string | null;
  n: number;
  statistics: {
    count: number;
    mean: number | null;
    min: number | null;
    max: number | null;
    imbalance: number | null;
    min_at: string;
    max_at: string;
  } | null;
  places?: { value: (number | null)[]; label: string[] };
  curve?: (number | null)[] | { value: (number | null)[] };
}

function Section({ title, children, hint }: { title: string; children: ComponentChildren; hint?: string }) {
  return (
    <section class="panel-part">
      <h3>
        {title} {hint && <span class="hint">{hint}</span>}
      </h3>
      {children}
    </section>
  );
}

function RelativeRow({
  title,
  onPick,
  children,
}: {
  title: string;
  onPick: (() => void) | undefined;
  children: ComponentChildren;
}) {
  return onPick ? (
    <button class="row relative" title={title} onClick={onPick}>
      {children}
    </button>
  ) : (
    <div class="row relative" title={title}>
      {children}
    </div>
  );
}

interface RelativesProps {
  title: string;
  of: NodeAnswer['callers'];
  metric: TreeMetric | undefined;
  of_all: number;
  /** Call paths of the function that is looked at: these are of all of them. */
  calls: number;
  onPick: (one: Relative) => void;
}

function Relatives({ title, of, metric, of_all, calls, onPick }: RelativesProps) {
  if (of.n === 0) return null;
  const largest = Math.max(of_all, ...of.rows.map((r) => Math.abs(r.value ?? 0)));
  return (
    <Section
      title={title}
      hint={[
        calls > 1 && `of all ${formatCount(calls)} call paths`,
        of.n > of.rows.length && `${of.rows.length} of ${formatCount(of.n)}`,
      ]
        .filter(Boolean)
        .join(', ')}
    >
      <ul class="plain-list">
        {of.rows.map((r) => (
          <li key={r.context}>
            <RelativeRow
              title={`${r.name ?? ''}\n${exactValue(metric?.unit ?? null, r.value)}`}
              onPick={r.node === null ? undefined : () => onPick(r)}
            >
              <span
                class="relative-bar"
                style={{ width: `${largest > 0 ? (Math.abs(r.value ?? 0) / largest) * 100 : 0}%` }}
              />
              <span class="grow ellipsis">{shortName(r.name ?? '(unknown)')}</span>
              <span class="number">{formatValue(metric?.unit ?? null, r.value)}</span>
            </RelativeRow>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Values({ node }: { node: NodeAnswer }) {
  const values = node.values.filter((v) => known(v.inclusive) !== null || known(v.exclusive) !== null);
  const hasExclusive = values.some((v) => v.exclusive !== undefined);
  if (values.length === 0) return <Section title="No values">{null}</Section>;
  return (
    <Section title="Values">
      <table class={hasExclusive ? 'values both' : 'values'}>
        <thead>
          <tr>
            <th />
            <th>inclusive</th>
            {hasExclusive && <th>exclusive</th>}
          </tr>
        </thead>
        <tbody>
          {values.map((v) => (
            <tr key={v.id}>
              <th scope="row" title={v.name ?? ''}>
                {v.display_name || v.name}
              </th>
              <td title={exactValue(v.unit, v.inclusive)}>{shortValue(v.unit, v.inclusive)}</td>
              {hasExclusive && <td title={exactValue(v.unit, v.exclusive)}>{shortValue(v.unit, v.exclusive)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

/** A bar for each place, or the sorted curve of very many. */
function Places({ params, canGo, sides }: { params: Params; canGo: boolean; sides: string }) {
  const { data, error } = useData<LocationsAnswer>('locations', {
    ...params,
    kind: sides === 'exclusive' ? 'exclusive' : null,
  });
  const curve = data?.curve;
  const values = data?.places?.value ?? (Array.isArray(curve) ? curve : curve?.value) ?? [];
  const draw = useCallback(
    (c: CanvasRenderingContext2D, { width, height }: Size) => {
      const most = Math.max(0, ...values.map((v) => v ?? 0));
      if (!(most > 0)) return;
      const step = width / values.length;
      c.fillStyle = cssColor('--accent');
      values.forEach((v, i) => {
        const h = ((v ?? 0) / most) * (height - 2);
        c.fillRect(i * step, height - h, Math.max(0.5, step - (step > 3 ? 1 : 0)), h);
      });
    },
    [values],
  );
  const s = data?.statistics;
  if (error?.rule === 'not-in-report') return <p class="hint panel-part">Not in this report: values over locations</p>;
  if (!data || !s || data.n < 2) return null;
  const unit = data.unit;
  if (s.count === 1) return <Section title={`Only at ${s.max_at}`}>{null}</Section>;
  return (
    <Section
      title={`Over ${s.count < data.n ? `${formatCount(s.count)} of ` : ''}${plural(
        data.n,
        data.over.replace(/e?s$/, (end) => (data.over === 'processes' ? '' : end === 'es' ? 'e' : '')),
        data.over,
      )}`}
    >
      <Canvas
        draw={draw}
        height={44}
        label={`Values over ${data.over}: mean ${formatValue(unit, s.mean)}, largest ${formatValue(unit, s.max)} at ${s.max_at}`}
      />
      <p class="hint place-line">
        <span>mean {formatValue(unit, s.mean)}</span>
        <span>
          max {formatValue(unit, s.max)} at {s.max_at}
        </span>
        {s.imbalance !== null && <span>imbalance {formatPercent(s.imbalance)} %</span>}
        {canGo && (
          <button class="link" onClick={() => navigate({}, 'push', 'locations')}>
            all
          </button>
        )}
      </p>
    </Section>
  );
}

export interface PanelProps {
  params: Params;
  context: number | null;
  /** What makes the row of a view that has other rows than contexts; null: it is the context. */
  row: Params | null;
  sides: string;
  hasLocations: boolean;
}

export function TreePanel({ params, context, row, sides, hasLocations }: PanelProps) {
  const { data, error } = useData<NodeAnswer>('node', row ? { ...params, ...row } : { ...params, context });
  const pick = (one: { context: number | null; node?: number | null }) =>
    row
      ? navigate({
          'tree.row': String(one.node ?? one.context),
          ...(context === null || one.context === null ? {} : { sel: String(one.context) }),
        })
      : select({ node: one.context });
  if (error)
    return (
      <aside class="panel" aria-label="Details">
        <p class="hint">{error.message}</p>
      </aside>
    );
  if (!data) return <aside class="panel" aria-label="Details" />;
  const metric = data.metrics[0];
  const isUp = row !== null && (row['view'] === 'bottom-up' || row['by'] === 'kernel');
  const own = known(data.values.find((v) => v.id === metric?.id)?.inclusive) ?? 0;
  const place = data.file ? `${data.file}${data.line ? `:${data.line}` : ''}` : '';
  const called = data.call_file ? `${data.call_file}${data.call_line ? `:${data.call_line}` : ''}` : '';
  return (
    <aside class="panel" aria-label="Details">
      <h2 class="panel-name">{shownName({ name: data.name ?? '(unknown)', kind: data.kind })}</h2>
      <p class="hint">
        {[
          data.kind,
          data.is_inlined && 'inlined',
          data.is_aside && 'stands aside',
          data.below > 0 && plural(data.below, 'node below', 'nodes below'),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {(place || data.module || called) && (
        <p class="mono panel-place">
          {place && <span title="where it is defined">{place}</span>}
          {called && <span title="where it is called">from {called}</span>}
          {data.module && <span title="module">{data.module}</span>}
        </p>
      )}
      {data.path.length > 1 && (
        <nav class={isUp ? 'crumbs up' : 'crumbs'} aria-label={isUp ? 'What it calls' : 'Path from the root'}>
          {data.path.slice(0, -1).map((step, i) => (
            <button key={i} class="link" onClick={() => pick(step)}>
              {shownName({ name: step.name ?? '(unknown)', kind: step.context === null ? 'file' : null })}
            </button>
          ))}
        </nav>
      )}
      <Values node={data} />
      {hasLocations && (
        <Places
          params={row ? { ...params, ...row, by: null, tree: row['by'] } : { ...params, context }}
          canGo={!row}
          sides={sides}
        />
      )}
      {data.source && (
        <Section title="Source" hint={data.source.file}>
          <pre class="source">
            {data.source.lines.map((line, i) => (
              <div key={i} class={data.source!.first + i === data.source!.line ? 'at' : ''}>
                <span class="line-number">{data.source!.first + i}</span>
                {line || ' '}
              </div>
            ))}
          </pre>
        </Section>
      )}
      <Relatives title="Callers" of={data.callers} metric={metric} of_all={own} calls={data.calls} onPick={pick} />
      <Relatives title="Callees" of={data.callees} metric={metric} of_all={own} calls={data.calls} onPick={pick} />
      {data.lacks && data.lacks.length > 0 && (
        <p class="hint panel-part">{`Not in this report: ${data.lacks.join(', ')}`}</p>
      )}
      {data.attributes.length > 0 && (
        <Section title="Attributes">
          <dl class="facts">
            {data.attributes.map((a, i) => (
              <div key={i}>
                <dt class="ellipsis">{a.key}</dt>
                <dd>{String(a.value ?? '')}</dd>
              </div>
            ))}
          </dl>
        </Section>
      )}
    </aside>
  );
}
