// Beside the time lines: procedures with their time, and what was clicked.
import { useMemo } from 'preact/hooks';
import { formatCount, formatPercent } from '../format';
import { css } from '../colors';
import { select } from '../state';
import type { Colors } from './timeline-draw';
import {
  lengthText,
  momentText,
  type DepthsAnswer,
  type Interval,
  type IntervalsAnswer,
  type PictureAnswer,
  type Span,
} from './timeline-data';
import { finder } from './tree-data';

const MOST_LISTED = 300;

export function Swatch({ name, kind, colors }: { name: string; kind: string | null; colors: Colors }) {
  return <span class="swatch" style={{ background: css(colors(name, kind)) }} />;
}

export interface LegendProps {
  colors: Colors;
  picture: PictureAnswer;
  counted: string;
  span: Span;
  isSelection: boolean;
  /** The numbers of the selection are on their way: these are others. */
  isStale: boolean;
  node: number | null;
  search: string;
  onHover: (name: string | null) => void;
  onZoom: () => void;
  onClear: () => void;
}

export function Legend({
  colors,
  picture,
  counted,
  span,
  isSelection,
  isStale,
  node,
  search,
  onHover,
  onZoom,
  onClear,
}: LegendProps) {
  const { procedures } = picture;
  const isMatch = useMemo(() => finder(search), [search]);
  const shown = procedures.name
    .map((_, i) => i)
    .filter((i) => (procedures.time[i]! > 0 || procedures.count[i]! > 0) && isMatch(procedures.name[i]!));
  const found = search ? shown.reduce((sum, i) => sum + procedures.time[i]!, 0) : null;
  return (
    <section class={isStale ? 'tl-legend stale' : 'tl-legend'} aria-label="Procedures">
      <header>
        <h3>{isSelection ? 'In the selection' : 'In the window'}</h3>
        <span class="grow" />
        {isSelection && (
          <>
            <button title="Zoom into the selection (z)" onClick={onZoom}>
              Zoom in
            </button>
            <button class="quiet" aria-label="Clear the selection" title="Clear the selection (Esc)" onClick={onClear}>
              ✕
            </button>
          </>
        )}
      </header>
      <p class="hint tl-sums" title={`${span.from} s … ${span.to} s`}>
        <b>{lengthText(span.to - span.from)}</b>
        {picture.count !== null && !isStale && <span>{`${formatCount(picture.count)} ${counted}`}</span>}
        {picture.longest_gap > 0 && !isStale && <span>{`longest gap ${lengthText(picture.longest_gap)}`}</span>}
        {!picture.exact && <span>shares as drawn</span>}
        {found !== null && <span>{`found ${formatPercent(picture.time > 0 ? found / picture.time : 0)} %`}</span>}
      </p>
      <ul class="plain-list" onMouseLeave={() => onHover(null)}>
        {shown.slice(0, MOST_LISTED).map((i) => {
          const [name, kind, time, context] = [
            procedures.name[i]!,
            procedures.kind[i] ?? null,
            procedures.time[i]!,
            procedures.context[i] ?? null,
          ];
          const share = picture.time > 0 ? time / picture.time : 0;
          return (
            <li key={i}>
              <button
                class={context !== null && context === node ? 'row chosen' : 'row'}
                title={`${name}\n${kind ?? ''}${kind ? ' · ' : ''}${time} s · ${formatPercent(share)} %${picture.exact && picture.count !== null ? ` · ${formatCount(procedures.count[i]!)} ${counted}` : ''}`}
                onMouseEnter={() => onHover(name)}
                onFocus={() => onHover(name)}
                onBlur={() => onHover(null)}
                onClick={() => context !== null && select({ node: context === node ? null : context })}
              >
                <Swatch name={name} kind={kind} colors={colors} />
                <span class="grow ellipsis">{name}</span>
                <span class="tl-time">{lengthText(time)}</span>
                <span class="tl-share">{formatPercent(share)} %</span>
              </button>
            </li>
          );
        })}
        {shown.length > MOST_LISTED && <li class="hint">{`${formatCount(shown.length - MOST_LISTED)} more`}</li>}
        {shown.length === 0 && <li class="hint">{search ? 'Nothing has this name here' : 'Nothing happens here'}</li>}
      </ul>
    </section>
  );
}

/** What was clicked: the call path there, and the intervals or the sample. */
export interface Clicked {
  row: number;
  at: number;
  label: string;
  path: DepthsAnswer | null;
  found: IntervalsAnswer | null;
}

function Facts({
  interval,
  attributes,
}: {
  interval: Interval;
  attributes: [string, string | number | null][] | undefined;
}) {
  const resolution = Math.max(1e-9, interval.duration / 1e4);
  const facts: [string, string, string?][] = [
    ['kind', interval.kind ?? ''],
    ['start', momentText(interval.start, resolution), `${interval.start} s`],
    ['duration', lengthText(interval.duration), `${interval.duration} s`],
    ...(interval.time === undefined
      ? []
      : ([['sampled at', momentText(interval.time, 1e-9), `${interval.time} s`]] as [string, string, string][])),
    ...(interval.source_id ? ([['id', interval.source_id]] as [string, string][]) : []),
    ...(attributes ?? []).map(([key, value]): [string, string] => [
      key.replace(/^tag:/, ''),
      value === null ? 'NULL' : String(value),
    ]),
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value, exact], i) => (
        <div key={i}>
          <dt class="ellipsis">{name}</dt>
          <dd title={exact}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Details({
  clicked,
  colors,
  node,
  onClose,
}: {
  clicked: Clicked;
  colors: Colors;
  node: number | null;
  onClose: () => void;
}) {
  const { path, found } = clicked;
  const inner = found && found.list.length > 0 ? found.list.length - 1 : -1;
  const frames = path?.levels.map((level) => level[1] ?? -1).filter((i) => i >= 0) ?? [];
  return (
    <section class="tl-details" aria-label="What was clicked">
      <header>
        <h3 class="ellipsis grow">{clicked.label}</h3>
        <button class="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {inner >= 0 && (
        <>
          <p class="tl-name">{found!.list[inner]!.name ?? '<unknown>'}</p>
          <Facts interval={found!.list[inner]!} attributes={found!.attributes?.[inner]} />
        </>
      )}
      {found && inner < 0 && <p class="hint">Nothing was recorded here.</p>}
      {frames.length > 0 && path && (
        <>
          <h3>Call path</h3>
          <ol class="plain-list">
            {frames.map((i, level) => {
              const context = path.procedures.context[i] ?? null;
              return (
                <li key={level}>
                  <button
                    class={context !== null && context === node ? 'row chosen' : 'row'}
                    title={path.procedures.name[i]}
                    onClick={() => context !== null && select({ node: context })}
                  >
                    <Swatch name={path.procedures.name[i]!} kind={path.procedures.kind[i] ?? null} colors={colors} />
                    <span class="ellipsis">{path.procedures.name[i]}</span>
                  </button>
                </li>
              );
            })}
          </ol>
        </>
      )}
    </section>
  );
}
