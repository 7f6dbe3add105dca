// A against B: each call path or function a point. On the diagonal nothing changed; above it B has more.
import { useMemo, useRef, useState } from 'preact/hooks';
import { useData } from '../api';
import { Failed, Waiting } from '../boundary';
import { Canvas, pointerAt, useSize, type Size } from '../canvas';
import { css, diverging } from '../colors';
import { exactValue, formatChange, formatValue, known, plural, type Num } from '../format';
import { useKeys } from '../keys';
import { cssColor } from '../theme';
import { VTable, type Column } from '../vtable';
import {
  changeOf,
  intensity,
  isSmall,
  noiseOf,
  relativeOf,
  spreadAt,
  spreadText,
  type ScatterAnswer,
} from './compare-data';
import { changeText } from './compare-flame';
import type { PartProps } from './compare-tree';
import { ticksOf } from './scale/model';
import { finder } from './tree-data';

const LEFT = 64;
const BOTTOM = 56;
const TOP = 12;
const RIGHT = 16;
/** Where points lie that one side has nothing of: beside the axes. */
const GUTTER = 18;

const valueAt = (values: Num[], i: number): number => known(values[i]) ?? 0;
const GUIDE = 1.1;
const MOST_TICKS = 8;
const NEAR = 14;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** From values to places, both axes alike: of equal factors. */
function axesOf(answer: ScatterAnswer, size: Size) {
  const low = Math.log10(answer.low ?? 1) - 0.05;
  const high = Math.max(low + 0.1, Math.log10(answer.high ?? 10) + 0.05);
  const left = LEFT + GUTTER;
  const bottom = size.height - BOTTOM - GUTTER;
  const width = Math.max(1, size.width - RIGHT - left);
  const height = Math.max(1, bottom - TOP);
  const part = (v: number) => (Math.log10(v) - low) / (high - low);
  return {
    low,
    high,
    left,
    bottom,
    width,
    height,
    x: (v: number) => (v > 0 ? left + part(v) * width : LEFT + GUTTER / 2),
    y: (v: number) => (v > 0 ? bottom - part(v) * height : bottom + GUTTER / 2),
  };
}

/** "10 s", not "10.00 s". */
const tickText = (unit: string | null, value: number): string =>
  formatValue(unit, value).replace(/\.(\d*?)0+(?=\D|$)/, (_, kept) => (kept ? `.${kept}` : ''));

interface Drawn {
  answer: ScatterAnswer;
  noise: number;
  selected: number;
  hovered: number;
  brush: Box | null;
  found: (i: number) => boolean;
  hasSearch: boolean;
}

