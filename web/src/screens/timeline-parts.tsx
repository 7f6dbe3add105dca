// Parts of the time line: what stands around its rows, and what the pointer tells.
import { useMemo, useRef, useState } from 'preact/hooks';
import { isReport, useData, type Params } from '../api';
import { Canvas, pointerAt } from '../canvas';
import { formatCount, formatPercent } from '../format';
import type { How } from '../state';
import type { View } from './timeline';
import {
  hasPicture,
  lengthText,
  momentText,
  pieceAt,
  type DepthsAnswer,
  type IntervalsAnswer,
  type Line,
  type PictureAnswer,
  type Span,
  type TimelineAnswer,
} from './timeline-data';
import { AXIS, drawMap, drawShares, type Colors, type Paint } from './timeline-draw';
import { Details, Swatch } from './timeline-panel';
import { useCalm, type WindowControl } from './timeline-state';

const RESTING_MS = 120;

/** Where the pointer is; the time there changes with the window. */
export interface Pointer {
  x: number;
  y: number;
}

export interface Hover extends Pointer {
  time: number;
  line: Line | null;
  /** Of the call paths below the row; -1: the row itself. */
  level: number;
}

interface ToolbarProps {
  answer: TimelineAnswer;
  control: WindowControl;
  view: View;
  isOpen: boolean;
  /** null: the one that tells most. */
  depth: number | null;
  selectedRow: number;
  /** Seconds: a report has no more detail. */
  detail: number | undefined;
  onView: (patch: Partial<View>, how?: How) => void;
}

export function Toolbar({ answer, control, view, isOpen, depth, selectedRow, detail, onView }: ToolbarProps) {
  const { window, whole } = control;
  const length = window.to - window.from;
  const isWhole = window.from <= whole.from && window.to >= whole.to;
  const inReport = isReport();
  return (
    <div class="toolbar" role="toolbar" aria-label="Time line">
      <button disabled={isWhole} title="The whole run (f)" onClick={() => control.keep(whole)}>
        Fit
      </button>
      <span class="tl-window" title={`${window.from} s … ${window.to} s`}>
        {momentText(window.from, length / 1000, window.to)} … {momentText(window.to, length / 1000)}{' '}
        <b>{lengthText(length)}</b>
      </span>
      <span class="grow" />
      {answer.n_runs > 1 && !inReport && (
        <button
          aria-pressed={view.wall}
          title="Runs begin when they began; else each at 0"
          onClick={() => onView({ wall: !view.wall, from: '', to: '', a: '', b: '' })}
        >
          Wall clock
        </button>
      )}
      {!inReport && (
        <button
          aria-pressed={isOpen}
          title="Call paths of the chosen row, level by level (e)"
          onClick={() => onView({ open: !isOpen, row: Math.max(0, selectedRow) })}
        >
          Call paths
        </button>
      )}
      {answer.deepest > 1 && !inReport && (
        <label class="tl-depth" title="Which level of the call paths the rows show ([ and ])">
          <span class="picker-label">Depth</span>
          <input
            type="range"
            min={1}
            max={answer.deepest}
            value={depth ?? answer.depth}
            aria-label="Depth"
            onInput={(event) => onView({ depth: Number(event.currentTarget.value) }, 'replace')}
          />
          <span class="tl-number">{`${depth ?? answer.depth} / ${answer.deepest}`}</span>
          <button
            class="quiet"
            disabled={view.depth === 0}
            title="The depth that tells most"
            onClick={() => onView({ depth: 0 })}
          >
            auto
          </button>
        </label>
      )}
      {answer.of_rows && (
        <span class="hint tl-detail">{`This report has the first ${formatCount(answer.n_rows)} of ${formatCount(answer.of_rows)} rows.`}</span>
      )}
      {detail !== undefined && (
        <span class="hint tl-detail">{`This report has detail down to ${lengthText(detail)}; assay view has more.`}</span>
      )}
      <span class="hint">
        {formatCount(answer.count)} {answer.counted}
        {answer.hidden > 0 && `, ${formatCount(answer.hidden)} not shown`}
      </span>
    </div>
  );
}

/** The listed procedure of the chosen context stands for it in the list. */
export function chosenContext(picture: PictureAnswer, node: number | null): number | null {
  return picture.node === undefined || picture.node === null
    ? node
    : (picture.procedures.context[picture.node] ?? node);
}

interface Seen {
  name: string;
  context: number | null;
  kind: string | null;
  span: Span;
}

