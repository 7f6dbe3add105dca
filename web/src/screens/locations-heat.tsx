// The heat map of a metric over places, its legend, the sorted curve and the histogram: all can be brushed.
import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { Canvas, dotsOf, fitText, pointerAt, useSize, type Size } from '../canvas';
import { css, inkOn, sequential } from '../colors';
import { formatQuantity, quantityOf, type Quantity } from '../format';
import { cssColor } from '../theme';
import type { Places } from './locations-data';

export interface BrushProps {
  places: Places;
  /** Some cells were chosen; add: to those that are. */
  onBrush: (cells: Set<number>, add: boolean) => void;
  onHover: (cell: number, at: { x: number; y: number } | null) => void;
  hovered: number;
}

/** What differs by less than this part looks the same. */
const SAME = 0.01;

/** The smallest and the largest value. */
function boundsOf({ sorted }: Places): [number, number] {
  const finite = sorted.filter((c) => Number.isFinite(c.many ? c.many.max : c.value));
  return [finite[0]?.value ?? 0, finite[finite.length - 1]?.value ?? 1];
}

/** What colours and axes go from and to. */
export function scaleOf(places: Places, fromZero: boolean): { low: number; high: number } {
  let [low, high] = boundsOf(places);
  if (fromZero) [low, high] = [Math.min(0, low), Math.max(0, high)];
  const wanted = SAME * Math.max(Math.abs(low), Math.abs(high));
  if (high - low < wanted) [low, high] = [(low + high - wanted) / 2, (low + high + wanted) / 2];
  return { low, high };
}

export const quantityFor = ({ answer, sorted }: Places): Quantity =>
  quantityOf(
    answer.unit,
    Math.max(
      0,
      ...[sorted[0], sorted[sorted.length - 1]].map((c) => (c && Number.isFinite(c.value) ? Math.abs(c.value) : 0)),
    ),
    answer.is_integer,
  );

interface Layout {
  left: number;
  top: number;
  cell: Size;
}

const MOST = { width: 110, height: 56 };
const LABELS = { left: 64, top: 20, widest: 130 };

function layOut({ rows, columns, rowLabels, columnLabels }: Places, size: Size): Layout {
  const longest = Math.max(0, ...rowLabels.map((l) => l.length));
  const left = longest > 0 ? Math.min(LABELS.widest, Math.max(LABELS.left, 14 + longest * 6.5)) : 8;
  const top = columnLabels.some(Boolean) ? LABELS.top : 8;
  return {
    left,
    top,
    cell: {
      width: Math.min(MOST.width, (size.width - left - 8) / Math.max(1, columns)),
      height: Math.min(MOST.height, (size.height - top - 8) / Math.max(1, rows)),
    },
  };
}

interface HeatProps extends BrushProps {
  low: number;
  high: number;
  /** The cell of the keyboard; -1: none. */
  cursor: number;
  onKeyDown: (event: KeyboardEvent) => void;
  label: string;
}

type Drag = { x0: number; y0: number; x1: number; y1: number };

function inside({ places, layout }: { places: Places; layout: Layout }, drag: Drag): Set<number> {
  const column = (x: number) => Math.floor((x - layout.left) / layout.cell.width);
  const row = (y: number) => Math.floor((y - layout.top) / layout.cell.height);
  const [c0, c1] = [Math.min(drag.x0, drag.x1), Math.max(drag.x0, drag.x1)].map(column) as [number, number];
  const [r0, r1] = [Math.min(drag.y0, drag.y1), Math.max(drag.y0, drag.y1)].map(row) as [number, number];
  const found = new Set<number>();
  places.cells.forEach((c, i) => {
    if (c.column >= c0 && c.column <= c1 && c.row >= r0 && c.row <= r1) found.add(i);
  });
  return found;
}

