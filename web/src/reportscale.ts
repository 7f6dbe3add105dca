// Scaling models inside a report: their terms, from which the page predicts what the server would (docs/viewer-api.md,
// api/models).
import type { Params } from './api';
import { real, type Num } from './format';
import { NotInside } from './reporttree';
import {
  parsePoint,
  type Curve,
  type CurveAnswer,
  type ModelAnswer,
  type Rows,
  type ScaleAnswer,
  type SurfaceAnswer,
} from './screens/scale/model';

/** Parameter, its power, and that of its logarithm. */
type Factor = [number, number, number];
/** The constant, and products of a coefficient and factors. */
type Terms = [Num, ...[Num, ...Factor[]][]];

interface Band {
  /** At the places, the last parameter fastest. */
  low?: Num[];
  high?: Num[];
}

interface Model extends ModelAnswer, Band {
  number: number;
  depth: number;
  points: number;
  is_part: boolean;
  terms: Terms | null;
}

export interface ModelsAnswer {
  n: number;
  processes: number;
  fewest: number;
  total: Band;
  places: number[][];
  is_log: boolean[];
  orders: Record<string, number[]>;
  rest: Terms;
  rows: Model[];
}

const [PLACES, COLUMNS, ROWS, SPARKS, PAGE] = [144, 64, 48, 16, 200];
const rounded = (value: number, digits: number) => (Number.isFinite(value) ? Number(value.toPrecision(digits)) : value);

/** c0 + Σ c · Π p^a · log2(p)^b */
function valueAt(terms: Terms | null, point: readonly number[]): number {
  if (!terms) return NaN;
  const [constant, ...products] = terms;
  return products.reduce(
    (sum, [c, ...factors]) =>
      sum +
      factors.reduce(
        (product, [k, power, log]) =>
          product * (power ? point[k]! ** power : 1) * (log ? Math.log2(point[k]!) ** log : 1),
        real(c),
      ),
    real(constant),
  );
}

/** n places from one value to another: at equal factors, or steps. */
const along = (from: number, to: number, isLog: boolean, n: number): number[] =>
  Array.from({ length: n }, (_, i) =>
    i === n - 1 ? to : isLog ? from * (to / from) ** (i / (n - 1)) : from + ((to - from) * i) / (n - 1),
  );

export class ReportScale {
  private readonly at: number[];
  private readonly now: number[];
  private readonly totalNow: number;

  /** head: the answer of api/scale without rows. */
  constructor(
    private readonly head: ScaleAnswer,
    private readonly models: ModelsAnswer,
  ) {
    this.at = this.point(head.at);
    const largest = this.point(head.largest);
    this.now = models.rows.map((m) => valueAt(m.terms, largest));
    this.totalNow = this.sum(this.now, largest);
  }

  private point(of: Record<string, Num>): number[] {
    return this.head.parameters.map((p) => real(of[p.name]));
  }

  private named(point: readonly number[]): Record<string, number> {
    return Object.fromEntries(this.head.parameters.map((p, k) => [p.name, point[k]!]));
  }

  private asked(params: Params): number[] {
    return params['at'] ? (parsePoint(this.head.parameters, String(params['at'])) ?? this.at) : [...this.at];
  }

  private sum(values: readonly number[], point: readonly number[]): number {
    return this.models.rows.reduce(
      (sum, m, i) => (m.is_part ? sum + values[i]! : sum),
      valueAt(this.models.rest, point),
    );
  }

  /** The interval around a value, between those of the places beside the point; it holds the value. */
  private band(of: Band, point: readonly number[], value: number): [number, number] {
    const { places } = this.models;
    const corners = places.reduce<[number, number][]>(
      (found, list, k) => {
        const x = point[k]!;
        const next = list.findIndex((place) => place >= x);
        if (next < 0 || x < list[0]!) return [];
        const [a, b] = [list[next - 1]!, list[next]!];
        const part = b === x ? 1 : a > 0 ? Math.log(x / a) / Math.log(b / a) : (x - a) / (b - a);
        return found
          .flatMap(
            ([at, weight]) =>
              [
                [at * list.length + next - 1, weight * (1 - part)],
                [at * list.length + next, weight * part],
              ] as [number, number][],
          )
          .filter(([, weight]) => weight > 0);
      },
      [[0, 1]],
    );
    const between = (list: Num[] | undefined) => {
      const all = corners.map(([at, weight]) => [real(list?.[at]), weight] as const);
      const isPositive = all.every(([v]) => v > 0);
      const sum = all.reduce((total, [v, weight]) => total + weight * (isPositive ? Math.log(v) : v), 0);
      return all.length === 0 ? NaN : all.length === 1 ? all[0]![0] : isPositive ? Math.exp(sum) : sum;
    };
    return Number.isFinite(value) ? [Math.min(between(of.low), value), Math.max(between(of.high), value)] : [NaN, NaN];
  }

  /** How much faster than with the fewest processes. */
  private speedup(point: readonly number[], value: number, before: number): number {
    const ratio = (before / value) * (this.head.is_work ? point[this.models.processes]! / this.models.fewest : 1);
    return value > 0 && before > 0 ? ratio : NaN;
  }

