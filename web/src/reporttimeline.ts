// The time line inside a report: pictures of the whole run and of its parts, or all that happened in ticks; and windows
// cut out of them.
import type { Interval, IntervalsAnswer, PictureAnswer, Procedures, TimelineAnswer } from './screens/timeline-data';

const [USUAL_COLUMNS, USUAL_BINS, MOST_BINNED] = [600, 100, 24];

/** Runs of equal columns, as they are put one behind the other. */
class Runs {
  readonly list: number[] = [];
  add(n: number, shown: number): void {
    const last = this.list.length - 1;
    if (last > 0 && this.list[last] === shown) this.list[last - 1]! += n;
    else if (n > 0) this.list.push(n, shown);
  }
}

/** Times of what a column shows; inactivity counts against all the rest together. */
class Column {
  private readonly times: Float64Array;
  private seen: number[] = [];
  constructor(
    n: number,
    private readonly idle: number,
  ) {
    this.times = new Float64Array(n + 2);
  }
  add(shown: number, time: number): void {
    if (this.times[shown + 2] === 0) this.seen.push(shown);
    this.times[shown + 2]! += time;
  }
  /** What takes most of it, -1: nothing does; and it is empty again. */
  take(): number {
    let [best, most, active, idle] = [-1, 0, 0, 0];
    for (const shown of this.seen) {
      const time = this.times[shown + 2]!;
      this.times[shown + 2] = 0;
      if (shown === this.idle) idle = time;
      else active += time;
      if (shown !== this.idle && time > most) [best, most] = [shown, time];
    }
    this.seen.length = 0;
    return idle > active ? this.idle : best;
  }
}

/** Some rows: an answer has at most 200 of them. */
interface Block {
  whole: PictureAnswer;
  /** All that happened; its columns are ticks. */
  exact: PictureAnswer | undefined;
  parts: PictureAnswer[];
}

export class ReportTimeline {
  /** The first one has the times of all rows. */
  private readonly blocks: Block[];
  /** Parts are renumbered when they are looked at. */
  private readonly ready = new Map<PictureAnswer, PictureAnswer>();
  private readonly procedures: Procedures = { name: [], context: [], kind: [] };
  private readonly numbers = new Map<string, number>();

  /** pictures by their requests. */
  constructor(pictures: readonly (readonly [Record<string, string>, PictureAnswer])[]) {
    const isWhole = (params: Record<string, string>) => !('exact' in params) && !('from' in params);
    this.blocks = pictures
      .filter(([params]) => isWhole(params))
      .map(([{ rows }, whole]) => {
        const those = (name: string) =>
          pictures.filter(([params]) => params['rows'] === rows && name in params).map(([, picture]) => picture);
        return {
          exact: those('exact').map((p) => this.renumber(p))[0],
          whole: this.renumber(whole),
          parts: those('from').sort((a, b) => a.from - b.from),
        };
      })
      .sort((a, b) => (a.whole.rows[0] ?? 0) - (b.whole.rows[0] ?? 0));
  }

  /** Only the first rows may be inside. */
  lines(all: TimelineAnswer): TimelineAnswer {
    const n = this.blocks.reduce((sum, block) => sum + block.whole.rows.length, 0);
    if (n >= all.n_rows) return all;
    const first = <T>(list: readonly T[]) => list.slice(0, n);
    const { label, track, location, run, gpu, below, n: counts } = all.rows;
    return {
      ...all,
      n_rows: n,
      of_rows: all.n_rows,
      groups: all.groups.filter((group) => group.first < n),
      rows: {
        label: first(label),
        track: first(track),
        location: first(location),
        run: first(run),
        gpu: first(gpu),
        below: first(below),
        n: first(counts),
      },
    };
  }

