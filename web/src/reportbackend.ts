// The data inside a report: answers that were asked beforehand, and what follows from them.
import {
  canonical,
  opened,
  RequestError,
  type Backend,
  type Failure,
  type Input,
  type Inputs,
  type Param,
  type Params,
} from './api';
import { compared } from './reportcompare';
import { ReportScale, type ModelsAnswer } from './reportscale';
import { ReportTimeline } from './reporttimeline';
import { bareName, NotInside, WholeTree, type Kept, type WholeAnswer } from './reporttree';
import type { CompareAnswer } from './screens/compare-data';
import type { FlameAnswer } from './screens/flame';
import type { ScaleAnswer } from './screens/scale/model';
import type { PictureAnswer, TimelineAnswer } from './screens/timeline-data';

/** What the report says of itself, under "report?". */
interface About {
  notes: string[];
  /** Of each input the metrics that are inside. */
  inputs?: { id: number; metrics: number[] }[];
}

/** "tree?by=region&d=1" as parameters. */
function paramsOf(request: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(request.slice(request.indexOf('?') + 1)));
}

/** The request for any size, in whatever order. */
function sizeless(request: string): string {
  const { all, limit, width, points, sort, order, match, node, ...base } = paramsOf(request);
  return canonical(request.slice(0, request.indexOf('?')), base);
}

/** The first input has no number, as in the names of the report's answers. */
const plain = (params: Params): Params => (String(params['d'] ?? 0) === '0' ? { ...params, d: null } : params);

const value = (params: Params | Record<string, string>, name: string): string => {
  const given = (params as Record<string, Param>)[name];
  return given === null || given === undefined ? '' : String(Array.isArray(given) ? given[0] : given);
};

const missing = () =>
  new RequestError(
    { message: 'Not in this report. The measurement itself has it: assay view.', rule: 'not-in-report' },
    404,
  );

export class ReportBackend implements Backend {
  readonly notes: readonly string[];
  private readonly about: About;
  /** Whole trees by input, view and grouping; made when they are looked at. */
  private readonly trees = new Map<string, { request: string; tree: WholeTree | null }>();
  /** Flame graphs by input, metric and view. */
  private readonly flames = new Map<string, string>();

  /** By the request, whatever their size. */
  private readonly comparisons = new Map<string, unknown>();
  /** By input; made when they are looked at. */
  private readonly lines = new Map<string, ReportTimeline>();
  /** By the request for all rows. */
  private readonly scales = new Map<string, ReportScale>();

  /** What there is not, whatever the size: why. */
  private readonly refused = new Map<string, Failure>();
  private readonly answers: Record<string, unknown> = {};

  constructor(given: Record<string, unknown>) {
    for (const [request, answer] of Object.entries(given)) {
      const { error, ...place } = answer as { error?: string } & Failure;
      if (typeof error === 'string') this.refused.set(sizeless(request), { ...place, message: error });
      else this.answers[request] = answer;
    }
    const { answers } = this;
    this.about = (answers['report?'] ?? { notes: [] }) as About;
    this.notes = this.about.notes;
    for (const request of Object.keys(answers)) {
      const params = paramsOf(request);
      if (request.startsWith('tree?') && 'whole' in params)
        this.trees.set(`${params['d'] ?? 0} ${params['view'] ?? 'top-down'} ${params['by'] ?? ''}`, {
          request,
          tree: null,
        });
      if (request.startsWith('compare')) this.comparisons.set(sizeless(request), answers[request]);
      if (request.startsWith('flame?'))
        this.flames.set(`${params['d'] ?? 0} ${params['metric'] ?? ''} ${params['view'] ?? ''}`, request);
    }
  }

  get(path: string, params: Params): Promise<unknown> {
    try {
      const answer = this.answer(path, plain(params));
      if (answer !== undefined) return Promise.resolve(answer);
      const refused = this.refused.get(sizeless(canonical(path, plain(params))));
      return Promise.reject(refused ? new RequestError(refused, 422) : missing());
    } catch (error) {
      return Promise.reject(
        error instanceof NotInside
          ? missing()
          : error instanceof SyntaxError
            ? new RequestError({ message: `This is no regular expression: ${error.message}` }, 400)
            : error,
      );
    }
  }

