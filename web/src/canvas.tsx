// A canvas that fills its parent, is sharp on every display, and draws itself when its size, the theme or what it
// depends on changes.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { shortName } from './format';
import { useIsOnPaper } from './state';
import { useTheme } from './theme';

/** Dots of paper to a pixel. */
const PAPER_RATIO = 3;

export interface Size {
  width: number;
  height: number;
}

/** Size of an element in CSS pixels, followed as it changes. */
export function useSize<T extends HTMLElement>(): [{ current: T | null }, Size] {
  const ref = useRef<T>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const isOnPaper = useIsOnPaper();
  useLayoutEffect(
    () => {
      const element = ref.current;
      if (!element) return undefined;
      const measure = () =>
        setSize((old) =>
          old.width === element.clientWidth && old.height === element.clientHeight
            ? old
            : { width: element.clientWidth, height: element.clientHeight },
        );
      measure();
      const observer = new ResizeObserver(measure);
      observer.observe(element);
      return () => observer.disconnect();
    },
    isOnPaper ? undefined : [],
  ); // nobody observes what is to be printed at once
  return [ref, size];
}

/** Calls handle for wheels over the element, which it may keep from scrolling. */
export function useWheel(
  element: { current: HTMLElement | null },
  handle: (event: WheelEvent) => void,
  isThere = true,
): void {
  const latest = useRef(handle);
  latest.current = handle;
  useEffect(() => {
    const target = element.current;
    const listener = (event: WheelEvent) => latest.current(event);
    target?.addEventListener('wheel', listener, { passive: false });
    return () => target?.removeEventListener('wheel', listener);
  }, [isThere]);
}

export interface CanvasProps extends Omit<JSX.HTMLAttributes<HTMLCanvasElement>, 'ref' | 'label'> {
  /** Draws everything, in CSS pixels; the canvas is clear. Called at most once a frame. */
  draw: (context: CanvasRenderingContext2D, size: Size, isDark: boolean) => void;
  /** What it shows, in words: for those who do not see it. */
  label: string;
  /** Height in CSS pixels; otherwise that of the parent. */
  height?: number;
  /** The element, for whoever measures or focuses it. */
  canvasRef?: { current: HTMLCanvasElement | null };
}

export function Canvas({ draw, label, height, canvasRef, ...rest }: CanvasProps) {
  const [box, size] = useSize<HTMLDivElement>();
  const own = useRef<HTMLCanvasElement>(null);
  const canvas = canvasRef ?? own;
  const { isDark } = useTheme();
  const isOnPaper = useIsOnPaper();
  const [ratio, setRatio] = useState(isOnPaper ? PAPER_RATIO : devicePixelRatio);
  useEffect(() => {
    if (isOnPaper) return undefined;
    const query = matchMedia(`(resolution: ${ratio}dppx)`);
    const follow = () => setRatio(devicePixelRatio);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, [ratio]);
  useLayoutEffect(() => {
    const paint = () => {
      const element = canvas.current;
      const context = element?.getContext('2d');
      if (!element || !context || size.width === 0 || size.height === 0) return;
      const [w, h] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
      if (element.width !== w || element.height !== h) {
        element.width = w;
        element.height = h;
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, size.width, size.height);
      draw(context, size, isDark);
    };
    if (isOnPaper) return paint();
    const frame = requestAnimationFrame(paint);
    return () => cancelAnimationFrame(frame);
  }, [draw, size, ratio, isDark]);
  return (
    <div class="canvas-box" ref={box} style={height === undefined ? undefined : { height: `${height}px` }}>
      <canvas {...(rest as object)} ref={canvas} role="img" aria-label={label} />
    </div>
  );
}

/**
 * The nearest edge between dots of the screen, of which a pixel has 1.25 at 125 %: what ends there leaves no seam to
 * what goes on.
 */
export function dotsOf(context: CanvasRenderingContext2D): (x: number) => number {
  const ratio = context.getTransform().a;
  return (x) => Math.round(x * ratio) / ratio;
}

/** Where the event is, in CSS pixels of its element. */
export function pointerAt(event: MouseEvent): { x: number; y: number } {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

let pen: CanvasRenderingContext2D | null = null;

/** How wide a column must be for the text, in the letters of the page. */
export function roomFor(text: string): number {
  if (!pen) {
    pen = document.createElement('canvas').getContext('2d')!;
    const { fontSize, fontFamily } = getComputedStyle(document.body);
    pen.font = `${fontSize} ${fontFamily}`;
  }
  return Math.ceil(pen.measureText(text).width) + 20;
}

const widths = new Map<string, Map<string, number>>();

/** The longest beginning of the text that fits, with an ellipsis; "" where not even two letters do. */
export function fitText(context: CanvasRenderingContext2D, name: string, width: number): string {
  const text = shortName(name);
  let known = widths.get(context.font);
  if (!known) widths.set(context.font, (known = new Map<string, number>()));
  const measure = (s: string): number => {
    let w = known.get(s);
    if (w === undefined) {
      if (known.size > 20000) known.clear();
      known.set(s, (w = context.measureText(s).width));
    }
    return w;
  };
  if (width < 12) return '';
  if (measure(text) <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(`${text.slice(0, middle)}…`) <= width) low = middle;
    else high = middle - 1;
  }
  return low < 2 ? '' : `${text.slice(0, low)}…`;
}