/** What the picture shows under the pointer. */
export function whatIsAt(hover: Hover, picture: PictureAnswer, depths: DepthsAnswer | null): Seen | null {
  const source = hover.level >= 0 ? depths : picture;
  const pieces =
    hover.level >= 0 ? depths?.levels[hover.level] : picture.pieces[picture.rows.indexOf(hover.line?.row ?? -1)];
  if (!source || !pieces) return null;
  const step = (source.to - source.from) / source.columns;
  const piece = pieceAt(pieces, Math.floor((hover.time - source.from) / step));
  if (hover.time < source.from || hover.time > source.to || piece.procedure === -1) return null;
  return {
    name: source.procedures.name[piece.procedure] ?? 'others',
    context: source.procedures.context[piece.procedure] ?? null,
    kind: source.procedures.kind[piece.procedure] ?? null,
    span: { from: source.from + piece.first * step, to: source.from + piece.end * step },
  };
}

interface LabelProps {
  line: Line;
  /** Of its own picture, without the call paths below it. */
  height: number;
  track: string;
  isGpu: boolean;
  isSelected: boolean;
  onToggle: () => void;
  onSelect: () => void;
  onOpen: () => void;
}

export function Label({ line, height, track, isGpu, isSelected, onToggle, onSelect, onOpen }: LabelProps) {
  const isGroup = line.kind === 'group';
  return (
    <div
      role="listitem"
      class={`tl-label${isGroup ? ' group' : ''}${isSelected ? ' selected' : ''}${isGpu && !isGroup ? ' gpu' : ''}`}
      style={{
        top: `${line.y + AXIS}px`,
        height: `${line.height}px`,
        lineHeight: `${height - 1}px`,
        paddingLeft: `${4 + line.indent * 12}px`,
      }}
    >
      {line.isOpen !== null ? (
        <button
          class={line.isOpen ? 'twist open' : 'twist'}
          aria-expanded={line.isOpen}
          aria-label={`${line.isOpen ? 'Close' : 'Open'} ${line.label}`}
          onClick={onToggle}
        />
      ) : (
        <span class="twist none" />
      )}
      <button
        class="tl-label-name ellipsis"
        title={`${line.label}${isGroup ? '' : ` (${track})`}`}
        aria-pressed={isSelected}
        onClick={isGroup ? onToggle : onSelect}
        onDblClick={isGroup ? undefined : onOpen}
      >
        {line.label}
      </button>
    </div>
  );
}

export function Overview({
  map,
  paint,
  whole,
  window,
  onWindow,
}: {
  map: PictureAnswer;
  paint: readonly Paint[];
  whole: Span;
  window: Span;
  onWindow: (span: Span) => void;
}) {
  const drag = useRef<{ at: number; kind: 'move' | 'new'; window: Span } | null>(null);
  const timeOf = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return whole.from + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (whole.to - whole.from);
  };
  const draw = useMemo(
    () => (c: CanvasRenderingContext2D, size: { width: number; height: number }) =>
      drawMap(c, size, map, paint, whole, window),
    [map, paint, whole, window.from, window.to],
  );
  const isAll = window.from <= whole.from && window.to >= whole.to;
  return (
    <Canvas
      draw={draw}
      label="The whole run; the frame is the window"
      class="tl-map"
      onPointerDown={(event: PointerEvent) => {
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        const at = timeOf(event);
        const isInside = !isAll && at >= window.from && at <= window.to;
        drag.current = { at, kind: isInside ? 'move' : 'new', window };
      }}
      onPointerMove={(event: PointerEvent) => {
        const d = drag.current;
        if (!d) return;
        const at = timeOf(event);
        if (d.kind === 'move') onWindow({ from: d.window.from + at - d.at, to: d.window.to + at - d.at });
        else if (Math.abs(at - d.at) > (whole.to - whole.from) / 200)
          onWindow({ from: Math.min(at, d.at), to: Math.max(at, d.at) });
      }}
      onPointerUp={(event: PointerEvent) => {
        const d = drag.current;
        drag.current = null;
        const at = timeOf(event);
        // A click moves the window there
        if (d?.kind === 'new' && !isAll && Math.abs(at - d.at) <= (whole.to - whole.from) / 200) {
          const half = (d.window.to - d.window.from) / 2;
          onWindow({ from: at - half, to: at + half });
        }
      }}
    />
  );
}

export function Shares({
  colors,
  picture,
  paint,
  window,
  cursor,
  onCursor,
}: {
  colors: Colors;
  picture: PictureAnswer;
  paint: readonly Paint[];
  window: Span;
  cursor: number | null;
  onCursor: (x: number | null) => void;
}) {
  const draw = useMemo(
    () => (c: CanvasRenderingContext2D, size: { width: number; height: number }) =>
      drawShares(c, size, picture, paint, window, cursor),
    [picture, paint, window.from, window.to, cursor],
  );
  const bin =
    cursor === null ? -1 : Math.floor(((cursor - picture.from) / (picture.to - picture.from)) * picture.n_bins);
  const largest =
    bin < 0
      ? []
      : picture.bins
          .map((shares, i) => [shares[bin] ?? 0, i] as const)
          .filter(([share]) => share > 0)
          .sort(([a], [b]) => b - a)
          .slice(0, 6);
  const [isOver, setOver] = useState(false);
  return (
    <>
      <Canvas
        draw={draw}
        label="Shares of the time of all rows over time"
        onPointerMove={(event: PointerEvent) => {
          setOver(true);
          onCursor(pointerAt(event).x);
        }}
        onPointerLeave={() => {
          setOver(false);
          onCursor(null);
        }}
      />
      {isOver && largest.length > 0 && (
        <div class="tl-shares-list">
          {largest.map(([share, i]) => (
            <div key={i}>
              <Swatch
                name={picture.procedures.name[i] ?? ''}
                kind={picture.procedures.kind[i] ?? null}
                colors={colors}
              />
              <span class="grow ellipsis">{picture.procedures.name[i]}</span>
              <span>{formatPercent(share)} %</span>
            </div>
          ))}
        </div>
      )}
    </>
  );
}