  private number({ name, context, kind }: Procedures, i: number): number {
    const key = `${context[i] ?? ''} ${name[i]}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.numbers.size);
    this.procedures.name.push(name[i]!);
    this.procedures.context.push(context[i] ?? null);
    this.procedures.kind.push(kind[i] ?? null);
    return this.numbers.size - 1;
  }

  /** Procedures of all pictures have one list. */
  private renumber(picture: PictureAnswer): PictureAnswer {
    const { name } = picture.procedures;
    const to = name.map((_, i) => this.number(picture.procedures, i));
    const known = this.ready.get(picture) ?? {
      ...picture,
      pieces: picture.pieces.map((row) => row.map((n, i) => (i % 2 && n >= 0 ? to[n]! : n))),
    };
    this.ready.set(picture, known);
    return known;
  }

  /** What is fine enough for the window, else the finest there is. */
  private sources({ whole, exact, parts }: Block, from: number, to: number): PictureAnswer[] {
    if (exact) return [exact];
    if (to - from > (whole.to - whole.from) / 2) return [whole];
    const inside = parts.filter((p) => p.to > from && p.from < to);
    const isCovered =
      inside.length > 0 &&
      inside[0]!.from <= from &&
      inside[inside.length - 1]!.to >= to &&
      inside.every((p, i) => i === 0 || p.from === inside[i - 1]!.to);
    return isCovered ? inside.map((p) => this.renumber(p)) : [whole];
  }

  picture(params: Record<string, string>): PictureAnswer | undefined {
    const whole = this.blocks[0]?.whole;
    if (!whole || (params['depth'] ?? String(whole.depth)) !== String(whole.depth)) return undefined;
    const [from, to] = [Number(params['from'] ?? whole.from), Number(params['to'] ?? whole.to)];
    const [columns, bins] = [Number(params['columns'] ?? USUAL_COLUMNS), Number(params['bins'] ?? USUAL_BINS)];
    const sources = this.blocks.map((block) => this.sources(block, from, to));
    const wanted = rowsOf(
      params['rows'],
      sources.flatMap(([source]) => source!.rows),
    );
    const isAll = from <= whole.from && to >= whole.to;
    const cut = this.cut(sources, wanted, from, to, columns, bins, isAll ? whole.procedures : null);
    const exact = this.blocks.every((block) => block.exact);
    const step = Math.max(...sources.map(([source]) => (source!.to - source!.from) / source!.columns));
    const detail = !exact && step > (1.5 * (to - from)) / columns ? step : undefined;
    return {
      from,
      to,
      columns,
      depth: whole.depth,
      ...(isAll
        ? { exact: whole.exact, count: whole.count, longest_gap: whole.longest_gap }
        : { exact, count: null, longest_gap: 0 }),
      rows: wanted,
      n_bins: bins,
      ...cut,
      ...(detail === undefined ? {} : { detail }),
    };
  }

  /**
   * Times of all rows, unless they are known, and the pieces of those that are wanted. blocks: the pictures of each.
   */
  private cut(
    blocks: readonly (readonly PictureAnswer[])[],
    wanted: readonly number[],
    from: number,
    to: number,
    columns: number,
    nBins: number,
    known: PictureAnswer['procedures'] | null,
  ) {
    const { name, context, kind } = this.procedures;
    const n = name.length;
    const idle = kind.indexOf('idle');
    const times = new Float64Array(n);
    const shares = new Float64Array(n * nBins);
    const [step, wide] = [(to - from) / columns, (to - from) / nBins];
    const byRow = new Map<number, number[]>();
    const inColumn = new Column(n, idle);
    const isWanted = new Set(wanted);
    const all = blocks.flatMap((sources) => sources[0]!.rows.map((row, index) => ({ row, index, sources })));
    all.forEach(({ row, index, sources }) => {
      const runs = new Runs();
      const isDrawn = isWanted.has(row);
      let column = 0;
      const flush = () => {
        runs.add(1, inColumn.take());
        column++;
      };
      for (const source of sources) {
        const unit = (source.to - source.from) / source.columns;
        const pieces = source.pieces[index] ?? [];
        let end = 0;
        for (let i = 0; i + 1 < pieces.length; i += 2) {
          const [start, shown] = [source.from + end * unit, pieces[i + 1]!];
          end += pieces[i]!;
          let at = Math.max(from, start);
          const until = Math.min(to, source.from + end * unit);
          if (start >= to) break;
          if (until <= at) continue;
          if (shown >= 0) {
            times[shown]! += until - at;
            for (let bin = Math.floor((at - from) / wide); bin < nBins && from + bin * wide < until; bin++)
              shares[shown * nBins + bin]! += Math.max(
                0,
                Math.min(until, from + (bin + 1) * wide) - Math.max(at, from + bin * wide),
              );
          }
          while (isDrawn && at < until && column < columns) {
            const next = from + (column + 1) * step;
            const stop = Math.min(until, next);
            if (shown !== -1) inColumn.add(shown, stop - at);
            at = stop;
            if (stop < next) continue;
            flush();
            // Whole columns of one thing are one run
            const more = Math.min(columns - column, Math.floor((until - at) / step) - 1);
            if (more > 0) {
              runs.add(more, shown);
              column += more;
              at = from + column * step;
            }
          }
        }
      }
      if (!isDrawn) return;
      if (column < columns) flush();
      runs.add(columns - column, -1);
      byRow.set(row, runs.list);
    });
    const counts = new Float64Array(n);
    if (known) {
      times.fill(0);
      known.name.forEach((_, i) => {
        const number = this.number(known, i);
        times[number] = known.time[i]!;
        counts[number] = known.count[i]!;
      });
    }
    // The longest first, as the server has them
    const order = [...times.keys()].sort((a, b) => times[b]! - times[a]! || a - b);
    const place = new Int32Array(n);
    order.forEach((old, i) => (place[old] = i));
    const pick = <T>(list: readonly T[]) => order.map((i) => list[i]!);
    const inBin = Array.from({ length: nBins }, (_, bin) =>
      order.reduce((sum, i) => sum + shares[i * nBins + bin]!, 0),
    );
    return {
      time: times.reduce((sum, t) => sum + t, 0),
      pieces: wanted.map((row) => byRow.get(row)!.map((v, i) => (i % 2 && v >= 0 ? place[v]! : v))),
      procedures: {
        name: pick(name),
        context: pick(context),
        kind: pick(kind),
        time: order.map((i) => times[i]!),
        count: order.map((i) => counts[i]!),
      },
      bins: order
        .slice(0, MOST_BINNED)
        .map((i) => inBin.map((all, bin) => (all > 0 ? shares[i * nBins + bin]! / all : 0))),
    };
  }

  /** What a row shows at a moment, where all is known that happened. */
  intervals(params: Record<string, string>): IntervalsAnswer | undefined {
    const exact = this.blocks.find(({ whole }) => whole.rows.includes(Number(params['row'])))?.exact;
    const pieces = exact?.pieces[exact.rows.indexOf(Number(params['row']))];
    if (!exact || !pieces || params['from'] !== params['to']) return undefined;
    const unit = (exact.to - exact.from) / exact.columns;
    const list: Interval[] = [];
    for (let i = 0, end = 0; i + 1 < pieces.length && list.length === 0; i += 2) {
      const start = exact.from + end * unit;
      end += pieces[i]!;
      const shown = pieces[i + 1]!;
      if (exact.from + end * unit <= Number(params['from'])) continue;
      if (shown < 0) break;
      list.push({
        name: this.procedures.name[shown]!,
        kind: this.procedures.kind[shown]!,
        start,
        end: exact.from + end * unit,
        duration: pieces[i]! * unit,
        level: 0,
        context: this.procedures.context[shown]!,
      });
    }
    return { counted: 'intervals', more: false, list };
  }
}

/** "0-9,12", those that are there; all where nothing is said. */
function rowsOf(text: string | undefined, all: readonly number[]): number[] {
  if (text === undefined) return [...all];
  const ranges = text.split(',').map((range) => range.split('-').map(Number));
  return all.filter((row) => ranges.some(([first, last]) => row >= first! && row <= (last ?? first!)));
}
