// Models as lines: measured points with their repetitions, curve and band; or speed-up, efficiency and residuals.
import { useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { exactValue, formatValue, quantityOf, real } from '../../format';
import { axis, Plot } from '../../plot';
import { cssColor } from '../../theme';
import {
  parameterText,
  parameterTicks,
  shortNumber,
  shownValue,
  ticksOf,
  type Curve,
  type CurveAnswer,
  type Parameter,
  type View,
} from './model';

export interface LinesProps {
  answer: CurveAnswer;
  view: View;
  parameters: readonly Parameter[];
  isWork: boolean;
  unit: string | null;
  metric: string;
  colour: (context: number) => string;
  xLog: boolean;
  yLog: boolean;
  /** Where the slider stands, and what to do when somebody clicks elsewhere. */
  at: number;
  onAt: (x: number) => void;
  /** To the largest point that was measured. */
  onMeasured: () => void;
}

interface Dot {
  x: number;
  y: number;
  low: number;
  high: number;
  repetitions: number[];
  label: string;
}

/**
 * The measured points of a curve that lie on the line that is drawn: where all other parameters have the values they
 * are held at.
 */
function dotsOf(
  curve: Curve,
  answer: CurveAnswer,
  parameters: readonly Parameter[],
  view: View,
  isWork: boolean,
  unit: string | null,
): Dot[] {
  const over = parameters.findIndex((p) => p.name === answer.over);
  const [x0, y0] = [answer.x[0]!, real(curve.y[0])];
  const m = curve.measured;
  const dots: Dot[] = [];
  m.at.forEach((point, i) => {
    if (!parameters.every((p, k) => k === over || point[k] === real(answer.at[p.name]))) return;
    const x = point[over]!;
    const to = (y: number) =>
      view === 'residuals'
        ? (100 * (y - real(m.model[i]))) / Math.abs(real(m.model[i]))
        : shownValue(view, isWork, x0, y0, x, y);
    const [value, low, high] = [real(m.value[i]), real(m.minimum[i]), real(m.maximum[i])];
    const n = m.repetitions[i];
    dots.push({
      x,
      y: to(value),
      low: to(low),
      high: to(high),
      repetitions: m.values[i]!.map((v) => to(real(v))),
      label: `${answer.over} = ${x}: ${exactValue(unit, value)}${n && n > 1 ? `, ${n} repetitions from ${formatValue(unit, low)} to ${formatValue(unit, high)}` : ''}; the model says ${exactValue(unit, real(m.model[i]))}`,
    });
  });
  return dots;
}

interface Drawn {
  curve: Curve;
  y: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
  dots: Dot[];
}

function drawnOf({ answer, view, parameters, isWork, unit }: LinesProps): Drawn[] {
  return answer.curves.map((curve) => {
    const y0 = real(curve.y[0]);
    const to = (y: number, i: number) => {
      const v = view === 'residuals' ? 0 : shownValue(view, isWork, answer.x[0]!, y0, answer.x[i]!, y);
      return Number.isFinite(v) ? v : null;
    };
    const of = (list: Curve['y']) => list.map((v, i) => to(real(v), i));
    const [low, high] = [of(curve.low), of(curve.high)];
    const isInverse = view === 'speedup' || view === 'efficiency';
    return {
      curve,
      y: of(curve.y),
      low: isInverse ? high : low,
      high: isInverse ? low : high,
      dots: dotsOf(curve, answer, parameters, view, isWork, unit),
    };
  });
}

function rangeOf(drawn: Drawn[], view: View, isLog: boolean): [number, number] {
  const values: number[] = [];
  for (const d of drawn) {
    for (const v of d.y) if (v !== null && view !== 'residuals') values.push(v);
    for (const dot of d.dots) values.push(...[dot.y, dot.low, dot.high, ...dot.repetitions].filter(Number.isFinite));
    // A band may be much wider than all else: it is cut
    const most = Math.max(...d.y.map((v) => v ?? -Infinity));
    for (const v of d.high) if (v !== null && view !== 'residuals' && v < most * 2) values.push(v);
  }
  const shown = isLog ? values.filter((v) => v > 0) : values;
  let [low, high] = [Math.min(...shown), Math.max(...shown)];
  if (!Number.isFinite(low) || !Number.isFinite(high)) return isLog ? [1, 10] : [0, 1];
  if (view === 'residuals') {
    const most = Math.max(Math.abs(low), Math.abs(high), 1e-9) * 1.15;
    return [-most, most];
  }
  if (isLog) return [low / (high / low) ** 0.06 / 1.05, high * (high / low) ** 0.06 * 1.05];
  if (low > -0.02 * high && low < high * 0.5) low = 0;
  if (view === 'efficiency' || view === 'speedup') {
    // A model that falls to nothing would take all the room
    const measured = Math.max(1, ...drawn.flatMap((d) => d.dots.map((dot) => dot.y)).filter(Number.isFinite));
    high = Math.max(1, Math.min(high, measured * (view === 'speedup' ? 8 : 3)));
  }
  const air = (high - low || Math.abs(high) || 1) * 0.06;
  return [low === 0 ? -air / 4 : low - air, high + air];
}

function drawDots(u: uPlot, drawn: Drawn[], colour: (context: number) => string): void {
  const { ctx } = u;
  const ratio = devicePixelRatio;
  const ground = cssColor('--ground');
  const at = (x: number, y: number): [number, number] => [u.valToPos(x, 'x', true), u.valToPos(y, 'y', true)];
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  for (const d of drawn) {
    ctx.strokeStyle = ctx.fillStyle = colour(d.curve.context);
    for (const dot of d.dots) {
      const [x, y] = at(dot.x, dot.y);
      if (!Number.isFinite(x + y)) continue;
      ctx.lineWidth = ratio;
      if (Number.isFinite(dot.low + dot.high) && dot.low !== dot.high) {
        const [top, bottom] = [u.valToPos(dot.low, 'y', true), u.valToPos(dot.high, 'y', true)];
        ctx.globalAlpha = 0.7;
        ctx.beginPath();
        ctx.moveTo(x, top);
        ctx.lineTo(x, bottom);
        for (const end of [top, bottom]) {
          ctx.moveTo(x - 3 * ratio, end);
          ctx.lineTo(x + 3 * ratio, end);
        }
        ctx.stroke();
      }
      ctx.globalAlpha = 0.4;
      const n = dot.repetitions.length;
      if (n > 1) {
        dot.repetitions.forEach((v, i) => {
          // Side by side, so that equal ones are seen
          const aside = ((i % 9) / Math.max(1, Math.min(n, 9) - 1) - 0.5) * 9 * ratio;
          ctx.beginPath();
          ctx.arc(x + aside, u.valToPos(v, 'y', true), 1.6 * ratio, 0, 7);
          ctx.fill();
        });
      }
      ctx.globalAlpha = 1;
      ctx.beginPath();
      ctx.arc(x, y, 3.6 * ratio, 0, 7);
      ctx.fill();
      ctx.lineWidth = 1.2 * ratio;
      ctx.strokeStyle = ground;
      ctx.stroke();
      ctx.strokeStyle = colour(d.curve.context);
    }
  }
  ctx.restore();
}

/** What lies outside the measurements is shaded; a line where the slider stands. */
function drawGround(u: uPlot, last: number, at: number, ideal: ((x: number) => number) | null): void {
  const { ctx } = u;
  const ratio = devicePixelRatio;
  const { left, top, width, height } = u.bbox;
  ctx.save();
  const from = u.valToPos(last, 'x', true);
  if (from < left + width) {
    ctx.fillStyle = cssColor('--sunken');
    ctx.globalAlpha = 0.55;
    ctx.fillRect(from, top, left + width - from, height);
    ctx.globalAlpha = 1;
    ctx.fillStyle = cssColor('--muted');
    ctx.font = `${11 * ratio}px ${cssColor('--font')}`;
    if (left + width - from > 80 * ratio) ctx.fillText('predicted', from + 6 * ratio, top + 14 * ratio);
  }
  const x = u.valToPos(at, 'x', true);
  if (x >= left && x <= left + width) {
    ctx.strokeStyle = cssColor('--accent');
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash([5 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
  }
  if (ideal) {
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.strokeStyle = cssColor('--muted');
    ctx.setLineDash([2 * ratio, 4 * ratio]);
    ctx.lineWidth = 1.5 * ratio;
    ctx.beginPath();
    const xs = u.data[0];
    xs.forEach((v, i) =>
      i
        ? ctx.lineTo(u.valToPos(v, 'x', true), u.valToPos(ideal(v), 'y', true))
        : ctx.moveTo(u.valToPos(v, 'x', true), u.valToPos(ideal(v), 'y', true)),
    );
    ctx.stroke();
  }
  ctx.restore();
}

const TITLES: Record<View, string> = {
  lines: '',
  speedup: 'speed-up',
  efficiency: 'efficiency',
  residuals: 'measured against the model [%]',
  map: '',
};

interface Tip {
  left: number;
  top: number;
  lines: { colour: string; text: string }[];
  head: string;
}

export function Lines(props: LinesProps) {
  const { answer, view, parameters, isWork, unit, metric, colour, xLog, yLog, at, onAt, onMeasured } = props;
  const [tip, setTip] = useState<Tip | null>(null);
  const clicked = useRef(onAt);
  clicked.current = onAt;
  const drawn = useMemo(() => drawnOf(props), [answer, view, isWork]);
  const parameter = parameters.find((p) => p.name === answer.over);
  const values = parameter?.values ?? [];
  const last = values[values.length - 1] ?? NaN;
  // Residuals are where something was measured
  const [x0, x1] = [answer.x[0]!, view === 'residuals' && last > answer.x[0]! ? last : answer.x[answer.x.length - 1]!];
  const isXLog = xLog && x0 > 0 && x1 > x0;
  // Some air, so that the first point is whole
  const [left, right] = isXLog
    ? [x0 * (x0 / x1) ** 0.025, x1 * (x1 / x0) ** 0.025]
    : [x0 - (x1 - x0) * 0.025, x1 + (x1 - x0) * 0.025];
  const [y0, y1] = rangeOf(drawn, view, yLog);
  const isYLog = yLog && y0 > 0 && view !== 'residuals';
  const ideal =
    view === 'speedup' ? (isWork ? (x: number) => x / x0 : () => 1) : view === 'efficiency' ? () => 1 : null;
  const data = useMemo<uPlot.AlignedData>(
    () => [answer.x, ...drawn.flatMap((d) => [d.y, d.low, d.high])] as unknown as uPlot.AlignedData,
    [drawn],
  );

  const describe = (u: uPlot) => {
    const { left, top, idx } = u.cursor;
    if (left === undefined || top === undefined || left < 0 || idx === null || idx === undefined) return setTip(null);
    const box = u.over.getBoundingClientRect();
    let near: { dot: Dot; colour: string; name: string } | null = null;
    let best = 12;
    for (const d of drawn) {
      for (const dot of d.dots) {
        const far = Math.hypot(u.valToPos(dot.x, 'x') - left, u.valToPos(dot.y, 'y') - top);
        if (far < best) {
          best = far;
          near = { dot, colour: colour(d.curve.context), name: d.curve.name ?? d.curve.callpath };
        }
      }
    }
    const shown = (v: number | null | undefined) =>
      v === null || v === undefined
        ? '–'
        : view === 'lines'
          ? formatValue(unit, v)
          : view === 'residuals'
            ? `${v.toFixed(2)} %`
            : v.toPrecision(4);
    setTip({
      left: box.left + left,
      top: box.top + top,
      head: near ? near.name : `${answer.over} = ${shortNumber(Number(answer.x[idx]!.toPrecision(4)))}`,
      lines: near
        ? [{ colour: near.colour, text: near.dot.label }]
        : view === 'residuals'
          ? []
          : drawn.map((d) => ({
              colour: colour(d.curve.context),
              text: `${d.curve.name ?? d.curve.callpath}: ${shown(d.y[idx])}  [${shown(d.low[idx])}, ${shown(d.high[idx])}]`,
            })),
    });
  };

  const quantity = quantityOf(unit, Math.max(Math.abs(y0), Math.abs(y1)));
  const options = (): Omit<uPlot.Options, 'width' | 'height'> => ({
    padding: [10, 14, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, distr: isXLog ? 3 : 1, range: () => [left, right] },
      y: { distr: isYLog ? 3 : 1, range: () => [y0, y1] },
    },
    axes: [
      axis({
        label: answer.over,
        labelSize: 20,
        size: 34,
        splits: (u) =>
          parameterTicks(values, x0, x1, isXLog, Math.max(2, Math.floor(u.bbox.width / devicePixelRatio / 62))),
        values: (_, splits) => splits.map((v) => shortNumber(v)),
        filter: (_, splits) => splits,
      }),
      axis({
        label: TITLES[view] || `${metric}${quantity.unit ? ` [${quantity.unit}]` : ''}`,
        labelSize: 22,
        size: 58,
        splits: (u) => ticksOf(y0, y1, isYLog, Math.max(2, Math.floor(u.bbox.height / devicePixelRatio / 44))),
        values: (_, splits) =>
          splits.map((v) => shortNumber(view === 'lines' ? Number((v * quantity.factor).toPrecision(12)) : v)),
        filter: (_, splits) => splits,
      }),
    ],
    series: [
      {},
      ...drawn.flatMap((d): uPlot.Series[] => {
        const stroke = colour(d.curve.context);
        const none: uPlot.Series = { stroke: 'transparent', width: 0, pxAlign: 0, points: { show: false } };
        return [
          {
            stroke: view === 'residuals' ? cssColor('--muted') : stroke,
            width: view === 'residuals' ? 1 : 2,
            pxAlign: 0,
            points: { show: false },
          },
          none,
          none,
        ];
      }),
    ],
    bands:
      view === 'residuals'
        ? []
        : drawn.map((d, i) => ({
            series: [3 * i + 3, 3 * i + 2] as [number, number],
            fill: `${colour(d.curve.context)}${drawn.length > 3 ? '18' : '2b'}`,
          })),
    hooks: {
      drawClear: [(u) => drawGround(u, last, at, ideal)],
      draw: [(u) => drawDots(u, drawn, colour)],
      setCursor: [describe],
      ready: [
        (u) =>
          u.over.addEventListener(
            'click',
            () => u.cursor.left !== undefined && u.cursor.left >= 0 && clicked.current(u.posToVal(u.cursor.left, 'x')),
          ),
      ],
    },
  });
  return (
    <>
      <Plot
        data={data}
        options={options}
        depends={[drawn, metric, unit, isXLog, isYLog, at, drawn.map((d) => colour(d.curve.context)).join()]}
        label={`${metric} over ${answer.over} of ${answer.curves.map((c) => c.name).join(', ')}`}
      />
      {drawn.every((d) => d.dots.length === 0) && (
        <div class="scale-hint hint">
          {`nothing was measured at ${parameters
            .filter((p) => p.name !== answer.over)
            .map((p) => `${p.name} = ${parameterText(real(answer.at[p.name]))}`)
            .join(', ')}`}{' '}
          <button class="link" onClick={onMeasured}>
            to what was (0)
          </button>
        </div>
      )}
      {tip && tip.lines.length > 0 && (
        <div
          class="tooltip"
          style={{ left: `${Math.min(tip.left + 14, innerWidth - 320)}px`, top: `${tip.top + 14}px` }}
        >
          <strong>{tip.head}</strong>
          {tip.lines.map((line, i) => (
            <div key={i} class="tip-line">
              <span class="swatch" style={{ background: line.colour }} />
              {line.text}
            </div>
          ))}
        </div>
      )}
    </>
  );
}