interface TooltipProps {
  colors: Colors;
  hover: Hover;
  seen: Seen | null;
  params: Params;
  resolution: number;
  canvas: HTMLCanvasElement | null;
  label: string;
}

/** The time under the pointer; what is there; and once the pointer rests, the interval or the sample itself. */
export function Tooltip({ colors, hover, seen, params, resolution, canvas, label }: TooltipProps) {
  const row = hover.line && hasPicture(hover.line) ? hover.line.row : -1;
  const resting = useCalm(`${row} ${hover.time}`, RESTING_MS);
  const isResting = resting === `${row} ${hover.time}` && seen !== null;
  const { data } = useData<IntervalsAnswer>(isResting ? 'intervals' : null, {
    ...params,
    row,
    from: hover.time,
    to: hover.time,
    limit: 20,
  });
  if (!canvas || hover.y < AXIS || !hover.line) return null;
  const box = canvas.getBoundingClientRect();
  const [x, y] = [box.left + hover.x, box.top + hover.y];
  const found =
    isResting && data
      ? ([...data.list].reverse().find((i) => i.name === seen?.name) ?? data.list[data.list.length - 1])
      : undefined;
  const attributes = found && data?.attributes ? data.attributes[data.list.indexOf(found)] : undefined;
  const isRight = x > innerWidth - 360;
  return (
    <div
      class="tooltip"
      style={{
        ...(isRight ? { right: `${innerWidth - x + 14}px` } : { left: `${x + 14}px` }),
        ...(y > innerHeight - 200 ? { bottom: `${innerHeight - y + 14}px` } : { top: `${y + 14}px` }),
      }}
    >
      {seen ? (
        <div class="tl-tip-name">
          <Swatch name={seen.name} kind={seen.kind} colors={colors} />
          <b>{seen.name}</b>
        </div>
      ) : (
        <div class="hint">nothing was measured</div>
      )}
      <div class="hint">{label}</div>
      <div class="mono">{momentText(hover.time, resolution)}</div>
      {found && (
        <dl class="tl-facts">
          {found.name !== seen?.name && (
            <>
              <dt>in it</dt>
              <dd>{found.name ?? '<unknown>'}</dd>
            </>
          )}
          {found.kind && (
            <>
              <dt>kind</dt>
              <dd>{found.kind}</dd>
            </>
          )}
          {found.time !== undefined && (
            <>
              <dt>sampled</dt>
              <dd>{momentText(found.time, 1e-9)}</dd>
            </>
          )}
          <dt>start</dt>
          <dd>{momentText(found.start, Math.max(1e-9, found.duration / 1e4))}</dd>
          <dt>duration</dt>
          <dd>{lengthText(found.duration)}</dd>
          {(attributes ?? [])
            .slice(0, 8)
            .flatMap(([key, value], i) => [
              <dt key={`k${i}`}>{key.replace(/^tag:/, '')}</dt>,
              <dd key={`v${i}`}>{value === null ? 'NULL' : String(value)}</dd>,
            ])}
        </dl>
      )}
    </div>
  );
}

interface ClickedProps {
  colors: Colors;
  params: Params;
  row: number;
  at: number;
  half: number;
  label: string;
  node: number | null;
  onClose: () => void;
}

export function ClickedDetails({ colors, params, row, at, half, label, node, onClose }: ClickedProps) {
  // The window may change afterwards: what was clicked does not
  const clicked = useRef({ row, at, half });
  if (clicked.current.row !== row || clicked.current.at !== at) clicked.current = { row, at, half };
  const path = useData<DepthsAnswer>('timeline_depths', {
    ...params,
    row,
    from: at - clicked.current.half,
    to: at + clicked.current.half,
    columns: 1,
  });
  const found = useData<IntervalsAnswer>('intervals', { ...params, row, from: at, to: at, limit: 64 });
  if (isReport() && !found.data) return null;
  return (
    <Details
      colors={colors}
      clicked={{ row, at, label, path: path.data, found: found.data }}
      node={node}
      onClose={onClose}
    />
  );
}
