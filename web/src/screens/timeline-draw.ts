// Draws time lines: rows, the axis, levels of call paths, shares over time, the map of the whole.
import { dotsOf, fitText, type Size } from '../canvas';
import { colorOfName, css, hash, inkOn, type Rgb } from '../colors';
import { cssColor } from '../theme';
import {
  hasPicture,
  ticksOf,
  type DepthsAnswer,
  type Line,
  type PictureAnswer,
  type Procedures,
  type Span,
} from './timeline-data';

export const AXIS = 24;
export const LEVEL = 15;

/** How each procedure is painted. */
export interface Paint {
  fill: string;
  ink: string;
  /** Nothing ran, nothing is known, the program was stopped: drawn flat. */
  isQuiet: boolean;
  /** Others are meant: by the search, or the pointer in the list. */
  isDimmed: boolean;
  /** The chosen context belongs to it. */
  isChosen: boolean;
}

/** The colour of a procedure, the same in rows and lists. */
export type Colors = (name: string, kind: string | null) => Rgb;

// Twelve that are told apart side by side, with light or dark text on them; then the same, paler
const TWELVE_LIGHT: readonly Rgb[] = [
  [132, 182, 232],
  [244, 172, 96],
  [126, 202, 142],
  [230, 134, 160],
  [186, 160, 228],
  [230, 214, 116],
  [116, 202, 200],
  [206, 166, 130],
  [240, 170, 216],
  [170, 188, 112],
  [160, 172, 204],
  [236, 130, 98],
];
const TWELVE_DARK: readonly Rgb[] = [
  [46, 96, 148],
  [150, 88, 28],
  [46, 110, 62],
  [144, 54, 82],
  [98, 72, 142],
  [122, 106, 24],
  [30, 108, 108],
  [112, 78, 48],
  [136, 62, 112],
  [84, 100, 36],
  [76, 88, 120],
  [150, 62, 36],
];

const paler =
  (part: number) =>
  ([r, g, b]: Rgb): Rgb => [
    Math.round(r + (255 - r) * part),
    Math.round(g + (255 - g) * part),
    Math.round(b + (255 - b) * part),
  ];
const LIGHT: readonly Rgb[] = [...TWELVE_LIGHT, ...TWELVE_LIGHT.map(paler(0.5))];
const DARK: readonly Rgb[] = [...TWELVE_DARK, ...TWELVE_DARK.map(paler(0.22))];

/**
 * The largest of the whole run (names in order) have colours that differ; a name keeps the one its letters choose where
 * it is free. All others have the colour of their name.
 */
export function chooseColors(procedures: Procedures | null, isDark: boolean): Colors {
  const taken = new Map<number, string>();
  const slots = new Map<string, number>();
  procedures?.name.forEach((name, i) => {
    if (taken.size === LIGHT.length || isQuietKind(procedures.kind[i] ?? null)) return;
    // The pale ones come when the others are taken
    const first = taken.size < TWELVE_LIGHT.length ? 0 : TWELVE_LIGHT.length;
    let slot = hash(name) % TWELVE_LIGHT.length;
    while (taken.has(first + slot)) slot = (slot + 5) % TWELVE_LIGHT.length;
    slot += first;
    taken.set(slot, name);
    slots.set(name, slot);
  });
  return (name, kind) => {
    if (kind === 'idle') return isDark ? [38, 42, 49] : [236, 238, 241];
    if (kind === 'unknown') return isDark ? [74, 78, 86] : [205, 208, 213];
    if (kind === 'paused') return isDark ? [92, 80, 46] : [240, 222, 170];
    const slot = slots.get(name);
    return slot === undefined ? colorOfName(name, isDark) : (isDark ? DARK : LIGHT)[slot]!;
  };
}

const isQuietKind = (kind: string | null): boolean => kind === 'idle' || kind === 'unknown' || kind === 'paused';

export function paints(
  procedures: Procedures,
  colors: Colors,
  isMeant: ((name: string) => boolean) | null,
  chosen: number | null = null,
): Paint[] {
  return procedures.name.map((name, i) => {
    const kind = procedures.kind[i] ?? null;
    const color = colors(name, kind);
    return {
      fill: css(color),
      ink: inkOn(color),
      isQuiet: isQuietKind(kind),
      isDimmed: isMeant !== null && !isMeant(name),
      isChosen: i === chosen,
    };
  });
}

const FAINT = 0.22;

