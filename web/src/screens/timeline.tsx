// What each location did when: rows of time lines, from the whole run to single intervals.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, isReport, useData, type Params } from '../api';
import { Failed, Waiting } from '../boundary';
import { Canvas, pointerAt, useSize } from '../canvas';
import { formatCount, formatPercent, plural } from '../format';
import { useKeys } from '../keys';
import { readScreen, select, useScreen, type How, type Selection } from '../state';
import { useTheme } from '../theme';
import { commandLine, type Screen, type ScreenProps } from './screen';
import { clampSpan, hasPicture, layLines, lengthText, momentText, pieceAt, rowRanges, ticksOf, zoomSpan, type DepthsAnswer, type IntervalsAnswer, type Line, type PictureAnswer, type Span, type TimelineAnswer } from './timeline-data';
import { AXIS, chooseColors, drawMap, drawRows, drawShares, LEVEL, paints, type Colors } from './timeline-draw';
import { Details, Legend, Swatch } from './timeline-panel';

const DEFAULTS = { from: '', to: '', depth: 0, row: -1, open: false, at: '', closed: '', wall: false, a: '', b: '' };
type View = ReturnType<typeof readScreen<typeof DEFAULTS>>;

const [LEAST_ROW, MOST_ROW, MOST_OF_FEW] = [16, 36, 52];
const SETTLED_MS = 250;
const ASKING_MS = 50;
const RESTING_MS = 120;
const MAP_ROWS = 48;
const SHARES_HEIGHT = 64;
const MAP_HEIGHT = 40;
/** What a report has of the time line. */
const REPORT_COLUMNS = 1000;

const spanOf = (from: string, to: string): Span | null => (from !== '' && to !== '' && Number(to) > Number(from) ? { from: Number(from), to: Number(to) } : null);

function choice(selection: Selection, view: View, d: number): Params {
  return isReport() ? { d } : { d, run: selection.run, location: selection.locations, wallclock: view.wall ? 1 : null };
}

