// What the time line is made of: its window, the pictures it asks for, and their colours.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useData, useLatest, type Failure, type Params } from '../api';
import type { How, Selection } from '../state';
import { useTheme } from '../theme';
import {
  clampSpan,
  rowRanges,
  zoomSpan,
  type DepthsAnswer,
  type PictureAnswer,
  type Span,
  type TimelineAnswer,
} from './timeline-data';
import { chooseColors, paints, type Colors, type Paint } from './timeline-draw';
import { finder } from './tree-data';

const SETTLED_MS = 250;
const [MAP_ROWS, MAP_COLUMNS] = [48, 400];

/** The value, as it was at most so long ago: for what is asked while something moves. */
export function useCalm<T>(value: T, ms: number): T {
  const [calm, setCalm] = useState(value);
  const last = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, last.current + ms - performance.now());
    const timer = setTimeout(() => {
      last.current = performance.now();
      setCalm(value);
    }, wait);
    return () => clearTimeout(timer);
  }, [value]);
  return calm;
}

/** Not the span of another dataset, or of other runs. */
export const inside = (span: Span | null, whole: Span): Span | null =>
  span && span.to > whole.from && span.from < whole.to ? span : null;

export interface WindowControl {
  window: Span;
  whole: Span;
  /** Moves at once; the address follows when it rests. */
  moveTo: (span: Span) => void;
  /** Goes there in one step. */
  keep: (span: Span, how?: How) => void;
  /** By a part of its length. */
  pan: (part: number) => void;
  /** By a factor around what is at this part of its length. */
  zoom: (at: number, factor: number) => void;
}

/** The window is in the address, and here while it moves. */
export function useWindow(
  answer: TimelineAnswer,
  given: Span | null,
  onKeep: (from: string, to: string, how?: How) => void,
): WindowControl {
  const ticks = answer.ticks_per_second;
  const whole = useMemo<Span>(
    () => ({ from: answer.from, to: answer.to > answer.from ? answer.to : answer.from + 1 / ticks }),
    [answer],
  );
  const [live, setLive] = useState<Span | null>(null);
  const settling = useRef<ReturnType<typeof setTimeout>>();
  const kept = inside(given, whole);
  const window = live ?? (kept ? clampSpan(kept, whole, ticks) : whole);
  // Keys and wheels may come faster than the page is drawn: each goes on from the last
  const latest = useRef(window);
  latest.current = window;
  useEffect(() => {
    setLive(null);
    return () => clearTimeout(settling.current);
  }, [answer]);
  const keep = (span: Span, how: How = 'push') => {
    const next = clampSpan(span, whole, ticks);
    const isAll = next.from <= whole.from && next.to >= whole.to;
    clearTimeout(settling.current);
    setLive(null);
    onKeep(isAll ? '' : String(next.from), isAll ? '' : String(next.to), how);
  };
  const moveTo = (span: Span) => {
    const next = clampSpan(span, whole, ticks);
    latest.current = next;
    setLive(next);
    clearTimeout(settling.current);
    settling.current = setTimeout(() => keep(next), SETTLED_MS);
  };
  const pan = (part: number) => {
    const by = part * (latest.current.to - latest.current.from);
    moveTo({ from: latest.current.from + by, to: latest.current.to + by });
  };
  const zoom = (at: number, factor: number) =>
    moveTo(zoomSpan(latest.current, latest.current.from + at * (latest.current.to - latest.current.from), factor));
  return { window, whole, moveTo, keep, pan, zoom };
}

export interface Asked {
  answer: TimelineAnswer;
  /** Of the dataset and what is chosen of it; the same with the window. */
  params: Params;
  askedParams: Params;
  depth: number | null;
  /** 0: not known yet. */
  columns: number;
  rows: string;
  selection: Selection;
  /** A part of the run whose shares are wanted. */
  chosen: Span | null;
  depths: DepthsAnswer | null;
  /** Under the pointer in the list. */
  meant: string | null;
}

export interface Pictures {
  picture: PictureAnswer | null;
  error: Failure | null;
  loading: boolean;
  map: PictureAnswer | null;
  ofChosen: PictureAnswer | null;
  colors: Colors;
  paint: Paint[];
  mapPaint: Paint[];
  levelPaint: Paint[];
}

/** The rows in sight, the whole run, the selected part; and how their procedures are painted. */
export function usePictures({
  answer,
  params,
  askedParams,
  depth,
  columns,
  rows,
  selection,
  chosen,
  depths,
  meant,
}: Asked): Pictures {
  const { isDark } = useTheme();
  const {
    data: picture,
    error,
    loading,
  } = useLatest<PictureAnswer>(columns > 0 ? 'timeline_picture' : null, {
    ...askedParams,
    depth,
    columns,
    rows,
    node: selection.node,
  });
  const mapRows = useMemo(() => {
    const n = Math.min(MAP_ROWS, answer.n_rows);
    return rowRanges(Array.from({ length: n }, (_, i) => Math.floor((i * answer.n_rows) / n)));
  }, [answer]);
  const { data: map } = useData<PictureAnswer>('timeline_picture', {
    ...params,
    depth,
    columns: MAP_COLUMNS,
    bins: 1,
    rows: mapRows,
  });
  const { data: ofChosen } = useData<PictureAnswer>(chosen ? 'timeline_picture' : null, {
    ...params,
    depth,
    from: chosen?.from,
    to: chosen?.to,
    columns: 1,
    bins: 1,
    rows: 'none',
  });

  const { search } = selection;
  const isMeant = meant !== null ? (name: string) => name === meant : search !== '' ? finder(search) : null;
  const indexOf = (contexts: readonly (number | null)[]) =>
    selection.node === null ? null : contexts.indexOf(selection.node);
  const colors = useMemo(() => chooseColors(map?.procedures ?? null, isDark), [map, isDark]);
  const paint = useMemo(
    () =>
      picture
        ? paints(
            picture.procedures,
            colors,
            isMeant,
            picture.node === undefined ? indexOf(picture.procedures.context) : picture.node,
          )
        : [],
    [picture, colors, meant, search, selection.node],
  );
  const mapPaint = useMemo(() => (map ? paints(map.procedures, colors, isMeant) : []), [map, colors, meant, search]);
  const levelPaint = useMemo(
    () => (depths ? paints(depths.procedures, colors, isMeant, indexOf(depths.procedures.context)) : []),
    [depths, colors, meant, search, selection.node],
  );
  return { picture, error, loading, map, ofChosen, colors, paint, mapPaint, levelPaint };
}