  /** As api/scale answers. */
  scale(params: Params): ScaleAnswer {
    const { head, models } = this;
    const point = this.asked(params);
    const base = point.map((v, k) => (k === models.processes ? models.fewest : v));
    const values = models.rows.map((m) => valueAt(m.terms, point));
    const before = models.rows.map((m) => valueAt(m.terms, base));
    const total = this.sum(values, point);
    const rows = this.ordered(String(params['sort'] ?? 'growth'), values);
    const match = params['match'] ? new RegExp(String(params['match'])) : null;
    const found = match ? rows.filter((i) => match.test(models.rows[i]!.callpath)) : rows;
    if (params['reverse']) found.reverse();
    const offset = Number(params['offset'] ?? 0);
    const shown = found.slice(offset, offset + Number(params['limit'] ?? PAGE));
    const [low, high] = this.band(models.total, point, total);
    const { values: measured } = head.parameters[models.processes]!;
    const [first, last] = [
      Math.min(measured[0]!, point[models.processes]!),
      Math.max(measured.at(-1)!, point[models.processes]!),
    ];
    const sparks = along(first, last, first > 0, SPARKS).map((x) =>
      point.map((v, k) => (k === models.processes ? x : v)),
    );
    const column = <T>(of: (m: Model, i: number) => T): T[] => shown.map((i) => of(models.rows[i]!, i));
    const bands = shown.map((i) => this.band(models.rows[i]!, point, values[i]!));
    return {
      ...head,
      at: this.named(point),
      total: {
        value: total,
        low,
        high,
        now: this.totalNow,
        speedup: this.speedup(point, total, this.sum(before, base)),
      },
      n: found.length,
      offset,
      rows: {
        ...(Object.fromEntries(
          (
            [
              'context',
              'depth',
              'points',
              'flags',
              'AR2',
              'SMAPE',
              'noise',
              'callpath',
              'function',
              'text',
              'growth',
              'name',
              'order',
            ] as const
          ).map((key) => [key, column((m) => m[key])]),
        ) as unknown as Rows),
        value: column((_, i) => values[i]!),
        low: bands.map(([low]) => low),
        high: bands.map(([, high]) => high),
        share: column((_, i) => (total > 0 ? values[i]! / total : NaN)),
        now: column((_, i) => this.now[i]!),
        share_now: column((_, i) => (this.totalNow > 0 ? this.now[i]! / this.totalNow : NaN)),
        speedup: column((_, i) => this.speedup(point, values[i]!, before[i]!)),
        spark: column((m) => sparks.map((at) => rounded(valueAt(m.terms, at), 4))),
      },
    };
  }

  private ordered(sort: string, values: readonly number[]): number[] {
    const { rows, orders } = this.models;
    const all = orders[sort] ?? rows.map((_, i) => i);
    const size = {
      share: (i: number) => values[i]!,
      now: (i: number) => this.now[i]!,
      change: (i: number) => values[i]! / this.now[i]!,
    }[sort];
    return size
      ? [...all].sort(
          (a, b) =>
            Number(isNaN(size(a))) - Number(isNaN(size(b))) || size(b) - size(a) || rows[a]!.number - rows[b]!.number,
        )
      : [...all];
  }

  private find(context: number): Model {
    const found = this.models.rows.find((m) => m.context === context);
    if (!found?.measured) throw new NotInside();
    return found;
  }

  /** Along a parameter, from its first measured value on. */
  private axis(k: number, to: number, log: unknown, n: number): { isLog: boolean; x: number[] } {
    const { values } = this.head.parameters[k]!;
    const isLog = (log === undefined || log === null ? this.models.is_log[k]! : Number(log) === 1) && values[0]! > 0;
    return { isLog, x: along(values[0]!, Math.max(values.at(-1)!, to), isLog, n) };
  }

  /** As api/curve answers. */
  curve(params: Params): CurveAnswer {
    const { parameters } = this.head;
    const point = this.asked(params);
    const k = params['over'] ? parameters.findIndex((p) => p.name === params['over']) : this.models.processes;
    const { isLog, x } = this.axis(k, Number(params['to'] ?? point[k]), params['log'], PLACES);
    const contexts = [...new Set(String(params['context']).split(',').map(Number))];
    const curves = contexts.map((context): Curve => {
      const model = this.find(context);
      const bands = x.map((place): [number, number, number] => {
        const at = point.map((v, i) => (i === k ? place : v));
        const y = valueAt(model.terms, at);
        return [y, ...this.band(model, at, y)];
      });
      return { ...model, y: bands.map((b) => b[0]), low: bands.map((b) => b[1]), high: bands.map((b) => b[2]) };
    });
    return { over: parameters[k]!.name, is_log: isLog, at: this.named(point), x, curves };
  }

  /** As api/surface answers. */
  surface(params: Params): SurfaceAnswer {
    const { parameters } = this.head;
    const point = this.asked(params);
    const over = (params['over'] ? String(params['over']).split(',') : parameters.map((p) => p.name)).slice(0, 2) as [
      string,
      string,
    ];
    const [i, j] = over.map((name) => parameters.findIndex((p) => p.name === name)) as [number, number];
    const model = this.find(Number(params['context']));
    const [across, up] = [
      this.axis(i, point[i]!, params['log'], COLUMNS),
      this.axis(j, point[j]!, params['log'], ROWS),
    ];
    const z = up.x.flatMap((y) =>
      across.x.map((x) =>
        rounded(
          valueAt(
            model.terms,
            point.map((v, k) => (k === i ? x : k === j ? y : v)),
          ),
          6,
        ),
      ),
    );
    return { ...model, over, is_log: [across.isLog, up.isLog], at: this.named(point), x: across.x, y: up.x, z };
  }
}
