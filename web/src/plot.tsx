// uPlot in a component: follows the theme and its parent's size. Its styles go through CSSOM, which a strict
// Content-Security-Policy allows.
import { useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useSize } from './canvas';
import { cssColor, useTheme } from './theme';

export interface PlotProps {
  data: uPlot.AlignedData;
  /** Made again when the theme or `depends` changes. Use axis() for axes. Width and height are set here. */
  options: (isDark: boolean) => Omit<uPlot.Options, 'width' | 'height'>;
  /** What the options depend on. */
  depends?: readonly unknown[];
  label: string;
  height?: number;
}

/** An axis in the colours of the page. */
export function axis(extra: uPlot.Axis = {}): uPlot.Axis {
  const line = { stroke: cssColor('--line'), width: 1 };
  return {
    stroke: cssColor('--muted'),
    font: `12px ${cssColor('--font')}`,
    labelFont: `12px ${cssColor('--font')}`,
    grid: line,
    ticks: { ...line, size: 5 },
    ...extra,
  };
}

export function Plot({ data, options, depends = [], label, height }: PlotProps) {
  const [box, size] = useSize<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  const { isDark } = useTheme();
  const hasSize = size.width > 0 && size.height > 0;
  useLayoutEffect(() => {
    if (!hasSize || !box.current) return undefined;
    plot.current = new uPlot(
      { legend: { show: false }, ...options(isDark), width: size.width, height: size.height },
      data,
      box.current,
    );
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [isDark, hasSize, ...depends]);
  useLayoutEffect(() => plot.current?.setData(data), [data]);
  useLayoutEffect(() => {
    if (hasSize) plot.current?.setSize(size);
  }, [size]);
  return (
    <div
      class="plot-box"
      ref={box}
      role="img"
      aria-label={label}
      style={height === undefined ? undefined : { height: `${height}px` }}
    />
  );
}
