// A model over two parameters: a heat map with contours, slices through it, and what was measured.
import { useCallback, useMemo, useState } from 'preact/hooks';
import { Canvas, pointerAt, type Size } from '../../canvas';
import { css, sequential } from '../../colors';
import { formatValue, real } from '../../format';
import { cssColor } from '../../theme';
import {
  contour,
  levelsOf,
  parameterText,
  parameterTicks,
  shortNumber,
  type Parameter,
  type SurfaceAnswer,
} from './model';

const SLICE = 48;
const EDGE = { left: 58, right: 82 + SLICE, top: 20 + SLICE, bottom: 40 };

export interface MapProps {
  answer: SurfaceAnswer;
  parameters: readonly Parameter[];
  unit: string | null;
  metric: string;
  at: readonly number[];
  onAt: (values: Record<string, number>) => void;
}

interface Frame {
  width: number;
  height: number;
  /** 0 … 1 along the axis, and back. */
  px: (x: number) => number;
  py: (y: number) => number;
}

function along(from: number, to: number, isLog: boolean): [(v: number) => number, (t: number) => number] {
  return isLog
    ? [(v) => Math.log(v / from) / Math.log(to / from), (t) => from * (to / from) ** t]
    : [(v) => (v - from) / (to - from), (t) => from + (to - from) * t];
}

function frameOf(answer: SurfaceAnswer, size: Size): Frame {
  const [width, height] = [
    Math.max(10, size.width - EDGE.left - EDGE.right),
    Math.max(10, size.height - EDGE.top - EDGE.bottom),
  ];
  const [tx] = along(answer.x[0]!, answer.x[answer.x.length - 1]!, answer.is_log[0]);
  const [ty] = along(answer.y[0]!, answer.y[answer.y.length - 1]!, answer.is_log[1]);
  return { width, height, px: (x) => EDGE.left + tx(x) * width, py: (y) => EDGE.top + (1 - ty(y)) * height };
}