export function HeatMap({ places, low, high, cursor, hovered, onBrush, onHover, onKeyDown, label }: HeatProps) {
  const [box, size] = useSize<HTMLDivElement>();
  const [drag, setDrag] = useState<Drag | null>(null);
  const layout = layOut(places, size);
  const quantity = quantityFor(places);
  const drawIt = useMemo(
    () => (context: CanvasRenderingContext2D) => {
      const { left, top, cell } = layout;
      const gap = cell.width > 6 && cell.height > 6 ? 1 : 0;
      const range = high - low || 1;
      context.font = `11px ${cssColor('--font')}`;
      context.textBaseline = 'middle';
      const line = (i: number) => {
        const c = places.cells[i];
        if (c)
          context.strokeRect(
            left + c.column * cell.width + 0.5,
            top + c.row * cell.height + 0.5,
            Math.max(2, cell.width - 1 - gap),
            Math.max(2, cell.height - 1 - gap),
          );
      };
      for (const c of places.cells) {
        // Whole pixels: cells side by side leave no seams
        const [x, y] = [Math.round(left + c.column * cell.width), Math.round(top + c.row * cell.height)];
        const [x1, y1] = [Math.round(left + (c.column + 1) * cell.width), Math.round(top + (c.row + 1) * cell.height)];
        context.globalAlpha = places.hasSelection && !c.isSelected ? 0.22 : 1;
        context.fillStyle = Number.isNaN(c.value) ? cssColor('--sunken') : css(sequential((c.value - low) / range));
        context.fillRect(x, y, Math.max(0.5, x1 - x - gap), Math.max(0.5, y1 - y - gap));
        if (cell.width < 48 || cell.height < 16 || Number.isNaN(c.value)) continue;
        context.fillStyle = context.globalAlpha < 1 ? cssColor('--text') : inkOn(sequential((c.value - low) / range));
        context.textAlign = 'center';
        context.fillText(
          fitText(context, formatQuantity(quantity, c.value), cell.width - 6),
          x + cell.width / 2,
          y + cell.height / 2,
        );
      }
      context.globalAlpha = 1;
      context.fillStyle = cssColor('--muted');
      context.textAlign = 'right';
      for (let r = 0, last = -99; r < places.rows; r++) {
        const y = top + (r + 0.5) * cell.height;
        if (y - last < 13) continue;
        last = y;
        context.fillText(fitText(context, places.rowLabels[r] ?? '', left - 8), left - 6, y);
      }
      context.textAlign = 'center';
      for (let c = 0, last = -99; c < places.columns; c++) {
        const x = left + (c + 0.5) * cell.width;
        if (x - last < 26 || !places.columnLabels[c]) continue;
        last = x;
        context.fillText(places.columnLabels[c]!, x, top - 9);
      }
      if (top > 10) {
        const both = `${places.rowTitle} × ${places.columnTitle}`;
        const hasRoom = places.rowTitle && places.columnTitle && context.measureText(both).width < left - 8;
        context.fillText(hasRoom ? both : places.rowTitle, left / 2 - 4, top - 9);
      }
      context.textAlign = 'left';
      context.lineWidth = 1.5;
      context.strokeStyle = cssColor('--text');
      if (hovered >= 0) line(hovered);
      context.lineWidth = 2.5;
      context.strokeStyle = cssColor('--accent');
      if (cursor >= 0) line(cursor);
      if (drag) {
        context.lineWidth = 1;
        context.fillStyle = 'rgba(127,127,127,0.18)';
        const rect = [
          Math.min(drag.x0, drag.x1),
          Math.min(drag.y0, drag.y1),
          Math.abs(drag.x1 - drag.x0),
          Math.abs(drag.y1 - drag.y0),
        ] as const;
        context.fillRect(...rect);
        context.strokeRect(...rect);
      }
    },
    [places, low, high, hovered, cursor, drag, size.width, size.height],
  );
  const at = (event: MouseEvent): number => {
    const { x, y } = pointerAt(event);
    const found = inside({ places, layout }, { x0: x, y0: y, x1: x, y1: y });
    return found.values().next().value ?? -1;
  };
  const finish = (event: PointerEvent) => {
    if (!drag) return;
    setDrag(null);
    const found = inside({ places, layout }, drag);
    if (found.size > 0) onBrush(found, event.shiftKey || event.ctrlKey || event.metaKey);
  };
  return (
    <div class="heat-box" ref={box}>
      <Canvas
        draw={drawIt}
        label={label}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event: PointerEvent) => {
          if (event.button !== 0) return;
          (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
          const { x, y } = pointerAt(event);
          setDrag({ x0: x, y0: y, x1: x, y1: y });
        }}
        onPointerMove={(event: PointerEvent) => {
          const { x, y } = pointerAt(event);
          if (drag) setDrag({ ...drag, x1: x, y1: y });
          onHover(at(event), { x: event.clientX, y: event.clientY });
        }}
        onPointerUp={finish}
        onPointerLeave={() => onHover(-1, null)}
      />
    </div>
  );
}