/** One row of pieces, from x0 on at `scale` pixels a column. */
function drawPieces(
  c: CanvasRenderingContext2D,
  pieces: readonly number[],
  x0: number,
  scale: number,
  y: number,
  height: number,
  width: number,
  paint: readonly Paint[],
  names: readonly string[] | null,
): void {
  let column = 0;
  const [other, accent] = [cssColor('--muted'), cssColor('--accent')];
  for (let i = 0; i + 1 < pieces.length; i += 2) {
    const [length, number] = [pieces[i]!, pieces[i + 1]!];
    const left = x0 + column * scale;
    const right = left + length * scale;
    column += length;
    if (number === -1 || right < 0 || left > width) continue;
    const p = paint[number];
    c.globalAlpha = p?.isDimmed ? FAINT : 1;
    c.fillStyle = p?.fill ?? other;
    const [a, b] = [Math.max(0, left), Math.min(width, right)];
    const gap = b - a > 3 ? 0.5 : 0;
    c.fillRect(a, y, Math.max(b - a - gap, 0.5), height);
    if (p?.isChosen) {
      c.fillStyle = accent;
      c.fillRect(a, y + height - 2, Math.max(b - a, 1), 2);
    }
    if (names === null || !p || p.isQuiet || b - a < 28) continue;
    c.fillStyle = p.ink;
    const text = fitText(c, names[number] ?? '', b - a - 8);
    if (text) c.fillText(text, a + 4, y + height / 2 + 0.5);
  }
  c.globalAlpha = 1;
}

export interface RowsScene {
  lines: readonly Line[];
  top: number;
  window: Span;
  picture: PictureAnswer;
  paint: readonly Paint[];
  /** The whole run, coarsely: stands where the picture does not reach while another is on its way. */
  whole: PictureAnswer | null;
  wholePaint: readonly Paint[];
  isGpu: (row: number) => boolean;
  /** The row whose call paths are shown level by level, and these. */
  open: { row: number; depths: DepthsAnswer | null; paint: readonly Paint[]; height: number } | null;
  selectedRow: number;
  selection: Span | null;
  cursor: number | null;
}

const xOf =
  (window: Span, width: number) =>
  (time: number): number =>
    ((time - window.from) / (window.to - window.from)) * width;

export function drawRows(c: CanvasRenderingContext2D, { width, height }: Size, scene: RowsScene): void {
  const { window, picture, lines, top } = scene;
  const x = xOf(window, width);
  const x0 = x(picture.from);
  const scale = (x(picture.to) - x0) / picture.columns;
  const rowsOf = (of: PictureAnswer) => new Map(of.rows.map((row, i) => [row, of.pieces[i]!]));
  const byRow = rowsOf(picture);
  const isShort = x0 > 1 || x(picture.to) < width - 1;
  const coarse = isShort && scene.whole ? rowsOf(scene.whole) : null;
  const [line, raised, sunken, accent] = ['--line', '--raised', '--sunken', '--accent'].map(cssColor) as [
    string,
    string,
    string,
    string,
  ];
  c.font = `11px ${cssColor('--font')}`;
  c.textBaseline = 'middle';
  const grid = ticksOf(window, Math.max(2, Math.floor(width / 84)));
  for (const l of lines) {
    const y = l.y - top + AXIS;
    if (y + l.height < AXIS || y > height) continue;
    if (!hasPicture(l)) {
      c.fillStyle = raised;
      c.fillRect(0, y, width, l.height);
    } else if (l.row === scene.selectedRow && l.kind === 'row') {
      c.fillStyle = cssColor('--accent-soft');
      c.fillRect(0, y, width, l.height);
    }
    c.fillStyle = line;
    c.fillRect(0, y + l.height - 1, width, 1);
  }
  c.fillStyle = sunken;
  for (const at of grid.at) c.fillRect(Math.round(x(at)), AXIS, 1, height);
  for (const l of lines) {
    const y = l.y - top + AXIS;
    const pieces = byRow.get(l.row);
    if (y + l.height < AXIS || y > height || !hasPicture(l) || !pieces) continue;
    const isOpen = scene.open !== null && l.kind === 'row' && l.row === scene.open.row;
    const own = isOpen ? scene.open!.height : l.height;
    const inset = own >= 16 ? 2 : 1;
    const below = coarse?.get(l.row);
    if (below) {
      const [from, to] = [x(scene.whole!.from), x(scene.whole!.to)];
      drawPieces(
        c,
        below,
        from,
        (to - from) / scene.whole!.columns,
        y + inset,
        own - 2 * inset - 1,
        width,
        scene.wholePaint,
        null,
      );
      c.clearRect(x0, y + inset, picture.columns * scale, own - 2 * inset - 1);
    }
    drawPieces(
      c,
      pieces,
      x0,
      scale,
      y + inset,
      own - 2 * inset - 1,
      width,
      scene.paint,
      own >= 15 ? picture.procedures.name : null,
    );
    if (scene.isGpu(l.row)) {
      c.fillStyle = cssColor('--good');
      c.fillRect(0, y + inset, 2, own - 2 * inset - 1);
    }
    if (isOpen && scene.open!.depths) drawLevels(c, scene.open!.depths, scene.open!.paint, window, y + own, width);
  }
  drawAxis(c, width, window, grid);
  if (scene.selection) {
    const [a, b] = [x(scene.selection.from), x(scene.selection.to)];
    c.fillStyle = accent;
    c.globalAlpha = 0.14;
    c.fillRect(a, 0, b - a, height);
    c.globalAlpha = 1;
    for (const at of [a, b]) c.fillRect(Math.round(at), 0, 1, height);
  }
  if (scene.cursor !== null) {
    c.fillStyle = accent;
    c.globalAlpha = 0.7;
    c.fillRect(Math.round(x(scene.cursor)), 0, 1, height);
    c.globalAlpha = 1;
  }
}

