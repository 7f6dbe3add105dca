// A flame graph on a canvas: boxes with a value, a name and a colour. It knows nothing of where they come from; the
// screens Flame and Compare use it.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Canvas, fitText, pointerAt, useSize, useWheel } from './canvas';
import { css, inkOn, type Rgb } from './colors';
import {
  boxAt,
  clampRange,
  firstEndingAfter,
  neighbour,
  rangeInside,
  rangeOf,
  rangeOutside,
  WHOLE,
  type FlameBoxes,
  type Range,
  type Step,
} from './flamelayout';
import { useIsOnPaper } from './state';
import { cssColor } from './theme';
import { Tooltip } from './tooltip';

export interface FlameCanvasProps {
  boxes: FlameBoxes;
  /**
   * Something that stays the same for a box when the boxes change: animations go from one picture to the other by it.
   */
  keyOf: (i: number) => string;
  name: (i: number) => string;
  color: (i: number, isDark: boolean) => Rgb;
  /** Boxes that stand back: those that do not match a search. */
  isDimmed?: (i: number) => boolean;
  isMarked?: (i: number) => boolean;
  /** Names of what lies above the first box, outermost first, each as wide as all of it. */
  above?: readonly string[];
  onAbove?: (index: number) => void;
  /** The first level at the lower edge. */
  isUpward?: boolean;
  /** -1: none. */
  selected: number;
  onSelect: (i: number) => void;
  /** A click, or Enter: look at this box alone. */
  onZoom: (i: number) => void;
  /** Esc: one step out. */
  onOut: () => void;
  onMenu?: (event: MouseEvent, i: number) => void;
  /** What is in sight changed by wheel or dragging. */
  onRange?: (range: Range) => void;
  /** A box that fills the width though it is not the first one; the first one: 0. */
  focus?: number;
  /** Another number: what was zoomed and dragged by the wheel is taken back. */
  resets?: number;
  tooltip: (i: number) => ComponentChildren;
  label: string;
}

export const ROW = 19;
const ANIMATION_MS = 180;
const TEXT_ROOM = 28;
const PAPER_ROWS = 48;

const stillMotion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** What is in sight; moves there in a few steps. */
function useRange(): [Range, (to: Range, from?: Range) => void, { current: Range }] {
  const [range, setRange] = useState<Range>(WHOLE);
  const now = useRef<Range>(WHOLE);
  const frame = useRef(0);
  const put = (next: Range) => {
    now.current = next;
    setRange(next);
  };
  const moveTo = (to: Range, from: Range = now.current) => {
    cancelAnimationFrame(frame.current);
    if (stillMotion() || (Math.abs(from.from - to.from) < 1e-12 && Math.abs(from.to - to.to) < 1e-12)) return put(to);
    const began = performance.now();
    put(from);
    const step = (time: number) => {
      const t = Math.min(1, Math.max(0, (time - began) / ANIMATION_MS));
      const eased = 1 - (1 - t) ** 3;
      put(t === 1 ? to : { from: from.from + (to.from - from.from) * eased, to: from.to + (to.to - from.to) * eased });
      if (t < 1) frame.current = requestAnimationFrame(step);
    };
    frame.current = requestAnimationFrame(step);
  };
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  return [range, moveTo, now];
}

interface Hover {
  i: number;
  x: number;
  y: number;
}

interface Picture {
  props: FlameCanvasProps;
  range: Range;
  scroll: number;
  hovered: number;
}

/** y of a level in the whole picture of `rows` rows. */
const rowTop = (row: number, rows: number, height: number, isUpward: boolean): number =>
  isUpward ? Math.max(rows * ROW, height) - (row + 1) * ROW : row * ROW;

function drawAbove(
  context: CanvasRenderingContext2D,
  { props, scroll }: Picture,
  rows: number,
  width: number,
  height: number,
): void {
  const above = props.above ?? [];
  const [back, ink] = [cssColor('--sunken'), cssColor('--muted')];
  for (let i = 0; i < above.length; i++) {
    const y = rowTop(i, rows, height, props.isUpward ?? false) - scroll;
    if (y <= -ROW || y >= height) continue;
    context.fillStyle = back;
    context.fillRect(0, y, width, ROW - 1);
    context.fillStyle = ink;
    context.fillText(fitText(context, above[i]!, width - 10), 5, y + ROW / 2);
  }
}