/** The colours, with what they mean. */
export function HeatLegend({
  places,
  low,
  high,
  children,
}: {
  places: Places;
  low: number;
  high: number;
  children?: ComponentChildren;
}) {
  const quantity = quantityFor(places);
  const drawIt = useMemo(
    () =>
      (context: CanvasRenderingContext2D, { width, height }: Size) => {
        const dot = dotsOf(context);
        for (let x = 0; x < width; x++) {
          context.fillStyle = css(sequential(x / Math.max(1, width - 1)));
          context.fillRect(dot(x), 0, dot(x + 1) - dot(x), height);
        }
      },
    [],
  );
  const [least, most] = boundsOf(places);
  const isOne = low < least && least === most && most < high; // the ends of the scale are nobody's value then
  return (
    <div class="heat-legend">
      {!isOne && <span>{formatQuantity(quantity, low)}</span>}
      {!isOne && (
        <span class="heat-scale">
          <Canvas draw={drawIt} label="Colours from the smallest to the largest value" height={10} />
        </span>
      )}
      <span>{`${isOne ? 'all ' : ''}${formatQuantity(quantity, isOne ? most : high)} ${quantity.unit}`}</span>
      {children}
    </div>
  );
}

const MARGIN = { left: 52, right: 8, top: 8, bottom: 18 };

interface PlotProps extends BrushProps {
  kind: 'curve' | 'histogram';
}

interface Bar {
  x0: number;
  x1: number;
  y: number;
  cells: number[];
  part: number;
}

/** Bars of the histogram, or points of the sorted curve, in parts of the plot. */
function barsOf(places: Places, kind: PlotProps['kind']): { bars: Bar[]; low: number; high: number } {
  const { answer, sorted, cells } = places;
  const index = new Map(cells.map((c, i) => [c, i]));
  if (kind === 'curve') {
    const many = answer.curve;
    const values = many ? many.value.map(Number) : sorted.map((c) => c.value);
    const finite = values.filter(Number.isFinite);
    const [low, high] = [Math.min(0, finite[0] ?? 0), Math.max(0, finite[finite.length - 1] ?? 1)];
    const n = values.length;
    return {
      low,
      high,
      bars: values.map((v, i) => ({
        x0: i / n,
        x1: (i + 1) / n,
        y: (v - low) / (high - low || 1),
        cells: many ? [] : [index.get(sorted[i]!)!],
        part: many ? 0 : sorted[i]!.isSelected ? 1 : 0,
      })),
    };
  }
  const h = answer.histogram;
  if (!h) return { bars: [], low: 0, high: 1 };
  const most = Math.max(1, ...h.count);
  const width = (h.max - h.min) / h.count.length;
  const members: number[][] = h.count.map(() => []);
  if (answer.places)
    sorted.forEach((c) =>
      members[Math.min(h.count.length - 1, Math.max(0, Math.floor((c.value - h.min) / (width || 1))))]?.push(
        index.get(c)!,
      ),
    );
  return {
    low: h.min,
    high: h.max,
    bars: h.count.map((count, i) => ({
      x0: i / h.count.length,
      x1: (i + 1) / h.count.length,
      y: count / most,
      cells: members[i]!,
      part: members[i]!.length > 0 ? members[i]!.filter((k) => cells[k]!.isSelected).length / members[i]!.length : 0,
    })),
  };
}