function drawLevels(
  c: CanvasRenderingContext2D,
  depths: DepthsAnswer,
  paint: readonly Paint[],
  window: Span,
  y: number,
  width: number,
): void {
  const x = xOf(window, width);
  const x0 = x(depths.from);
  const scale = (x(depths.to) - x0) / depths.columns;
  depths.levels.forEach((level, i) =>
    drawPieces(c, level, x0, scale, y + i * LEVEL, LEVEL - 1, width, paint, depths.procedures.name),
  );
}

function drawAxis(c: CanvasRenderingContext2D, width: number, window: Span, ticks: ReturnType<typeof ticksOf>): void {
  const x = xOf(window, width);
  c.fillStyle = cssColor('--ground');
  c.fillRect(0, 0, width, AXIS);
  c.fillStyle = cssColor('--line');
  c.fillRect(0, AXIS - 1, width, 1);
  c.fillStyle = cssColor('--muted');
  c.textBaseline = 'middle';
  ticks.at.forEach((at, i) => {
    const left = Math.round(x(at));
    c.fillRect(left, AXIS - 6, 1, 6);
    const text = ticks.labels[i]!;
    if (left + 4 + c.measureText(text).width <= width) c.fillText(text, left + 4, AXIS / 2);
  });
}

/** Shares of the time of all rows, stacked; what is not among the largest is grey. */
export function drawShares(
  c: CanvasRenderingContext2D,
  { width, height }: Size,
  picture: PictureAnswer,
  paint: readonly Paint[],
  window: Span,
  cursor: number | null,
): void {
  const x = xOf(window, width);
  const x0 = x(picture.from);
  const scale = (x(picture.to) - x0) / picture.n_bins;
  const [other, ground] = [cssColor('--sunken'), cssColor('--ground')];
  const dot = dotsOf(c);
  for (let bin = 0; bin < picture.n_bins; bin++) {
    let y = height;
    const left = dot(x0 + bin * scale);
    const wide = dot(x0 + (bin + 1) * scale) - left;
    let sum = 0;
    picture.bins.forEach((shares, i) => {
      const share = shares[bin] ?? 0;
      sum += share;
      if (share <= 0 || paint[i]?.isQuiet) return;
      c.globalAlpha = paint[i]?.isDimmed ? FAINT : 1;
      c.fillStyle = paint[i]?.fill ?? other;
      c.fillRect(left, y - share * height, wide, share * height);
      y -= share * height;
    });
    c.globalAlpha = 1;
    if (sum > 0 && sum < 0.999) {
      c.fillStyle = other;
      c.fillRect(left, y - (1 - sum) * height, wide, (1 - sum) * height);
    }
  }
  c.fillStyle = ground;
  c.globalAlpha = 0.5;
  c.fillRect(0, Math.round(height / 2), width, 1);
  c.globalAlpha = 1;
  if (cursor === null) return;
  c.fillStyle = cssColor('--accent');
  c.fillRect(Math.round(x(cursor)), 0, 1, height);
}

/** The whole run, with the window in it. */
export function drawMap(
  c: CanvasRenderingContext2D,
  { width, height }: Size,
  picture: PictureAnswer,
  paint: readonly Paint[],
  whole: Span,
  window: Span,
): void {
  const n = Math.max(1, picture.rows.length);
  const x = xOf(whole, width);
  picture.pieces.forEach((pieces, i) => {
    const [y, end] = [(i * height) / n, ((i + 1) * height) / n];
    drawPieces(
      c,
      pieces,
      x(picture.from),
      (x(picture.to) - x(picture.from)) / picture.columns,
      y,
      end - y - (end - y > 4 ? 1 : 0),
      width,
      paint,
      null,
    );
  });
  const [a, b] = [x(window.from), x(window.to)];
  c.fillStyle = cssColor('--ground');
  c.globalAlpha = 0.72;
  c.fillRect(0, 0, a, height);
  c.fillRect(b, 0, width - b, height);
  c.globalAlpha = 1;
  c.strokeStyle = cssColor('--accent');
  c.lineWidth = 1.5;
  c.strokeRect(Math.min(a, width - 3) + 0.75, 0.75, Math.max(b - a, 3) - 1.5, height - 1.5);
}