  post(): Promise<unknown> {
    return Promise.reject(
      new RequestError({ message: 'A report takes no files: use assay view.', rule: 'not-in-report' }, 404),
    );
  }

  private answer(path: string, params: Params): unknown {
    const exact = this.answers[canonical(path, params)];
    if (path === 'inputs' && exact !== undefined) return this.inputs(exact as Inputs);
    if (path === 'timeline' && exact !== undefined)
      return this.timeline(value(params, 'd') || '0').lines(exact as TimelineAnswer);
    if (exact !== undefined) return exact;
    const d = value(params, 'd') || '0';
    if (path === 'tree') return this.tree(d, value(params, 'view') || 'top-down', value(params, 'by'))?.answer(params);
    if (path === 'node') return value(params, 'run') || value(params, 'location') ? undefined : this.node(d, params);
    if (path === 'locations' && value(params, 'node')) return this.rowPlaces(d, params);
    if (path === 'flame') return this.flame(d, params);
    if (path.startsWith('compare')) {
      const { sort, order, match, node, all, ...base } = params;
      const kept = this.comparisons.get(canonical(path, base));
      return path === 'compare' && kept ? compared(kept as CompareAnswer, params) : kept;
    }
    if (path === 'scale' || path === 'curve' || path === 'surface') return this.scale(params)?.[path](params);
    if (path === 'timeline_picture') return this.timeline(d).picture(paramsOf(canonical(path, params)));
    if (path === 'intervals') return this.timeline(d).intervals(paramsOf(canonical(path, params)));
    return undefined;
  }

  /** Only metrics that are inside can be chosen. */
  private inputs(all: Inputs): Inputs {
    const only = (input: Input): Input => {
      const inside = this.about.inputs?.find((i) => i.id === input.id);
      const metrics = input.metrics?.filter(
        (m) => !inside || inside.metrics.length === 0 || inside.metrics.includes(m.id),
      );
      return opened(input) && metrics ? { ...input, metrics } : input;
    };
    return { ...all, inputs: all.inputs.map(only) };
  }

  private grouping(d: string, view: string, by: string): string {
    return view === 'flat' ? by || (this.trees.has(`${d} flat scope`) ? 'scope' : 'region') : '';
  }

  private tree(d: string, view: string, by: string): WholeTree | undefined {
    const kept = this.trees.get(`${d} ${view} ${this.grouping(d, view, by)}`);
    if (!kept) return undefined;
    kept.tree ??= new WholeTree(this.answers[kept.request] as WholeAnswer);
    return kept.tree;
  }

  /** A context, or a row of another view: what the trees say of it. */
  private node(d: string, params: Params): unknown {
    const down = this.tree(d, 'top-down', '');
    const view = value(params, 'view');
    return (view ? this.tree(d, view, value(params, 'by')) : down)?.node(params, down, (context, name) =>
      this.keptNode(params['d'], context, name),
    );
  }

  /** What the report holds of a context, else of another one of its function. */
  private keptNode(d: Param, context: number, name: string | null): Kept | undefined {
    const exact = this.answers[canonical('node', { d, context })];
    const isOfIt = ([request, kept]: [string, unknown]) =>
      request.startsWith('node?') &&
      bareName((kept as Kept).name) === bareName(name) &&
      (paramsOf(request)['d'] ?? '0') === String(d ?? 0);
    return (exact ?? Object.entries(this.answers).find(isOfIt)?.[1]) as Kept | undefined;
  }