function drawLevel(
  context: CanvasRenderingContext2D,
  picture: Picture,
  level: number,
  y: number,
  width: number,
  isDark: boolean,
): void {
  const { props, range, hovered } = picture;
  const { boxes } = props;
  const row = boxes.levels[level]!;
  const scale = width / (range.to - range.from);
  let covered = -1; // pixels that have a box: of many narrow ones in one pixel the first is enough
  for (let k = firstEndingAfter(boxes, row, range.from); k < row.length; k++) {
    const i = row[k]!;
    const left = (boxes.x[i]! - range.from) * scale;
    if (left > width) break;
    const right = left + boxes.width[i]! * scale;
    if (right - left < 0.4 && right <= covered) continue;
    const from = Math.max(-1, left);
    const to = Math.min(width + 1, right);
    const w = to - from;
    const color = props.color(i, isDark);
    const isDimmed = props.isDimmed?.(i) ?? false;
    context.globalAlpha = isDimmed ? 0.28 : 1;
    context.fillStyle = css(color);
    context.fillRect(from, y, Math.max(0.5, w - (w > 3 ? 1 : 0)), ROW - 1);
    covered = Math.ceil(from + 0.5);
    if (props.isMarked?.(i)) {
      context.fillStyle = cssColor('--accent');
      context.fillRect(from, y + ROW - 4, Math.max(0.5, w - (w > 3 ? 1 : 0)), 3);
    }
    if (i === hovered) {
      context.fillStyle = isDark ? 'rgba(255,255,255,0.14)' : 'rgba(0,0,0,0.10)';
      context.fillRect(from, y, Math.max(0.5, w - 1), ROW - 1);
    }
    if (w > TEXT_ROOM) {
      context.globalAlpha = isDimmed ? 0.6 : 1;
      context.fillStyle = isDimmed ? cssColor('--text') : inkOn(color);
      context.fillText(fitText(context, props.name(i), w - 9), from + 4, y + ROW / 2);
    }
    context.globalAlpha = 1;
  }
}

function drawSelected(
  context: CanvasRenderingContext2D,
  { props, range, scroll }: Picture,
  rows: number,
  width: number,
  height: number,
): void {
  const { boxes, selected } = props;
  if (selected < 0 || selected >= boxes.n) return;
  const scale = width / (range.to - range.from);
  const left = Math.max(-3, (boxes.x[selected]! - range.from) * scale);
  const right = Math.min(width + 3, (boxes.x[selected]! + boxes.width[selected]! - range.from) * scale);
  if (right < 0 || left > width) return;
  const y = rowTop(boxes.depth[selected]! + (props.above?.length ?? 0), rows, height, props.isUpward ?? false) - scroll;
  context.strokeStyle = cssColor('--text');
  context.lineWidth = 2;
  context.strokeRect(left + 1, y + 1, Math.max(1, right - left - 3), ROW - 3);
}

function draw(
  context: CanvasRenderingContext2D,
  picture: Picture,
  width: number,
  height: number,
  isDark: boolean,
): void {
  const { props, scroll } = picture;
  const above = props.above?.length ?? 0;
  const rows = above + props.boxes.levels.length;
  context.font = `12px ${cssColor('--font')}`;
  context.textBaseline = 'middle';
  drawAbove(context, picture, rows, width, height);
  for (let level = 0; level < props.boxes.levels.length; level++) {
    const y = rowTop(above + level, rows, height, props.isUpward ?? false) - scroll;
    if (y > -ROW && y < height) drawLevel(context, picture, level, y, width, isDark);
  }
  drawSelected(context, picture, rows, width, height);
}