export function SurfaceMap({ answer, parameters, unit, metric, at, onAt }: MapProps) {
  const [tip, setTip] = useState<{ x: number; y: number; text: string } | null>(null);
  const [nx, ny] = [answer.x.length, answer.y.length];
  const z = useMemo(() => answer.z.map(real), [answer]);
  const [low, high] = useMemo(() => {
    const finite = z.filter(Number.isFinite);
    return [Math.min(...finite), Math.max(...finite)];
  }, [z]);
  const isLog = low > 0 && high / low > 50;
  const part = useCallback(
    (v: number) => (high === low ? 0.5 : isLog ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low)),
    [low, high, isLog],
  );
  const over = answer.over.map((name) => parameters.findIndex((p) => p.name === name)) as [number, number];

  const draw = useCallback(
    (c: CanvasRenderingContext2D, size: Size) => {
      const f = frameOf(answer, size);
      const image = document.createElement('canvas');
      [image.width, image.height] = [nx, ny];
      const pixels = image.getContext('2d')!;
      for (let j = 0; j < ny; j++) {
        for (let i = 0; i < nx; i++) {
          const v = z[j * nx + i]!;
          pixels.fillStyle = Number.isFinite(v) ? css(sequential(part(v))) : cssColor('--sunken');
          pixels.fillRect(i, ny - 1 - j, 1, 1);
        }
      }
      c.imageSmoothingEnabled = true;
      c.drawImage(image, 0.5, 0.5, nx - 1, ny - 1, EDGE.left, EDGE.top, f.width, f.height);
      c.font = `11px ${cssColor('--font')}`;
      drawContours(c, f);
      drawAxes(c, f);
      drawMeasured(c, f);
      drawSlices(c, f);
      drawLegend(c, f);
    },
    [answer, z, at[over[0]], at[over[1]]],
  );

  function drawContours(c: CanvasRenderingContext2D, f: Frame): void {
    c.save();
    c.beginPath();
    c.rect(EDGE.left, EDGE.top, f.width, f.height);
    c.clip();
    const labels: [number, number][] = [];
    for (const level of levelsOf(low, high, isLog)) {
      const lines = contour(z, nx, ny, level);
      const ink = part(level) > 0.55 ? 'rgb(0 0 0 / 62%)' : 'rgb(255 255 255 / 75%)';
      const place = (i: number): [number, number] => [
        EDGE.left + (lines[i]! / (nx - 1)) * f.width,
        EDGE.top + (1 - lines[i + 1]! / (ny - 1)) * f.height,
      ];
      c.strokeStyle = c.fillStyle = ink;
      c.lineWidth = 1;
      c.beginPath();
      for (let i = 0; i < lines.length; i += 4) {
        c.moveTo(...place(i));
        c.lineTo(...place(i + 2));
      }
      c.stroke();
      if (lines.length) {
        const at = place(4 * Math.floor(lines.length / 8));
        const [x, y] = [
          Math.max(EDGE.left + 16, Math.min(at[0], EDGE.left + f.width - 16)),
          Math.max(at[1] - 3, EDGE.top + 10),
        ];
        // Where lines are close, some numbers are enough
        if (labels.some(([u, v]) => Math.abs(u - x) < 32 && Math.abs(v - y) < 11)) continue;
        labels.push([x, y]);
        c.textAlign = 'center';
        c.fillText(shortNumber(level), x, y);
      }
    }
    c.restore();
  }

  function drawAxes(c: CanvasRenderingContext2D, f: Frame): void {
    c.fillStyle = cssColor('--muted');
    c.strokeStyle = cssColor('--line');
    c.strokeRect(EDGE.left, EDGE.top, f.width, f.height);
    const [px, py] = [parameters[over[0]]!, parameters[over[1]]!];
    c.textAlign = 'center';
    for (const v of parameterTicks(
      px.values,
      answer.x[0]!,
      answer.x[nx - 1]!,
      answer.is_log[0],
      Math.max(2, f.width / 60),
    ))
      c.fillText(shortNumber(v), f.px(v), EDGE.top + f.height + 15);
    const held = parameters
      .filter((_, i) => !over.includes(i))
      .map((p) => `${p.name} = ${parameterText(real(answer.at[p.name]))}`)
      .join(', ');
    c.fillText(`${px.name}${held && `   (${held})`}`, EDGE.left + f.width / 2, EDGE.top + f.height + 33);
    c.textAlign = 'right';
    for (const v of parameterTicks(
      py.values,
      answer.y[0]!,
      answer.y[ny - 1]!,
      answer.is_log[1],
      Math.max(2, f.height / 36),
    ))
      c.fillText(shortNumber(v), EDGE.left - 6, f.py(v) + 4);
    c.save();
    c.translate(14, EDGE.top + f.height / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = 'center';
    c.fillText(py.name, 0, 0);
    c.restore();
    // What was measured, and where the sliders stand
    c.save();
    const [mx, my] = [f.px(px.values.at(-1)!), f.py(py.values.at(-1)!)];
    c.strokeStyle = 'rgb(255 255 255 / 60%)';
    c.strokeRect(EDGE.left, my, mx - EDGE.left, EDGE.top + f.height - my);
    c.strokeStyle = '#fff';
    c.setLineDash([5, 3]);
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(f.px(at[over[0]]!), EDGE.top);
    c.lineTo(f.px(at[over[0]]!), EDGE.top + f.height);
    c.moveTo(EDGE.left, f.py(at[over[1]]!));
    c.lineTo(EDGE.left + f.width, f.py(at[over[1]]!));
    c.stroke();
    c.restore();
  }

  const isShown = (i: number): boolean =>
    parameters.every((p, k) => over.includes(k) || answer.measured.at[i]![k] === real(answer.at[p.name]));

  function drawMeasured(c: CanvasRenderingContext2D, f: Frame): void {
    answer.measured.at.forEach((point, i) => {
      if (!isShown(i)) return;
      c.beginPath();
      c.arc(f.px(point[over[0]]!), f.py(point[over[1]]!), 4.5, 0, 7);
      const v = real(answer.measured.value[i]);
      c.fillStyle = Number.isFinite(v) ? css(sequential(part(v))) : '#888';
      c.fill();
      c.lineWidth = 1.5;
      c.strokeStyle = '#fff';
      c.stroke();
      c.lineWidth = 0.75;
      c.strokeStyle = '#222';
      c.stroke();
    });
  }

  /**
   * What the dashed lines cut out: the model along each parameter where the slider of the other stands, and what was
   * measured there.
   */
  function drawSlices(c: CanvasRenderingContext2D, f: Frame): void {
    const [accent, muted] = [cssColor('--accent'), cssColor('--muted')];
    const right = EDGE.left + f.width + 6;
    const slice = (isAcross: boolean) => {
      const [along, across] = isAcross ? [over[1], over[0]] : [over[0], over[1]];
      const held = at[across]!;
      const place = (position: number, v: number): [number, number] =>
        isAcross ? [right + part(v) * SLICE, position] : [position, EDGE.top - 6 - part(v) * SLICE];
      // Between two lines of the grid
      const values = isAcross ? answer.x : answer.y;
      const next = values.findIndex((v) => v >= held);
      const after = Math.max(1, next < 0 ? values.length - 1 : next);
      const t = Math.max(0, Math.min(1, (held - values[after - 1]!) / (values[after]! - values[after - 1]!)));
      const valueAt = (i: number, line: number) => z[isAcross ? i * nx + line : line * nx + i]!;
      c.strokeStyle = cssColor('--line');
      c.lineWidth = 1;
      if (isAcross) c.strokeRect(right, EDGE.top, SLICE, f.height);
      else c.strokeRect(EDGE.left, EDGE.top - 6 - SLICE, f.width, SLICE);
      c.strokeStyle = c.fillStyle = accent;
      c.lineWidth = 2;
      c.beginPath();
      (isAcross ? answer.y : answer.x).forEach((v, i) => {
        const value = valueAt(i, after - 1) * (1 - t) + valueAt(i, after) * t;
        if (Number.isFinite(value)) c.lineTo(...place(isAcross ? f.py(v) : f.px(v), value));
      });
      c.stroke();
      answer.measured.at.forEach((point, i) => {
        const value = real(answer.measured.value[i]);
        if (!isShown(i) || point[across] !== held || !Number.isFinite(value)) return;
        c.beginPath();
        c.arc(
          ...place(isAcross ? f.py(point[along]!) : f.px(point[along]!), Math.max(low, Math.min(high, value))),
          2.5,
          0,
          7,
        );
        c.fill();
      });
      c.fillStyle = muted;
      c.textAlign = isAcross ? 'right' : 'left';
      c.fillText(
        `${parameters[across]!.name} = ${shortNumber(Number(held.toPrecision(4)))}`,
        isAcross ? right + SLICE : EDGE.left,
        isAcross ? EDGE.top - 6 : 10,
      );
    };
    slice(false);
    slice(true);
  }

  function drawLegend(c: CanvasRenderingContext2D, f: Frame): void {
    const left = EDGE.left + f.width + SLICE + 22;
    for (let y = 0; y < f.height; y++) {
      c.fillStyle = css(sequential(1 - y / f.height));
      c.fillRect(left, EDGE.top + y, 12, 1.5);
    }
    c.fillStyle = cssColor('--muted');
    c.textAlign = 'left';
    let before = Infinity;
    for (const v of [low, ...levelsOf(low, high, isLog), high]) {
      const y = EDGE.top + (1 - part(v)) * f.height;
      const isEnd = v === low || v === high;
      if (!isEnd && (y > before - 15 || y < EDGE.top + 16)) continue;
      c.fillText(shortNumber(Number(v.toPrecision(3))), left + 17, Math.max(EDGE.top + 8, y + 4));
      before = y;
    }
  }

  const placeOf = (event: MouseEvent): { x: number; y: number; i: number } | null => {
    const canvas = event.currentTarget as HTMLElement;
    const f = frameOf(answer, { width: canvas.clientWidth, height: canvas.clientHeight });
    const { x, y } = pointerAt(event);
    const [tx, ty] = [(x - EDGE.left) / f.width, 1 - (y - EDGE.top) / f.height];
    if (tx < 0 || tx > 1 || ty < 0 || ty > 1) return null;
    const near = answer.measured.at.findIndex(
      (p, i) => isShown(i) && Math.hypot(f.px(p[over[0]]!) - x, f.py(p[over[1]]!) - y) < 8,
    );
    return {
      x: along(answer.x[0]!, answer.x[nx - 1]!, answer.is_log[0])[1](tx),
      y: along(answer.y[0]!, answer.y[ny - 1]!, answer.is_log[1])[1](ty),
      i: near,
    };
  };
  const onMove = (event: MouseEvent) => {
    const place = placeOf(event);
    if (!place) return setTip(null);
    const column = Math.round(along(answer.x[0]!, answer.x[nx - 1]!, answer.is_log[0])[0](place.x) * (nx - 1));
    const row = Math.round(along(answer.y[0]!, answer.y[ny - 1]!, answer.is_log[1])[0](place.y) * (ny - 1));
    const m = answer.measured;
    const text =
      place.i >= 0
        ? `${answer.over[0]} = ${m.at[place.i]![over[0]]}, ${answer.over[1]} = ${m.at[place.i]![over[1]]}: measured ${formatValue(unit, real(m.value[place.i]))}, the model says ${formatValue(unit, real(m.model[place.i]))}`
        : `${answer.over[0]} = ${shortNumber(Number(place.x.toPrecision(4)))}, ${answer.over[1]} = ${shortNumber(Number(place.y.toPrecision(4)))}: ${formatValue(unit, z[row * nx + column])}`;
    setTip({ x: event.clientX, y: event.clientY, text });
  };
  return (
    <>
      <Canvas
        draw={draw}
        label={`${metric} of ${answer.name ?? answer.callpath} over ${answer.over.join(' and ')}`}
        onMouseMove={onMove}
        onMouseLeave={() => setTip(null)}
        onClick={(event) => {
          const place = placeOf(event);
          if (place) onAt({ [answer.over[0]]: place.x, [answer.over[1]]: place.y });
        }}
      />
      {tip && (
        <div class="tooltip" style={{ left: `${Math.min(tip.x + 14, innerWidth - 300)}px`, top: `${tip.y + 14}px` }}>
          {tip.text}
        </div>
      )}
    </>
  );
}
