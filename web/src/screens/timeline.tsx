// What each location did when: rows of time lines, from the whole run to single intervals.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { canonical, get, isAborted, isReport, useData, useLatest, type Params } from '../api';
import { Failed, Waiting } from '../boundary';
import { Canvas, pointerAt, useSize, useWheel } from '../canvas';
import { formatCount, plural } from '../format';
import { useKeys } from '../keys';
import { readScreen, select, useScreen, type Selection } from '../state';
import { toastError } from '../toast';
import { commandLine, type Screen, type ScreenProps } from './screen';
import {
  hasPicture,
  layLines,
  lengthText,
  momentText,
  rowRanges,
  ticksOf,
  zoomSpan,
  type DepthsAnswer,
  type Line,
  type Span,
  type TimelineAnswer,
} from './timeline-data';
import { AXIS, drawRows, LEVEL } from './timeline-draw';
import { Legend } from './timeline-panel';
import {
  chosenContext,
  ClickedDetails,
  Label,
  Overview,
  Shares,
  Toolbar,
  Tooltip,
  whatIsAt,
  type Hover,
  type Pointer,
} from './timeline-parts';
import { inside, usePictures, useWindow } from './timeline-state';

const DEFAULTS = { from: '', to: '', depth: 0, row: -1, open: false, at: '', closed: '', wall: false, a: '', b: '' };
/** Of the whole run, for the command: of a part of it that would choose another. */
let usual = { input: -1, depth: 0 };
export type View = ReturnType<typeof readScreen<typeof DEFAULTS>>;

const [LEAST_ROW, MOST_ROW, MOST_OF_FEW] = [16, 36, 52];
const SHARES_HEIGHT = 64;
/** The column of labels, also in style.css. */
const LABELS = 196;
const MAP_HEIGHT = 40;

const spanOf = (from: string, to: string): Span | null =>
  from !== '' && to !== '' && Number(to) > Number(from) ? { from: Number(from), to: Number(to) } : null;

function choice(selection: Selection, view: View, d: number): Params {
  return isReport() ? { d } : { d, run: selection.run, location: selection.locations, wallclock: view.wall ? 1 : null };
}

function Timeline(props: ScreenProps) {
  const { input, selection } = props;
  const [view] = useScreen('timeline', DEFAULTS);
  const params = choice(selection, view, input.id);
  const { data, error, loading } = useData<TimelineAnswer>('timeline', params);
  // The rows of another dataset, or of other places, have other numbers: nothing of them is asked for any more
  const key = canonical('timeline', params);
  const shown = useRef('');
  if (data && !loading) shown.current = key;
  if (error) return <Failed failure={error} />;
  if (!data || shown.current !== key) return <Waiting />;
  return <Lines key={key} {...props} answer={data} params={params} />;
}

/** A report that lacks rows knows the shares of all only of the whole run. */
function sharesOf({ n_rows, of_rows }: TimelineAnswer, isWhole: boolean): string {
  if (of_rows && !isWhole) return `the first ${formatCount(n_rows)} rows`;
  return n_rows > 1 ? `all ${formatCount(of_rows ?? n_rows)} rows` : 'of the row';
}

interface LinesProps extends ScreenProps {
  answer: TimelineAnswer;
  params: Params;
}