export function FlameCanvas(props: FlameCanvasProps) {
  const { boxes, focus = 0, isUpward = false } = props;
  const [box, size] = useSize<HTMLDivElement>();
  const isOnPaper = useIsOnPaper();
  const [range, moveTo, now] = useRange();
  const [scroll, setScroll] = useState(0);
  const [hover, setHover] = useState<Hover | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const shown = useRef<FlameCanvasProps | null>(null);
  const press = useRef<{ x: number; y: number; range: Range; scroll: number; moved: boolean } | null>(null);
  const above = props.above?.length ?? 0;
  const rows = above + boxes.levels.length;
  const latest = useRef(props);
  latest.current = props;

  // Another picture: from where its root was, or from the old one's place in it
  useLayoutEffect(() => {
    const old = shown.current;
    shown.current = props;
    if (old && old.boxes !== boxes) setHover(null);
    const target = rangeOf(boxes, Math.min(focus, Math.max(0, boxes.n - 1)));
    const to = boxes.n > 0 && target.to > target.from ? target : WHOLE;
    if (!old || old.boxes.n === 0 || boxes.n === 0) return moveTo(to, to);
    if (old.boxes === boxes) return moveTo(to);
    const find = (of: FlameCanvasProps, key: string) => {
      for (let i = 0; i < of.boxes.n; i++) if (of.keyOf(i) === key) return i;
      return -1;
    };
    const inside = find(old, props.keyOf(0));
    // more detail of the same
    if (inside === 0 && (old.focus ?? 0) === 0 && focus === 0 && old.resets === props.resets) return undefined;
    if (inside >= 0 && old.boxes.width[inside]! > 0)
      return moveTo(to, rangeInside(now.current, rangeOf(old.boxes, inside)));
    const outside = find(props, old.keyOf(0));
    return moveTo(to, outside >= 0 ? rangeOutside(now.current, rangeOf(boxes, outside)) : to);
  }, [boxes, focus, props.resets]);

  // The selected box, and in a new picture its first level, are in sight
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const y = rowTop(
      above + (props.selected >= 0 ? (boxes.depth[props.selected] ?? 0) : 0),
      rows,
      size.height,
      isUpward,
    );
    if (y < element.scrollTop) element.scrollTop = Math.max(0, y - ROW);
    else if (y + ROW > element.scrollTop + size.height) element.scrollTop = y + 2 * ROW - size.height;
    setScroll(element.scrollTop);
  }, [props.selected, boxes, isUpward, size.height]);

  const at = (event: MouseEvent): number => {
    const { x, y } = pointerAt(event);
    const line = y + scroll;
    const row = Math.floor((isUpward ? Math.max(rows * ROW, size.height) - line : line) / ROW);
    if (row < above) return row < 0 ? -1 : -2 - row;
    return boxAt(boxes, row - above, range.from + (x / size.width) * (range.to - range.from));
  };
  const zoomAt = (part: number, factor: number) => {
    const width = now.current.to - now.current.from;
    const place = now.current.from + part * width;
    const next = clampRange({ from: place - part * width * factor, to: place + (1 - part) * width * factor });
    moveTo(next, next);
    latest.current.onRange?.(next);
  };
  const pan = (from: Range, by: number) => {
    const next = clampRange({ from: from.from + by * (from.to - from.from), to: from.to + by * (from.to - from.from) });
    moveTo(next, next);
    latest.current.onRange?.(next);
  };
  const onWheel = (event: WheelEvent) => {
    const overflows = rows * ROW > size.height + 1;
    const isZoom =
      event.ctrlKey ||
      event.metaKey ||
      (!overflows && !event.shiftKey && Math.abs(event.deltaY) > Math.abs(event.deltaX));
    if (!isZoom && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    const element = canvas.current;
    if (isZoom && element)
      zoomAt(
        (event.clientX - element.getBoundingClientRect().left) / size.width,
        Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.004),
      );
    else pan(now.current, (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) / size.width);
  };
  useWheel(box, onWheel);

  const onPointerMove = (event: PointerEvent) => {
    const pressed = press.current;
    if (pressed && event.buttons === 1) {
      const [dx, dy] = [event.clientX - pressed.x, event.clientY - pressed.y];
      if (!pressed.moved && Math.hypot(dx, dy) < 5) return;
      pressed.moved = true;
      setHover(null);
      if (pressed.range.to - pressed.range.from < 1) pan(pressed.range, -dx / size.width);
      if (box.current) box.current.scrollTop = pressed.scroll - dy;
      return;
    }
    const i = at(event);
    setHover(i === -1 ? null : { i, x: event.clientX, y: event.clientY });
  };
  const onPointerUp = (event: PointerEvent) => {
    const pressed = press.current;
    press.current = null;
    if (!pressed || pressed.moved || event.button !== 0) return;
    const i = at(event);
    if (i <= -2) props.onAbove?.(-2 - i);
    else if (i >= 0) {
      props.onSelect(i);
      if (!event.shiftKey) props.onZoom(i);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || boxes.n === 0) return;
    const steps: Record<string, Step> = {
      ArrowUp: isUpward ? 'child' : 'parent',
      ArrowDown: isUpward ? 'parent' : 'child',
      ArrowLeft: 'previous',
      ArrowRight: 'next',
    };
    const step = steps[event.key];
    if (step)
      // the whole is never selected, and where it begins
      props.onSelect(neighbour(boxes, Math.max(0, props.selected), step));
    else if (event.key === 'Enter' || event.key === ' ') props.onZoom(Math.max(0, props.selected));
    else if (event.key === 'Escape' || event.key === 'Backspace') props.onOut();
    else if (event.key === '+' || event.key === '=') zoomAt(0.5, 0.7);
    else if (event.key === '-') zoomAt(0.5, 1 / 0.7);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const hovered = hover?.i ?? -1;
  const drawIt = useMemo(() => {
    const picture: Picture = { props, range, scroll, hovered };
    return (context: CanvasRenderingContext2D, { width, height }: { width: number; height: number }, isDark: boolean) =>
      draw(context, picture, width, height, isDark);
  }, [
    boxes,
    props.color,
    props.isDimmed,
    props.isMarked,
    props.selected,
    isUpward,
    props.above,
    range,
    scroll,
    hovered,
  ]);
  return (
    <div
      class="flame-box"
      ref={box}
      style={isOnPaper ? { height: `${Math.min(rows, PAPER_ROWS) * ROW}px` } : undefined}
      onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
    >
      <div class="flame-view" style={{ height: `${size.height}px` }}>
        <Canvas
          draw={drawIt}
          label={props.label}
          canvasRef={canvas}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onPointerDown={(event: PointerEvent) => {
            press.current = { x: event.clientX, y: event.clientY, range: now.current, scroll, moved: false };
          }}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerLeave={() => setHover(null)}
          onContextMenu={(event: MouseEvent) => {
            const i = at(event);
            if (i < 0 || !props.onMenu) return;
            setHover(null);
            props.onSelect(i);
            props.onMenu(event, i);
          }}
        />
      </div>
      {!isOnPaper && <div style={{ height: `${Math.max(0, rows * ROW - size.height)}px` }} />}
      {hover && hover.i >= 0 && hover.i < boxes.n && <Tooltip at={hover}>{props.tooltip(hover.i)}</Tooltip>}
    </div>
  );
}