/** The value, as it was at most so long ago: for what is asked while something moves. */
function useCalm<T>(value: T, ms: number): T {
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

function Timeline(props: ScreenProps) {
  const { input, selection } = props;
  const [view] = useScreen('timeline', DEFAULTS);
  const params = choice(selection, view, input.id);
  const { data, error } = useData<TimelineAnswer>('timeline', params);
  if (error) return <Failed failure={error} />;
  if (!data) return <Waiting />;
  return <Lines {...props} answer={data} params={params} />;
}

interface LinesProps extends ScreenProps {
  answer: TimelineAnswer;
  params: Params;
}

/** Where the pointer is; the time there changes with the window. */
interface Pointer {
  x: number;
  y: number;
}

interface Hover extends Pointer {
  time: number;
  line: Line | null;
  /** Of the call paths below the row; -1: the row itself. */
  level: number;
}

function Lines({ answer, params, selection }: LinesProps) {
  const [view, setView] = useScreen('timeline', DEFAULTS);
  const { isDark } = useTheme();
  const whole = useMemo<Span>(() => ({ from: answer.from, to: answer.to > answer.from ? answer.to : answer.from + 1 / answer.ticks_per_second }), [answer]);
  const inReport = isReport();

  // ---- the window: in the address, and while it moves here
  const [live, setLive] = useState<Span | null>(null);
  const settling = useRef<ReturnType<typeof setTimeout>>();
  const given = spanOf(view.from, view.to);
  const window = live ?? (given ? clampSpan(given, whole, answer.ticks_per_second) : whole);
  const isWhole = window.from <= whole.from && window.to >= whole.to;
  const keepWindow = (span: Span, how: How = 'push') => {
    const isAll = span.from <= whole.from && span.to >= whole.to;
    setLive(null);
    setView({ from: isAll ? '' : String(span.from), to: isAll ? '' : String(span.to) }, how);
  };
  // Keys and wheels may come faster than the page is drawn: each goes on from the last
  const latest = useRef(window);
  latest.current = window;
  const moveTo = (span: Span) => {
    const next = clampSpan(span, whole, answer.ticks_per_second);
    latest.current = next;
    setLive(next);
    clearTimeout(settling.current);
    settling.current = setTimeout(() => keepWindow(next), SETTLED_MS);
  };
  useEffect(() => () => clearTimeout(settling.current), []);
  const length = window.to - window.from;
  const pan = (part: number) => {
    const { from, to } = latest.current;
    moveTo({ from: from + part * (to - from), to: to + part * (to - from) });
  };

  // ---- lines
  const [box, size] = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const closed = useMemo(() => new Set(view.closed.split(',').filter(Boolean)), [view.closed]);
  const selectedRow = view.row < answer.rows.label.length ? view.row : -1;
  const isOpen = view.open && selectedRow >= 0 && !inReport;
  const asked = useCalm(window, ASKING_MS);
  const canvasWidth = Math.max(0, size.width - LABELS);
  const columns = Math.max(1, Math.min(2000, canvasWidth));
  const askedParams: Params = { ...params, ...(asked.from <= whole.from ? {} : { from: asked.from }), ...(asked.to >= whole.to ? {} : { to: asked.to }) };
  const depth = view.depth > 0 ? Math.min(view.depth, answer.deepest) : null;
  const depths = useData<DepthsAnswer>(isOpen && canvasWidth > 0 ? 'timeline_depths' : null, { ...askedParams, row: selectedRow, columns });
  const levels = isOpen ? (depths.data?.levels.length ?? 0) : 0;
  const plain = useMemo(() => layLines(answer, closed, () => 0).filter(hasPicture).length, [answer, closed]);
  const rowHeight = Math.max(LEAST_ROW, Math.min(plain <= 6 ? MOST_OF_FEW : MOST_ROW, Math.floor((size.height - AXIS) / Math.max(1, plain))));
  const lines = useMemo(() => layLines(answer, closed, (row) => rowHeight + (row === selectedRow && levels > 0 ? levels * LEVEL + 4 : 0)), [answer, closed, rowHeight, selectedRow, levels]);
  const total = lines.length ? lines[lines.length - 1]!.y + lines[lines.length - 1]!.height : 0;
  const inSight = lines.filter((l) => l.y + l.height >= top - 60 && l.y <= top + size.height + 60);
  const rows = rowRanges(inSight.filter(hasPicture).map((l) => l.row).slice(0, 200));

  // ---- pictures
  const pictureParams: Params = inReport ? { ...params, columns: REPORT_COLUMNS } : { ...askedParams, depth, columns, rows, node: selection.node };
  const { data: picture, error, loading } = useData<PictureAnswer>(canvasWidth > 0 ? 'timeline_picture' : null, pictureParams);
  const mapRows = useMemo(() => {
    const n = Math.min(MAP_ROWS, answer.n_rows);
    return rowRanges(Array.from({ length: n }, (_, i) => Math.floor((i * answer.n_rows) / n)));
  }, [answer]);
  const { data: map } = useData<PictureAnswer>('timeline_picture', inReport ? { ...params, columns: REPORT_COLUMNS } : { ...params, depth, columns: 400, bins: 1, rows: mapRows });
  const [dragged, setDragged] = useState<Span | null>(null);
  const chosen = dragged ?? spanOf(view.a, view.b);
  const { data: ofChosen } = useData<PictureAnswer>(chosen && !dragged && !inReport ? 'timeline_picture' : null, { ...params, depth, from: chosen?.from, to: chosen?.to, columns: 1, bins: 1, rows: 'none' });

  // ---- what is meant
  const [meant, setMeant] = useState<string | null>(null);
  const search = selection.search.toLowerCase();
  const isMeant = meant !== null ? (name: string) => name === meant : search !== '' ? (name: string) => name.toLowerCase().includes(search) : null;
  const chosenOf = (p: PictureAnswer) => p.node ?? (inReport && selection.node !== null ? p.procedures.context.indexOf(selection.node) : null);
  const colors = useMemo(() => chooseColors(map?.procedures ?? null, isDark), [map, isDark]);
  const paint = useMemo(() => (picture ? paints(picture.procedures, colors, isMeant, chosenOf(picture)) : []), [picture, colors, meant, search]);
  const mapPaint = useMemo(() => (map ? paints(map.procedures, colors, isMeant) : []), [map, colors, meant, search]);
  const levelPaint = useMemo(() => (depths.data ? paints(depths.data.procedures, colors, isMeant, selection.node === null ? null : depths.data.procedures.context.indexOf(selection.node)) : []), [depths.data, colors, meant, search, selection.node]);

  // ---- the pointer
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const timeAt = (x: number) => window.from + (Math.max(0, Math.min(canvasWidth, x)) / Math.max(1, canvasWidth)) * length;
  const lineAt = (y: number): Line | null => (y < AXIS ? null : (lines.find((l) => y - AXIS + top >= l.y && y - AXIS + top < l.y + l.height) ?? null));
  const hoverAt = (x: number, y: number): Hover => {
    const line = lineAt(y);
    const below = line && line.row === selectedRow && isOpen ? y - AXIS + top - line.y - rowHeight : -1;
    return { x, y, time: timeAt(x), line, level: below >= 0 ? Math.floor(below / LEVEL) : -1 };
  };
  const hover = pointer && canvasWidth > 0 ? hoverAt(pointer.x, pointer.y) : null;
  const seen = hover?.line && hasPicture(hover.line) && picture ? whatIsAt(hover, picture, isOpen ? depths.data : null) : null;
  const drag = useRef<{ kind: 'pan' | 'select'; x: number; at: number; window: Span; moved: boolean } | null>(null);

  const onPointerDown = (event: PointerEvent) => {
    if (event.button > 1) return;
    const { x, y } = pointerAt(event);
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    drag.current = { kind: event.button === 0 && (event.shiftKey || y < AXIS) ? 'select' : 'pan', x, at: timeAt(x), window, moved: false };
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
    if (d?.kind === 'select' && d.moved && dragged && dragged.to > dragged.from) setView({ a: String(dragged.from), b: String(dragged.to) });
    setDragged(null);
    if (d && !d.moved && event.button === 0) click(hoverAt(x, y));
  };
  const click = (where: Hover) => {
    if (!where.line || !hasPicture(where.line)) return;
    setView({ row: where.line.row, at: String(where.time) });
    if (inReport) return;
    // The context at the depth that is shown, or at the level that was clicked
    const half = length / columns / 2;
    const wanted = where.level >= 0 ? where.level : (picture?.depth ?? 1) - 1;
    void get<DepthsAnswer>('timeline_depths', { ...params, row: where.line.row, from: where.time - half, to: where.time + half, columns: 1 }).then(
      ({ levels: path, procedures }) => {
        const level = path[Math.min(wanted, path.length - 1)];
        const context = level && level[1] !== undefined && level[1] >= 0 ? procedures.context[level[1]] : null;
        if (context !== null && context !== undefined) select({ node: context }, 'replace');
      },
      () => undefined,
    );
  };
  const zoomToPiece = (event: MouseEvent) => {
    const { x, y } = pointerAt(event);
    const where = hoverAt(x, y);
    const piece = picture && where.line ? whatIsAt(where, picture, isOpen ? depths.data : null) : null;
    if (piece) keepWindow(clampSpan(zoomSpan(piece.span, (piece.span.from + piece.span.to) / 2, 1.1), whole, answer.ticks_per_second));
  };
  const onWheel = (event: WheelEvent) => {
    const { x } = { x: event.clientX - (canvas.current?.getBoundingClientRect().left ?? 0) };
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const canScroll = total + AXIS > size.height + 1;
    if (!isSideways && canScroll && !event.ctrlKey && !event.metaKey && !event.altKey) return;
    event.preventDefault();
    const step = (isSideways ? event.deltaX || event.deltaY : event.deltaY) * (event.deltaMode === 1 ? 20 : 1);
    if (isSideways) pan(step / 1000);
    else moveTo(zoomSpan(latest.current, latest.current.from + (x / Math.max(1, canvasWidth)) * (latest.current.to - latest.current.from), Math.exp(Math.max(-200, Math.min(200, step)) * (event.ctrlKey ? 0.004 : 0.0025))));
  };
  const wheel = useRef(onWheel);
  wheel.current = onWheel;
  useEffect(() => {
    const element = canvas.current;
    const listener = (event: WheelEvent) => wheel.current(event);
    element?.addEventListener('wheel', listener, { passive: false });
    return () => element?.removeEventListener('wheel', listener);
  }, [canvasWidth > 0]);

  // ---- keys
  const zoom = (factor: number) => {
    const { from, to } = latest.current;
    moveTo(zoomSpan(latest.current, from + (to - from) * (hover ? hover.x / Math.max(1, canvasWidth) : 0.5), factor));
  };
  const setDepth = (to: number) => setView({ depth: Math.max(1, Math.min(answer.deepest, to)) });
  const moveRow = (by: number) => {
    const shown = lines.filter((l) => l.kind === 'row');
    const at = shown.findIndex((l) => l.row === selectedRow);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at < 0 ? 0 : at + by))];
    if (!next) return;
    setView({ row: next.row, at: '' }, 'replace');
    const scroll = box.current;
    if (scroll && next.y < scroll.scrollTop) scroll.scrollTop = next.y;
    else if (scroll && next.y + next.height + AXIS > scroll.scrollTop + size.height) scroll.scrollTop = next.y + next.height + AXIS - size.height;
  };
  const zoomToChosen = () => {
    if (!chosen) return;
    setView({ a: '', b: '' });
    keepWindow(clampSpan(chosen, whole, answer.ticks_per_second), 'replace');
  };
  useKeys('Time line', [
    { key: 'w', label: 'Zoom in (also Ctrl and wheel)', run: () => zoom(0.6) },
    { key: 's', label: 'Zoom out', run: () => zoom(1 / 0.6) },
    { key: 'a', label: 'Earlier (also drag)', run: () => pan(-0.25) },
    { key: 'd', label: 'Later', run: () => pan(0.25) },
    { key: 'ArrowLeft', label: 'Earlier', hidden: true, run: () => pan(-0.1) },
    { key: 'ArrowRight', label: 'Later', hidden: true, run: () => pan(0.1) },
    { key: 'f', label: 'The whole run', run: () => keepWindow(whole) },
    { key: 'z', label: 'Zoom into the selection (Shift and drag selects)', run: zoomToChosen },
    { key: 'Escape', label: 'Clear the selection', run: () => setView({ a: '', b: '', at: '' }) },
    { key: '[', label: 'One level up the call paths', run: () => setDepth((depth ?? answer.depth) - 1) },
    { key: ']', label: 'One level down', run: () => setDepth((depth ?? answer.depth) + 1) },
    { key: 'e', label: 'Call paths of the row, level by level', run: () => setView({ open: !view.open, row: Math.max(0, selectedRow) }) },
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
    () =>
      (context: CanvasRenderingContext2D, canvasSize: { width: number; height: number }) => {
        if (picture)
          drawRows(context, canvasSize, {
            lines: inSight, top, window, picture, paint, isGpu: (row) => answer.rows.gpu[row] === 1, selectedRow, selection: chosen, cursor: hover?.time ?? null,
            open: isOpen ? { row: selectedRow, depths: depths.data, paint: levelPaint, height: rowHeight } : null,
          });
      },
    [picture, paint, levelPaint, depths.data, top, window.from, window.to, lines, selectedRow, chosen?.from, chosen?.to, hover?.time, isOpen, size.height],
  );
  const legend = chosen && ofChosen ? ofChosen : picture;
  const ticks = ticksOf(window, Math.max(2, Math.floor(canvasWidth / 84)));
  if (error) return <Failed failure={error} />;
  return (
    <div class="fill timeline">
      <div class="toolbar" role="toolbar" aria-label="Time line">
        <button disabled={isWhole} title="The whole run (f)" onClick={() => keepWindow(whole)}>
          Fit
        </button>
        <span class="tl-window" title={`${window.from} s … ${window.to} s`}>
          {momentText(window.from, length / 1000, window.to)} … {momentText(window.to, length / 1000)} <b>{lengthText(length)}</b>
        </span>
        <span class="grow" />
        {answer.n_runs > 1 && !inReport && (
          <button aria-pressed={view.wall} title="Runs begin when they began; else each at 0" onClick={() => setView({ wall: !view.wall, from: '', to: '', a: '', b: '' })}>
            Wall clock
          </button>
        )}
        {!inReport && (
          <button aria-pressed={isOpen} title="Call paths of the chosen row, level by level (e)" onClick={() => setView({ open: !isOpen, row: Math.max(0, selectedRow) })}>
            Call paths
          </button>
        )}
        {answer.deepest > 1 && !inReport && (
          <label class="tl-depth" title="Which level of the call paths the rows show ([ and ])">
            <span class="picker-label">Depth</span>
            <input type="range" min={1} max={answer.deepest} value={depth ?? answer.depth} aria-label="Depth" onInput={(event) => setView({ depth: Number(event.currentTarget.value) }, 'replace')} />
            <span class="tl-number">{`${depth ?? answer.depth} / ${answer.deepest}`}</span>
            <button class="quiet" disabled={view.depth === 0} title="The depth that tells most" onClick={() => setView({ depth: 0 })}>
              auto
            </button>
          </label>
        )}
        <span class="hint">
          {formatCount(answer.count)} {answer.counted}
          {answer.hidden > 0 && `, ${formatCount(answer.hidden)} not shown`}
        </span>
      </div>
      <div class="tl-main">
        <div class="tl-left">
          <div class="tl-strip" style={{ height: `${MAP_HEIGHT}px` }}>
            <span class="tl-caption">
              whole run<small>{lengthText(whole.to - whole.from)}</small>
            </span>
            {map && <Overview map={map} paint={mapPaint} whole={whole} window={window} onWindow={moveTo} />}
          </div>
          <div class="tl-scroll" ref={box} onScroll={(event) => (setTop(event.currentTarget.scrollTop), setPointer(null))}>
            <div class="tl-space" style={{ height: `${Math.max(total + AXIS, size.height)}px` }}>
              <div class="tl-labels" role="list" aria-label="Rows">
                <div class="tl-corner">{ticks.base && `${ticks.base} +`}</div>
                {inSight.map((line) => (
                  <Label key={`${line.kind}${line.row}`} line={line} height={Math.min(line.height, line.kind === 'group' && line.isOpen ? line.height : rowHeight)} track={answer.rows.track[line.row] ?? ''} isGpu={answer.rows.gpu[line.row] === 1} isSelected={line.kind === 'row' && line.row === selectedRow} onToggle={() => toggle(line)} onSelect={() => setView({ row: line.row, at: '' }, 'replace')} onOpen={() => setView({ row: line.row, open: !(isOpen && line.row === selectedRow) })} />
                ))}
              </div>
              <div class="tl-sticky" style={{ height: `${size.height}px` }}>
                <Canvas draw={draw} canvasRef={canvas} label={`Time lines of ${plural(answer.n_rows, 'row')}, ${lengthText(length)} from ${momentText(window.from, length / 1000)}`} onPointerDown={onPointerDown} onPointerMove={onPointerMove} onPointerUp={onPointerUp} onPointerLeave={() => setPointer(null)} onDblClick={zoomToPiece} class={drag.current?.moved ? 'tl-canvas moving' : 'tl-canvas'} />
              </div>
            </div>
          </div>
          <div class="tl-strip" style={{ height: `${SHARES_HEIGHT}px` }}>
            <span class="tl-caption">
              share of time<small>{answer.n_rows > 1 ? `all ${formatCount(answer.n_rows)} rows` : 'of the row'}</small>
            </span>
            {picture && <Shares colors={colors} picture={picture} paint={paint} window={window} cursor={hover?.time ?? null} onCursor={(x) => setPointer(x === null ? null : { x, y: -1 })} />}
          </div>
        </div>
        <aside class="tl-side">
          {legend && (
            <Legend colors={colors} picture={legend} counted={answer.counted} span={chosen && (ofChosen ?? dragged) ? chosen : legend} isSelection={chosen !== null} node={chosenContext(legend, selection.node)} search={selection.search} onHover={setMeant} onZoom={zoomToChosen} onClear={() => setView({ a: '', b: '' })} />
          )}
          {view.at !== '' && selectedRow >= 0 && !inReport && <ClickedDetails colors={colors} params={params} row={selectedRow} at={Number(view.at)} half={length / columns / 2} label={answer.rows.label[selectedRow] ?? ''} node={selection.node} onClose={() => setView({ at: '' }, 'replace')} />}
        </aside>
      </div>
      {hover && !drag.current?.moved && <Tooltip colors={colors} hover={hover} seen={seen} params={params} resolution={length / columns} canvas={canvas.current} label={answer.rows.label[hover.line?.row ?? -1] ?? ''} />}
      {loading && live === null && !picture && <Waiting />}
    </div>
  );
}