  /** Of a row: kept by its number in the whole tree, which has all metrics. */
  private rowPlaces(d: string, params: Params): unknown {
    const [view, by] = [value(params, 'view'), value(params, 'tree')];
    const kept = this.trees.get(`${d} ${view} ${this.grouping(d, view, '')}`);
    if (!kept || this.grouping(d, view, by) !== this.grouping(d, view, '')) return undefined;
    const metrics = paramsOf(kept.request)['metrics'];
    return this.answers[
      canonical('locations', {
        d: params['d'],
        kind: params['kind'],
        metric: params['metric'],
        metrics,
        node: params['node'],
        view,
      })
    ];
  }

  private timeline(d: string): ReportTimeline {
    const pictures = () =>
      Object.keys(this.answers)
        .filter((request) => request.startsWith('timeline_picture?'))
        .map((request) => [paramsOf(request), this.answers[request] as PictureAnswer] as const);
    const kept = this.lines.get(d) ?? new ReportTimeline(pictures().filter(([params]) => (params['d'] ?? '0') === d));
    this.lines.set(d, kept);
    return kept;
  }

  /** The models of a metric. */
  private scale(params: Params): ReportScale | undefined {
    const base = { d: params['d'], metric: params['metric'] };
    const name = canonical('scale', { ...base, limit: 0 });
    const head = this.answers[name] as ScaleAnswer | undefined;
    const models = Object.keys(this.answers).find(
      (request) =>
        request.startsWith('models?') &&
        canonical('scale', { ...paramsOf(request), rows: null, details: null, limit: 0 }) === name,
    );
    if (
      !head ||
      !models ||
      ['measure', 'modeler', 'scaling', 'processes', 'set', 'together'].some((word) => value(params, word))
    )
      return undefined;
    const kept = this.scales.get(name) ?? new ReportScale(head, this.answers[models] as ModelsAnswer);
    this.scales.set(name, kept);
    return kept;
  }

  /** The finest picture there is, its frames in the order that is asked for; zooming and searching happen inside it. */
  private flame(d: string, params: Params): unknown {
    const request = this.flames.get(`${d} ${value(params, 'metric')} ${value(params, 'view')}`);
    if (!request || ['run', 'location', 'root', 'match'].some((name) => value(params, name) !== '')) return undefined;
    const answer = this.answers[request] as FlameAnswer;
    return value(params, 'order') === 'source' ? inSourceOrder(answer) : answer;
  }
}

/** The same frames, siblings as in the source; what was taken together is last. */
function inSourceOrder(answer: FlameAnswer): FlameAnswer {
  const below = new Map<number, number[]>();
  answer.parent.forEach((parent, i) => below.set(parent, [...(below.get(parent) ?? []), i]));
  const place = (i: number) => (answer.rest[i] ? Infinity : (answer.node[i] ?? -1) % 2 ** 32);
  const order: number[] = [];
  const stack = [...(below.get(-1) ?? [])];
  while (stack.length > 0) {
    const i = stack.pop()!;
    order.push(i);
    stack.push(...[...(below.get(i) ?? [])].sort((a, b) => place(b) - place(a) || b - a));
  }
  const moved = new Map(order.map((old, at) => [old, at]));
  const pick = <T>(column: T[]): T[] => order.map((i) => column[i]!);
  return {
    ...answer,
    node: pick(answer.node),
    parent: order.map((i) => moved.get(answer.parent[i]!) ?? -1),
    ...(answer.context ? { context: pick(answer.context) } : {}),
    name: pick(answer.name),
    value: pick(answer.value),
    own: pick(answer.own),
    module: pick(answer.module),
    kind: pick(answer.kind),
    rest: pick(answer.rest),
  };
}

async function inflate(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64.replace(/\s+/g, '')), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

/** The data of the page: JSON, or base64 of gzip (type="application/gzip"). */
export async function openBackend(page: Document): Promise<Backend> {
  const data = page.getElementById('assay-data');
  const text = data?.textContent ?? '{}';
  return new ReportBackend(
    JSON.parse(data?.getAttribute('type') === 'application/gzip' ? await inflate(text) : text) as Record<
      string,
      unknown
    >,
  );
}