function drawAxes(context: CanvasRenderingContext2D, { answer }: Drawn, size: Size): void {
  const axes = axesOf(answer, size);
  context.strokeStyle = cssColor('--line');
  context.fillStyle = cssColor('--muted');
  context.lineWidth = 1;
  context.font = `11px ${cssColor('--font')}`;
  for (const tick of ticksOf(10 ** axes.low, 10 ** axes.high, true, MOST_TICKS)) {
    const [x, y] = [Math.round(axes.x(tick)) + 0.5, Math.round(axes.y(tick)) + 0.5];
    context.beginPath();
    context.moveTo(x, TOP);
    context.lineTo(x, axes.bottom);
    context.moveTo(axes.left, y);
    context.lineTo(size.width - RIGHT, y);
    context.stroke();
    context.textAlign = 'center';
    context.textBaseline = 'top';
    context.fillText(tickText(answer.unit, tick), x, axes.bottom + GUTTER + 4);
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    context.fillText(tickText(answer.unit, tick), LEFT - 4, y);
  }
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  context.fillStyle = cssColor('--text');
  context.fillText('A', axes.left + axes.width / 2, axes.bottom + GUTTER + 30);
  context.save();
  context.translate(10, TOP + axes.height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText('B', 0, 0);
  context.restore();
}

function drawGuides(context: CanvasRenderingContext2D, { answer }: Drawn, size: Size): void {
  const axes = axesOf(answer, size);
  const [from, to] = [10 ** axes.low, 10 ** axes.high];
  context.save();
  context.beginPath();
  context.rect(axes.left, TOP, axes.width, axes.height);
  context.clip();
  for (const factor of [1, GUIDE, 1 / GUIDE]) {
    const ratio = factor * answer.scale;
    context.setLineDash(factor === 1 ? [] : [4, 4]);
    context.strokeStyle = cssColor('--muted');
    context.globalAlpha = factor === 1 ? 0.8 : 0.5;
    context.beginPath();
    context.moveTo(axes.x(from), axes.y(from * ratio));
    context.lineTo(axes.x(to), axes.y(to * ratio));
    context.stroke();
  }
  context.restore();
}

function drawOthers(context: CanvasRenderingContext2D, { answer }: Drawn, size: Size): void {
  const { others, low, high } = answer;
  if (others.n === 0 || low === null || high === null) return;
  const axes = axesOf(answer, size);
  const most = Math.max(...others.count);
  const edge = (k: number) => low * (high / low) ** (k / others.cells);
  context.fillStyle = cssColor('--muted');
  others.count.forEach((n, i) => {
    const [x, y] = [axes.x(edge(others.a[i]!)), axes.y(edge(others.b[i]! + 1))];
    context.globalAlpha = 0.08 + 0.3 * (Math.log1p(n) / Math.log1p(most));
    context.fillRect(
      x,
      y,
      Math.max(1, axes.x(edge(others.a[i]! + 1)) - x),
      Math.max(1, axes.y(edge(others.b[i]!)) - y),
    );
  });
  context.globalAlpha = 1;
}

function drawPoints(context: CanvasRenderingContext2D, drawn: Drawn, size: Size, isDark: boolean): void {
  const { answer, noise, selected, hovered, brush, found, hasSearch } = drawn;
  const axes = axesOf(answer, size);
  const { a, b } = answer.points;
  // Small ones first, so that large ones lie above them
  for (let i = a.length - 1; i >= 0; i--) {
    const [va, vb] = [valueAt(a, i), valueAt(b, i)];
    const [x, y] = [axes.x(va), axes.y(vb)];
    const isGrey = isSmall(answer, va, vb, noise, spreadAt(answer.points, i));
    context.globalAlpha = hasSearch && !found(i) ? 0.15 : isGrey ? 0.5 : 0.9;
    context.fillStyle = isGrey
      ? cssColor('--muted')
      : css(
          diverging(Math.sign(changeOf(answer, va, vb)) * Math.max(0.55, Math.abs(intensity(answer, va, vb))), isDark),
        );
    context.strokeStyle = isDark ? 'rgba(0,0,0,0.5)' : 'rgba(60,66,76,0.55)';
    context.beginPath();
    context.arc(x, y, isGrey ? 3 : 4.5, 0, 2 * Math.PI);
    context.fill();
    context.lineWidth = 0.75;
    context.stroke();
  }
  context.globalAlpha = 1;
  for (const i of [selected, hovered]) {
    if (i < 0) continue;
    context.strokeStyle = cssColor(i === selected ? '--accent' : '--text');
    context.lineWidth = 2;
    context.beginPath();
    context.arc(axes.x(valueAt(a, i)), axes.y(valueAt(b, i)), 7, 0, 2 * Math.PI);
    context.stroke();
  }
  if (brush) {
    context.fillStyle = isDark ? 'rgba(127,178,255,0.14)' : 'rgba(31,95,191,0.10)';
    context.strokeStyle = cssColor('--accent');
    context.lineWidth = 1;
    context.fillRect(brush.x, brush.y, brush.width, brush.height);
    context.strokeRect(brush.x + 0.5, brush.y + 0.5, brush.width, brush.height);
  }
}

interface Listed {
  i: number;
  name: string;
  a: number;
  b: number;
}

export function ComparisonScatter(props: PartProps & { isInclusive: boolean; isFlat: boolean }) {
  const { params, isFlat, isInclusive } = props;
  const { data, error } = useData<ScatterAnswer>('compare_scatter', {
    ...params,
    normalize: null,
    view: isFlat ? 'flat' : null,
    kind: isInclusive ? 'inclusive' : null,
  });
  if (error) return <Failed failure={error} />;
  if (!data) return <Waiting />;
  if (data.points.node.length === 0)
    return (
      <div class="message">{`There is nothing of ${data.metric ?? 'any metric'} here that could be a point.`}</div>
    );
  return <ScatterPlot {...props} answer={data} />;
}

function ScatterPlot({
  view,
  setView,
  search,
  chosen,
  onChoose,
  isFlat,
  answer,
}: PartProps & { isFlat: boolean; answer: ScatterAnswer }) {
  const [box, size] = useSize<HTMLDivElement>();
  const [hover, setHover] = useState<{ i: number; x: number; y: number } | null>(null);
  const [brush, setBrush] = useState<Box | null>(null);
  const press = useRef<{ x: number; y: number } | null>(null);
  const isMatch = useMemo(() => finder(search), [search]);
  const found = (i: number) => isMatch(answer.points.name[i] ?? '');
  const selected =
    chosen && !isFlat
      ? (chosen.side === 0 ? answer.points.a_context : answer.points.b_context).indexOf(chosen.context)
      : answer.points.node.indexOf(view.row);
  const noise = noiseOf(answer, view.noise);
  const draw = useMemo(
    () => (context: CanvasRenderingContext2D, at: Size, isDark: boolean) => {
      const drawn: Drawn = { answer, noise, selected, hovered: hover?.i ?? -1, brush, found, hasSearch: search !== '' };
      drawAxes(context, drawn, at);
      drawOthers(context, drawn, at);
      drawGuides(context, drawn, at);
      drawPoints(context, drawn, at, isDark);
    },
    [answer, noise, selected, hover?.i, brush, search],
  );
  const listed = useMemo<Listed[]>(() => {
    if (size.width === 0) return [];
    const axes = axesOf(answer, size);
    const { a, b, name } = answer.points;
    const inside = (x: number, y: number) =>
      !brush || (x >= brush.x && x <= brush.x + brush.width && y >= brush.y && y <= brush.y + brush.height);
    return a
      .map((_, i) => ({ i, name: name[i] ?? '(unknown)', a: valueAt(a, i), b: valueAt(b, i) }))
      .filter((p) => inside(axes.x(p.a), axes.y(p.b)) && (search === '' || found(p.i)))
      .sort((p, q) => Math.abs(changeOf(answer, q.a, q.b)) - Math.abs(changeOf(answer, p.a, p.b)));
  }, [answer, brush, search, size.width, size.height]);
  useKeys('A against B', [{ key: 'Escape', label: 'All points again', run: () => setBrush(null) }]);
  const nearest = (x: number, y: number): number => {
    const axes = axesOf(answer, size);
    let [best, distance] = [-1, NEAR];
    answer.points.a.forEach((_, i) => {
      const d = Math.hypot(axes.x(valueAt(answer.points.a, i)) - x, axes.y(valueAt(answer.points.b, i)) - y);
      if (d < distance) [best, distance] = [i, d];
    });
    return best;
  };
  const choose = (i: number) =>
    onChoose(answer.points.node[i]!, [answer.points.a_context[i] ?? null, answer.points.b_context[i] ?? null]);
  const boxOf = (from: { x: number; y: number }, to: { x: number; y: number }): Box => ({
    x: Math.min(from.x, to.x),
    y: Math.min(from.y, to.y),
    width: Math.abs(to.x - from.x),
    height: Math.abs(to.y - from.y),
  });
  const onMove = (event: PointerEvent) => {
    const at = pointerAt(event);
    if (press.current && event.buttons === 1) {
      const next = boxOf(press.current, at);
      if (next.width + next.height > 6) {
        setHover(null);
        setBrush(next);
      }
      return;
    }
    const i = nearest(at.x, at.y);
    setHover(i < 0 ? null : { i, x: event.clientX, y: event.clientY });
  };
  const onUp = (event: PointerEvent) => {
    const from = press.current;
    press.current = null;
    const at = pointerAt(event);
    if (!from || Math.abs(at.x - from.x) + Math.abs(at.y - from.y) > 6) return;
    const i = nearest(at.x, at.y);
    setBrush(null);
    if (i >= 0) choose(i);
  };
  const columns: Column<Listed>[] = [
    {
      id: 'name',
      title: brush ? 'In the frame' : 'Largest changes',
      width: '1fr',
      fixed: true,
      cell: (p) => p.name,
      text: (p) => p.name,
    },
    {
      id: 'a',
      title: 'A',
      width: 84,
      align: 'right',
      cell: (p) => formatValue(answer.unit, p.a),
      text: (p) => exactValue(answer.unit, p.a),
    },
    {
      id: 'b',
      title: 'B',
      width: 84,
      align: 'right',
      cell: (p) => formatValue(answer.unit, p.b),
      text: (p) => exactValue(answer.unit, p.b),
    },
    {
      id: 'relative',
      title: 'Δ %',
      width: 76,
      align: 'right',
      cell: (p) => (p.a === 0 ? 'new' : p.b === 0 ? 'gone' : formatChange(relativeOf(answer, p.a, p.b))),
      text: (p) => exactValue(answer.unit, changeOf(answer, p.a, p.b)),
    },
  ];
  const tip = hover && answer.points.node[hover.i] !== undefined ? hover : null;
  const [ta, tb] = tip ? [valueAt(answer.points.a, tip.i), valueAt(answer.points.b, tip.i)] : [0, 0];
  return (
    <div class="split">
      <div class="scatter-box" ref={box}>
        <Canvas
          draw={draw}
          label={`${plural(answer.points.node.length, isFlat ? 'function' : 'call path')}: ${answer.kind} ${answer.metric} of A against that of B`}
          onPointerDown={(event: PointerEvent) => {
            press.current = event.button === 0 ? pointerAt(event) : null;
          }}
          onPointerMove={onMove}
          onPointerUp={onUp}
          onPointerLeave={() => setHover(null)}
        />
        {tip && (
          <div class="tooltip" style={{ left: `${Math.min(tip.x + 14, innerWidth - 320)}px`, top: `${tip.y + 16}px` }}>
            <div class="tip-title">{answer.points.name[tip.i]}</div>
            <div>
              {`${formatValue(answer.unit, ta)} → ${formatValue(answer.unit, tb)}  `}
              <b>{changeText(ta, tb, relativeOf(answer, ta, tb))}</b>
            </div>
            {spreadAt(answer.points, tip.i)[0] !== null && (
              <div class="hint">{spreadText(answer, spreadAt(answer.points, tip.i))}</div>
            )}
            <div class="hint">{`exact: ${exactValue(answer.unit, ta)} → ${exactValue(answer.unit, tb)}`}</div>
          </div>
        )}
        <div class="scatter-note hint">
          {[
            `${answer.kind} values`,
            'dashed: ±10 %',
            answer.others.n + answer.others.beyond > 0
              ? `${plural(answer.others.n + answer.others.beyond, 'small one')} as shades`
              : '',
            'drag a frame to list what is in it',
          ]
            .filter(Boolean)
            .join(' · ')}
        </div>
      </div>
      <div class="scatter-list">
        <VTable
          label="Points"
          columns={columns}
          rowCount={listed.length}
          row={(i) => listed[i]}
          rowKey={(i) => listed[i]?.i ?? i}
          selected={listed.findIndex((p) => p.i === selected)}
          onSelect={(i) => listed[i] && choose(listed[i]!.i)}
          onOpen={() => setView({ tab: isFlat ? 'functions' : 'tree' })}
        />
      </div>
    </div>
  );
}