const LABELS = 196;

/** The listed procedure of the chosen context stands for it in the list. */
function chosenContext(picture: PictureAnswer, node: number | null): number | null {
  return picture.node === undefined || picture.node === null ? node : (picture.procedures.context[picture.node] ?? node);
}

interface Seen {
  name: string;
  kind: string | null;
  span: Span;
}

/** What the picture shows under the pointer. */
function whatIsAt(hover: Hover, picture: PictureAnswer, depths: DepthsAnswer | null): Seen | null {
  const source = hover.level >= 0 ? depths : picture;
  const pieces = hover.level >= 0 ? depths?.levels[hover.level] : picture.pieces[picture.rows.indexOf(hover.line?.row ?? -1)];
  if (!source || !pieces) return null;
  const step = (source.to - source.from) / source.columns;
  const piece = pieceAt(pieces, Math.floor((hover.time - source.from) / step));
  if (hover.time < source.from || hover.time > source.to || piece.procedure === -1) return null;
  return { name: source.procedures.name[piece.procedure] ?? 'others', kind: source.procedures.kind[piece.procedure] ?? null, span: { from: source.from + piece.first * step, to: source.from + piece.end * step } };
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

function Label({ line, height, track, isGpu, isSelected, onToggle, onSelect, onOpen }: LabelProps) {
  const isGroup = line.kind === 'group';
  return (
    <div role="listitem" class={`tl-label${isGroup ? ' group' : ''}${isSelected ? ' selected' : ''}${isGpu && !isGroup ? ' gpu' : ''}`} style={{ top: `${line.y + AXIS}px`, height: `${line.height}px`, lineHeight: `${height - 1}px`, paddingLeft: `${4 + line.indent * 12}px` }}>
      {line.isOpen !== null ? <button class={line.isOpen ? 'twist open' : 'twist'} aria-expanded={line.isOpen} aria-label={`${line.isOpen ? 'Close' : 'Open'} ${line.label}`} onClick={onToggle} /> : <span class="twist none" />}
      <button class="tl-label-name ellipsis" title={`${line.label}${isGroup ? '' : ` (${track})`}`} aria-pressed={isSelected} onClick={isGroup ? onToggle : onSelect} onDblClick={isGroup ? undefined : onOpen}>
        {line.label}
      </button>
    </div>
  );
}

function Overview({ map, paint, whole, window, onWindow }: { map: PictureAnswer; paint: ReturnType<typeof paints>; whole: Span; window: Span; onWindow: (span: Span) => void }) {
  const drag = useRef<{ at: number; kind: 'move' | 'new'; window: Span } | null>(null);
  const timeOf = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return whole.from + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (whole.to - whole.from);
  };
  const draw = useMemo(() => (c: CanvasRenderingContext2D, size: { width: number; height: number }) => drawMap(c, size, map, paint, whole, window), [map, paint, whole, window.from, window.to]);
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
        else if (Math.abs(at - d.at) > (whole.to - whole.from) / 200) onWindow({ from: Math.min(at, d.at), to: Math.max(at, d.at) });
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

function Shares({ colors, picture, paint, window, cursor, onCursor }: { colors: Colors; picture: PictureAnswer; paint: ReturnType<typeof paints>; window: Span; cursor: number | null; onCursor: (x: number | null) => void }) {
  const draw = useMemo(() => (c: CanvasRenderingContext2D, size: { width: number; height: number }) => drawShares(c, size, picture, paint, window, cursor), [picture, paint, window.from, window.to, cursor]);
  const bin = cursor === null ? -1 : Math.floor(((cursor - picture.from) / (picture.to - picture.from)) * picture.n_bins);
  const largest = bin < 0 ? [] : picture.bins.map((shares, i) => [shares[bin] ?? 0, i] as const).filter(([share]) => share > 0).sort(([a], [b]) => b - a).slice(0, 6);
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
              <Swatch name={picture.procedures.name[i] ?? ''} kind={picture.procedures.kind[i] ?? null} colors={colors} />
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
function Tooltip({ colors, hover, seen, params, resolution, canvas, label }: TooltipProps) {
  const row = hover.line && hasPicture(hover.line) ? hover.line.row : -1;
  const resting = useCalm(`${row} ${hover.time}`, RESTING_MS);
  const isResting = resting === `${row} ${hover.time}` && seen !== null && !isReport();
  const { data } = useData<IntervalsAnswer>(isResting ? 'intervals' : null, { ...params, row, from: hover.time, to: hover.time, limit: 20 });
  if (!canvas || hover.y < AXIS || !hover.line) return null;
  const box = canvas.getBoundingClientRect();
  const [x, y] = [box.left + hover.x, box.top + hover.y];
  const found = isResting && data ? ([...data.list].reverse().find((i) => i.name === seen?.name) ?? data.list[data.list.length - 1]) : undefined;
  const attributes = found && data?.attributes ? data.attributes[data.list.indexOf(found)] : undefined;
  const isRight = x > innerWidth - 360;
  return (
    <div class="tooltip" style={{ ...(isRight ? { right: `${innerWidth - x + 14}px` } : { left: `${x + 14}px` }), ...(y > innerHeight - 200 ? { bottom: `${innerHeight - y + 14}px` } : { top: `${y + 14}px` }) }}>
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
          <dt>kind</dt>
          <dd>{found.kind ?? ''}</dd>
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
          {(attributes ?? []).slice(0, 8).flatMap(([key, value], i) => [<dt key={`k${i}`}>{key.replace(/^tag:/, '')}</dt>, <dd key={`v${i}`}>{value === null ? 'NULL' : String(value)}</dd>])}
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

function ClickedDetails({ colors, params, row, at, half, label, node, onClose }: ClickedProps) {
  // The window may change afterwards: what was clicked does not
  const clicked = useRef({ row, at, half });
  if (clicked.current.row !== row || clicked.current.at !== at) clicked.current = { row, at, half };
  const path = useData<DepthsAnswer>('timeline_depths', { ...params, row, from: at - clicked.current.half, to: at + clicked.current.half, columns: 1 });
  const found = useData<IntervalsAnswer>('intervals', { ...params, row, from: at, to: at, limit: 64 });
  return <Details colors={colors} clicked={{ row, at, label, path: path.data, found: found.data }} node={node} onClose={onClose} />;
}

export const timeline: Screen = {
  id: 'timeline',
  title: 'Time line',
  key: 'i',
  available: (_, input) => Number(input.has.events) > 0,
  component: Timeline,
  command: ({ input, selection }) => {
    const view = readScreen('timeline', DEFAULTS);
    return commandLine('trace', [input.path], { depth: view.depth || null, since: view.from, until: view.to, run: selection.run, location: selection.locations, wallclock: view.wall });
  },
};