function Lines({ answer, params, selection, input }: LinesProps) {
  const [view, setView] = useScreen('timeline', DEFAULTS);
  const inReport = isReport();
  const control = useWindow(answer, spanOf(view.from, view.to), (from, to, how) => setView({ from, to }, how));
  const { window, whole, moveTo } = control;
  const length = window.to - window.from;

  // ---- lines
  const [box, size] = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const closed = useMemo(() => new Set(view.closed.split(',').filter(Boolean)), [view.closed]);
  const selectedRow = view.row < answer.rows.label.length ? view.row : -1;
  const isOpen = view.open && selectedRow >= 0 && !inReport;
  const canvasWidth = Math.max(0, size.width - LABELS);
  const columns = Math.max(1, Math.min(2000, canvasWidth));
  const askedParams: Params = {
    ...params,
    ...(window.from <= whole.from ? {} : { from: window.from }),
    ...(window.to >= whole.to ? {} : { to: window.to }),
  };
  usual = { input: input.id, depth: answer.depth };
  const depth = view.depth > 0 && !inReport ? Math.min(view.depth, answer.deepest) : null;
  const depths = useLatest<DepthsAnswer>(isOpen && canvasWidth > 0 ? 'timeline_depths' : null, {
    ...askedParams,
    row: selectedRow,
    columns,
  });
  const levels = isOpen ? (depths.data?.levels.length ?? 0) : 0;
  const plain = useMemo(() => layLines(answer, closed, () => 0).filter(hasPicture).length, [answer, closed]);
  const rowHeight = Math.max(
    LEAST_ROW,
    Math.min(plain <= 6 ? MOST_OF_FEW : MOST_ROW, Math.floor((size.height - AXIS) / Math.max(1, plain))),
  );
  const lines = useMemo(
    () => layLines(answer, closed, (row) => rowHeight + (row === selectedRow && levels > 0 ? levels * LEVEL + 4 : 0)),
    [answer, closed, rowHeight, selectedRow, levels],
  );
  const total = lines.length ? lines[lines.length - 1]!.y + lines[lines.length - 1]!.height : 0;
  const inSight = lines.filter((l) => l.y + l.height >= top - 60 && l.y <= top + size.height + 60);
  const rows = rowRanges(
    inSight
      .filter(hasPicture)
      .map((l) => l.row)
      .slice(0, 200),
  );

  const [dragged, setDragged] = useState<Span | null>(null);
  const chosen = dragged ?? inside(spanOf(view.a, view.b), whole);
  const [meant, setMeant] = useState<string | null>(null);
  const { picture, error, loading, map, ofChosen, colors, paint, mapPaint, levelPaint } = usePictures({
    answer,
    params,
    askedParams,
    depth,
    columns: canvasWidth > 0 ? columns : 0,
    rows,
    selection,
    chosen: dragged ? null : chosen,
    depths: depths.data,
    meant,
  });

  // ---- the pointer
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const timeAt = (x: number) =>
    window.from + (Math.max(0, Math.min(canvasWidth, x)) / Math.max(1, canvasWidth)) * length;
  const lineAt = (y: number): Line | null =>
    y < AXIS ? null : (lines.find((l) => y - AXIS + top >= l.y && y - AXIS + top < l.y + l.height) ?? null);
  const hoverAt = (x: number, y: number): Hover => {
    const line = lineAt(y);
    const below = line && line.row === selectedRow && isOpen ? y - AXIS + top - line.y - rowHeight : -1;
    return { x, y, time: timeAt(x), line, level: below >= 0 ? Math.floor(below / LEVEL) : -1 };
  };
  const hover = pointer && canvasWidth > 0 ? hoverAt(pointer.x, pointer.y) : null;
  const seen =
    hover?.line && hasPicture(hover.line) && picture ? whatIsAt(hover, picture, isOpen ? depths.data : null) : null;
  const drag = useRef<{ kind: 'pan' | 'select'; x: number; at: number; window: Span; moved: boolean } | null>(null);

  const onPointerDown = (event: PointerEvent) => {
    if (event.button > 1) return;
    const { x, y } = pointerAt(event);
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    drag.current = {
      kind: event.button === 0 && (event.shiftKey || y < AXIS) ? 'select' : 'pan',
      x,
      at: timeAt(x),
      window,
      moved: false,
    };
  };
  const onPointerMove = (event: PointerEvent) => {
    const { x, y } = pointerAt(event);
    const d = drag.current;
    if (d && (d.moved || Math.abs(x - d.x) > 3)) {
      d.moved = true;
      if (d.kind === 'pan') {
        const by = ((d.x - x) / Math.max(1, canvasWidth)) * (d.window.to - d.window.from);
        moveTo({ from: d.window.from + by, to: d.window.to + by });
      } else setDragged({ from: Math.min(d.at, timeAt(x)), to: Math.max(d.at, timeAt(x)) });
    }
    setPointer({ x, y });
  };
  const onPointerUp = (event: PointerEvent) => {
    const { x, y } = pointerAt(event);
    const d = drag.current;
    drag.current = null;
    if (d?.kind === 'select' && d.moved && dragged && dragged.to > dragged.from)
      setView({ a: String(dragged.from), b: String(dragged.to) });
    setDragged(null);
    if (d && !d.moved && event.button === 0) click(hoverAt(x, y));
  };
  const clicked = useRef(new AbortController());
  useEffect(() => () => clicked.current.abort(), []);
  const click = (where: Hover) => {
    if (!where.line || !hasPicture(where.line)) return;
    setView({ row: where.line.row, at: String(where.time) });
    if (inReport) {
      const node = picture && whatIsAt(where, picture, null)?.context;
      if (node !== null) select({ node }, 'replace');
      return;
    }
    // The context at the depth that is shown, or at the level that was clicked
    const half = length / columns / 2;
    const wanted = where.level >= 0 ? where.level : (picture?.depth ?? 1) - 1;
    clicked.current.abort();
    clicked.current = new AbortController();
    get<DepthsAnswer>(
      'timeline_depths',
      { ...params, row: where.line.row, from: where.time - half, to: where.time + half, columns: 1 },
      clicked.current.signal,
    ).then(
      ({ levels: path, procedures }) => {
        const level = path[Math.min(wanted, path.length - 1)];
        const context = level && level[1] !== undefined && level[1] >= 0 ? procedures.context[level[1]] : null;
        if (context !== null && context !== undefined) select({ node: context }, 'replace');
      },
      (failed: unknown) => !isAborted(failed) && toastError(failed),
    );
  };
  const zoomToPiece = (event: MouseEvent) => {
    const { x, y } = pointerAt(event);
    const where = hoverAt(x, y);
    const piece = picture && where.line ? whatIsAt(where, picture, isOpen ? depths.data : null) : null;
    if (piece) control.keep(zoomSpan(piece.span, (piece.span.from + piece.span.to) / 2, 1.1));
  };
  const onWheel = (event: WheelEvent) => {
    const x = event.clientX - (canvas.current?.getBoundingClientRect().left ?? 0);
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const canScroll = total + AXIS > size.height + 1;
    if (!isSideways && canScroll && !event.ctrlKey && !event.metaKey && !event.altKey) return;
    event.preventDefault();
    const step = (isSideways ? event.deltaX || event.deltaY : event.deltaY) * (event.deltaMode === 1 ? 20 : 1);
    if (isSideways) control.pan(step / 1000);
    else
      control.zoom(
        x / Math.max(1, canvasWidth),
        Math.exp(Math.max(-200, Math.min(200, step)) * (event.ctrlKey ? 0.004 : 0.0025)),
      );
  };
  useWheel(canvas, onWheel, canvasWidth > 0);

  // ---- keys
  const zoom = (factor: number) => control.zoom(hover ? hover.x / Math.max(1, canvasWidth) : 0.5, factor);
  const setDepth = (to: number) => setView({ depth: Math.max(1, Math.min(answer.deepest, to)) });
  const moveRow = (by: number) => {
    const shown = lines.filter((l) => l.kind === 'row');
    const at = shown.findIndex((l) => l.row === selectedRow);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at < 0 ? 0 : at + by))];
    if (!next) return;
    setView({ row: next.row, at: '' }, 'replace');
    const scroll = box.current;
    if (scroll && next.y < scroll.scrollTop) scroll.scrollTop = next.y;
    else if (scroll && next.y + next.height + AXIS > scroll.scrollTop + size.height)
      scroll.scrollTop = next.y + next.height + AXIS - size.height;
  };
  const zoomToChosen = () => {
    if (!chosen) return;
    control.keep(chosen);
    setView({ a: '', b: '' }, 'replace');
  };
  useKeys('Time line', [
    { key: 'w', label: 'Zoom in (also Ctrl and wheel)', run: () => zoom(0.6) },
    { key: 's', label: 'Zoom out', run: () => zoom(1 / 0.6) },
    { key: 'a', label: 'Earlier (also drag)', run: () => control.pan(-0.25) },
    { key: 'd', label: 'Later', run: () => control.pan(0.25) },
    { key: 'ArrowLeft', label: 'Earlier', hidden: true, run: () => control.pan(-0.1) },
    { key: 'ArrowRight', label: 'Later', hidden: true, run: () => control.pan(0.1) },
    { key: 'f', label: 'The whole run', run: () => control.keep(whole) },
    { key: 'z', label: 'Zoom into the selection (Shift and drag selects)', run: zoomToChosen },
    { key: 'Escape', label: 'Clear the selection', run: () => setView({ a: '', b: '', at: '' }) },
    // A report has one depth
    ...(inReport
      ? []
      : [
          { key: '[', label: 'One level up the call paths', run: () => setDepth((depth ?? answer.depth) - 1) },
          { key: ']', label: 'One level down', run: () => setDepth((depth ?? answer.depth) + 1) },
          {
            key: 'e',
            label: 'Call paths of the row, level by level',
            run: () => setView({ open: !view.open, row: Math.max(0, selectedRow) }),
          },
        ]),
    { key: 'ArrowDown', label: 'Next row', run: () => moveRow(1) },
    { key: 'ArrowUp', label: 'Row before', run: () => moveRow(-1) },
  ]);

  const toggle = (line: Line) => {
    const key = `${line.kind === 'group' ? 'g' : 'r'}${line.row}`;
    const next = new Set(closed);
    if (!next.delete(key)) next.add(key);
    setView({ closed: [...next].join(',') });
  };

  const draw = useMemo(
    () => (context: CanvasRenderingContext2D, canvasSize: { width: number; height: number }) => {
      if (picture)
        drawRows(context, canvasSize, {
          lines: inSight,
          top,
          window,
          picture,
          paint,
          whole: map,
          wholePaint: mapPaint,
          isGpu: (row) => answer.rows.gpu[row] === 1,
          selectedRow,
          selection: chosen,
          cursor: hover?.time ?? null,
          open: isOpen ? { row: selectedRow, depths: depths.data, paint: levelPaint, height: rowHeight } : null,
        });
    },
    [
      picture,
      paint,
      map,
      mapPaint,
      levelPaint,
      depths.data,
      top,
      window.from,
      window.to,
      lines,
      selectedRow,
      chosen?.from,
      chosen?.to,
      hover?.time,
      isOpen,
      size.height,
    ],
  );
  const legend = chosen && ofChosen ? ofChosen : picture;
  const ticks = ticksOf(window, Math.max(2, Math.floor(canvasWidth / 84)));
  return (
    <div class="fill timeline">
      <Toolbar
        answer={answer}
        control={control}
        view={view}
        isOpen={isOpen}
        depth={depth}
        selectedRow={selectedRow}
        detail={picture?.detail}
        onView={setView}
      />
      {error && (
        <div class="note" role="alert">
          {error.message}
        </div>
      )}
      <div class="tl-main">
        <div class="tl-left">
          <div class="tl-strip" style={{ height: `${MAP_HEIGHT}px` }}>
            <span class="tl-caption">
              whole run<small>{lengthText(whole.to - whole.from)}</small>
            </span>
            {map && <Overview map={map} paint={mapPaint} whole={whole} window={window} onWindow={moveTo} />}
          </div>
          <div
            class="tl-scroll"
            ref={box}
            onScroll={(event) => (setTop(event.currentTarget.scrollTop), setPointer(null))}
          >
            <div class="tl-space" style={{ height: `${Math.max(total + AXIS, size.height)}px` }}>
              <div class="tl-labels" role="list" aria-label="Rows">
                <div class="tl-corner">{ticks.base && `${ticks.base} +`}</div>
                {inSight.map((line) => (
                  <Label
                    key={`${line.kind}${line.row}`}
                    line={line}
                    height={Math.min(line.height, line.kind === 'group' && line.isOpen ? line.height : rowHeight)}
                    track={answer.rows.track[line.row] ?? ''}
                    isGpu={answer.rows.gpu[line.row] === 1}
                    isSelected={line.kind === 'row' && line.row === selectedRow}
                    onToggle={() => toggle(line)}
                    onSelect={() => setView({ row: line.row, at: '' }, 'replace')}
                    onOpen={() => setView({ row: line.row, open: !(isOpen && line.row === selectedRow) })}
                  />
                ))}
              </div>
              <div class="tl-sticky" style={{ height: `${size.height}px` }}>
                <Canvas
                  draw={draw}
                  canvasRef={canvas}
                  label={`Time lines of ${plural(answer.n_rows, 'row')}, ${lengthText(length)} from ${momentText(window.from, length / 1000)}`}
                  onPointerDown={onPointerDown}
                  onPointerMove={onPointerMove}
                  onPointerUp={onPointerUp}
                  onPointerLeave={() => setPointer(null)}
                  onDblClick={zoomToPiece}
                  class={drag.current?.moved ? 'tl-canvas moving' : 'tl-canvas'}
                />
              </div>
            </div>
          </div>
          <div class="tl-strip" style={{ height: `${SHARES_HEIGHT}px` }}>
            <span class="tl-caption">
              share of time<small>{sharesOf(answer, window.from <= whole.from && window.to >= whole.to)}</small>
            </span>
            {picture && (
              <Shares
                colors={colors}
                picture={picture}
                paint={paint}
                window={window}
                cursor={hover?.time ?? null}
                onCursor={(x) => setPointer(x === null ? null : { x, y: -1 })}
              />
            )}
          </div>
        </div>
        <aside class="tl-side">
          {legend && (
            <Legend
              colors={colors}
              picture={legend}
              counted={answer.counted}
              span={chosen ?? legend}
              isStale={chosen !== null && !ofChosen}
              isSelection={chosen !== null}
              node={chosenContext(legend, selection.node)}
              search={selection.search}
              onHover={setMeant}
              onZoom={zoomToChosen}
              onClear={() => setView({ a: '', b: '' })}
            />
          )}
          {view.at !== '' && Number(view.at) >= whole.from && Number(view.at) <= whole.to && selectedRow >= 0 && (
            <ClickedDetails
              colors={colors}
              params={params}
              row={selectedRow}
              at={Number(view.at)}
              half={length / columns / 2}
              label={answer.rows.label[selectedRow] ?? ''}
              node={selection.node}
              onClose={() => setView({ at: '' }, 'replace')}
            />
          )}
        </aside>
      </div>
      {hover && !drag.current?.moved && (
        <Tooltip
          colors={colors}
          hover={hover}
          seen={seen}
          params={params}
          resolution={length / columns}
          canvas={canvas.current}
          label={answer.rows.label[hover.line?.row ?? -1] ?? ''}
        />
      )}
      {loading && !picture && <Waiting />}
    </div>
  );
}

export const timeline: Screen = {
  id: 'timeline',
  title: 'Time line',
  key: 'i',
  without: 'metric',
  available: (_, input) => Number(input.has.events) > 0,
  component: Timeline,
  command: ({ input, selection }) => {
    const view = readScreen('timeline', DEFAULTS);
    return commandLine('trace', [input.path], {
      depth: view.depth || ((view.from || view.to) && usual.input === input.id && usual.depth),
      since: view.from,
      until: view.to,
      run: selection.run,
      location: selection.locations,
      wallclock: view.wall,
    });
  },
};