export interface FlameMapProps {
  boxes: FlameBoxes;
  color: (i: number, isDark: boolean) => Rgb;
  /** What is looked at. */
  shown: Range;
  isUpward?: boolean;
  /** A click: the box there. */
  onPick: (i: number) => void;
}

/** All of it, small: where one is. */
export function FlameMap({ boxes, color, shown, isUpward = false, onPick }: FlameMapProps) {
  const HEIGHT = 36;
  const rows = Math.min(boxes.levels.length, HEIGHT);
  const row = HEIGHT / Math.max(1, rows);
  const drawIt = useMemo(
    () =>
      (context: CanvasRenderingContext2D, { width }: { width: number }, isDark: boolean) => {
        for (let level = 0; level < rows; level++) {
          const y = isUpward ? HEIGHT - (level + 1) * row : level * row;
          let covered = -1;
          for (const i of boxes.levels[level] ?? []) {
            const left = boxes.x[i]! * width;
            const w = boxes.width[i]! * width;
            if (w < 0.4 || left + w <= covered) continue;
            context.fillStyle = css(color(i, isDark));
            context.fillRect(left, y, Math.max(0.5, w - 0.5), Math.max(1, row - 0.5));
            covered = Math.floor(left + w);
          }
        }
        context.fillStyle = isDark ? 'rgba(22,24,29,0.66)' : 'rgba(255,255,255,0.70)';
        context.fillRect(0, 0, shown.from * width, HEIGHT);
        context.fillRect(shown.to * width, 0, width, HEIGHT);
        context.strokeStyle = cssColor('--accent');
        context.lineWidth = 1.5;
        context.strokeRect(
          shown.from * width + 0.75,
          0.75,
          Math.max(2, (shown.to - shown.from) * width - 1.5),
          HEIGHT - 1.5,
        );
      },
    [boxes, color, shown.from, shown.to, isUpward],
  );
  const pick = (event: MouseEvent) => {
    const { x, y } = pointerAt(event);
    const level = Math.floor((isUpward ? HEIGHT - y : y) / row);
    const place = x / (event.currentTarget as HTMLElement).clientWidth;
    for (let l = Math.min(level, boxes.levels.length - 1); l >= 0; l--) {
      const i = boxAt(boxes, l, place);
      if (i >= 0) return onPick(i);
    }
  };
  return (
    <div class="flame-map">
      <Canvas draw={drawIt} label="The whole flame graph, small" height={HEIGHT} onClick={pick} />
    </div>
  );
}