export function BrushPlot({ places, kind, hovered, onBrush, onHover }: PlotProps) {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const size = useRef<Size>({ width: 0, height: 0 });
  const { bars, low, high } = useMemo(() => barsOf(places, kind), [places, kind]);
  const quantity = quantityFor(places);
  const drawIt = useMemo(
    () =>
      (context: CanvasRenderingContext2D, { width, height }: Size) => {
        size.current = { width, height };
        const [w, h] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
        context.font = `11px ${cssColor('--font')}`;
        context.textBaseline = 'middle';
        const text = (s: string, x: number, y: number, align: CanvasTextAlign) => {
          context.fillStyle = cssColor('--muted');
          context.textAlign = align;
          context.fillText(s, x, y);
        };
        context.strokeStyle = cssColor('--line');
        context.lineWidth = 1;
        context.strokeRect(MARGIN.left - 0.5, MARGIN.top - 0.5, w + 1, h + 1);
        const mean = places.answer.statistics?.mean ?? NaN;
        for (const bar of bars) {
          const x = MARGIN.left + bar.x0 * w;
          const bw = Math.max(0.6, (bar.x1 - bar.x0) * w - ((bar.x1 - bar.x0) * w > 4 ? 1 : 0));
          const isHovered = hovered >= 0 && bar.cells.includes(hovered);
          const zero = kind === 'curve' && high > low ? -low / (high - low) : 0;
          const [y0, y1] = [Math.min(zero, bar.y), Math.max(zero, bar.y)];
          context.fillStyle = cssColor(isHovered ? '--text' : '--bar');
          context.fillRect(x, MARGIN.top + h * (1 - y1), bw, Math.max(bar.y > 0 ? 1 : 0, h * (y1 - y0)));
          if (bar.part > 0) {
            context.fillStyle = cssColor('--accent');
            context.fillRect(x, MARGIN.top + h * (1 - y0 - (y1 - y0) * bar.part), bw, h * (y1 - y0) * bar.part);
          }
        }
        if (kind === 'curve') {
          text(formatQuantity(quantity, high), MARGIN.left - 5, MARGIN.top + 5, 'right');
          text(formatQuantity(quantity, low), MARGIN.left - 5, MARGIN.top + h - 5, 'right');
          if (Number.isFinite(mean) && high > low) {
            const y = MARGIN.top + h * (1 - (mean - low) / (high - low));
            context.strokeStyle = cssColor('--warn');
            context.setLineDash([4, 3]);
            context.beginPath();
            context.moveTo(MARGIN.left, y);
            context.lineTo(MARGIN.left + w, y);
            context.stroke();
            context.setLineDash([]);
            text('mean', MARGIN.left - 5, Math.min(MARGIN.top + h - 18, Math.max(MARGIN.top + 18, y)), 'right');
          }
          text(`${places.answer.over} by size`, MARGIN.left + w, height - 8, 'right');
        } else {
          text(formatQuantity(quantity, low), MARGIN.left, height - 8, 'left');
          text(`${formatQuantity(quantity, high)} ${quantity.unit}`, MARGIN.left + w, height - 8, 'right');
          text(
            String(Math.max(0, ...(places.answer.histogram?.count ?? [0]))),
            MARGIN.left - 5,
            MARGIN.top + 5,
            'right',
          );
        }
        context.textAlign = 'left';
        if (drag) {
          context.fillStyle = 'rgba(127,127,127,0.22)';
          context.fillRect(Math.min(drag.from, drag.to), MARGIN.top, Math.abs(drag.to - drag.from), h);
        }
      },
    [places, bars, hovered, drag],
  );
  const part = (x: number) => (x - MARGIN.left) / Math.max(1, size.current.width - MARGIN.left - MARGIN.right);
  const finish = (event: PointerEvent) => {
    if (!drag) return;
    const [a, b] = [part(Math.min(drag.from, drag.to)), part(Math.max(drag.from, drag.to))];
    setDrag(null);
    const found = new Set(
      bars.filter((bar) => bar.x1 > a && bar.x0 < Math.max(b, a + 1e-9)).flatMap((bar) => bar.cells),
    );
    if (found.size > 0) onBrush(found, event.shiftKey || event.ctrlKey || event.metaKey);
  };
  return (
    <Canvas
      draw={drawIt}
      label={kind === 'curve' ? 'Values by size' : 'How many locations have which value'}
      onPointerDown={(event: PointerEvent) => {
        if (event.button !== 0 || places.answer.cells) return;
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        const { x } = pointerAt(event);
        setDrag({ from: x, to: x });
      }}
      onPointerMove={(event: PointerEvent) => {
        const { x } = pointerAt(event);
        if (drag) setDrag({ ...drag, to: x });
        const p = part(x);
        const bar = bars.find((one) => p >= one.x0 && p < one.x1);
        onHover(kind === 'curve' ? (bar?.cells[0] ?? -1) : -1, { x: event.clientX, y: event.clientY });
      }}
      onPointerUp={finish}
      onPointerLeave={() => onHover(-1, null)}
    />
  );
}
