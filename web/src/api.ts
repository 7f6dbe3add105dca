// Requests to whoever has the data: the server of `assay view`, or the data inside a report. Screens only know get()
// and useData().
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export type Param = string | number | boolean | null | undefined | readonly (string | number)[];
export type Params = Record<string, Param>;

/** What the server says of a request that went wrong, in the words of the command. */
export interface Failure {
  message: string;
  rule?: string | null;
  file?: string | null;
  line?: number | null;
  column?: number | null;
  offset?: number | null;
}

export class RequestError extends Error {
  constructor(
    readonly failure: Failure,
    readonly status = 0,
  ) {
    super(failure.message);
    this.name = 'RequestError';
  }
}

export interface Backend {
  /** What a report lacks, in words. */
  readonly notes?: readonly string[];
  get(path: string, params: Params, signal?: AbortSignal): Promise<unknown>;
  post(path: string, params: Params, body: BodyInit | null, signal?: AbortSignal): Promise<unknown>;
}

let formulas: readonly string[] = [];
/** Every request has them, so that their metrics are there. */
export function setFormulas(texts: readonly string[]): void {
  formulas = texts;
}

/**
 * `tree?a=1&b=x`: parameters sorted by name, those without a value left out, several values of one as they are given. A
 * report keeps its answers under this name.
 */
export function canonical(path: string, given: Params = {}): string {
  const pairs: string[] = [];
  const params: Params = { derive: formulas, ...given };
  for (const key of Object.keys(params).sort()) {
    const value = params[key];
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value])
      pairs.push(`${encodeURIComponent(key)}=${encodeURIComponent(String(one))}`);
  }
  return `${path}?${pairs.join('&')}`;
}

function failureOf(body: unknown, status: number): Failure {
  const { error, ...place } = (body ?? {}) as { error?: unknown } & Omit<Failure, 'message'>;
  if (typeof error === 'string') return { ...place, message: error };
  return {
    message:
      status === 403
        ? 'The server does not know this page any more: open the address that assay view printed.'
        : `The server answered with status ${status}.`,
  };
}

export class HttpBackend implements Backend {
  get(path: string, params: Params, signal?: AbortSignal): Promise<unknown> {
    return this.send(`api/${canonical(path, params)}`, { signal });
  }

  post(path: string, params: Params, body: BodyInit | null, signal?: AbortSignal): Promise<unknown> {
    return this.send(`api/${canonical(path, params)}`, { method: 'POST', body, signal });
  }

  private async send(address: string, init: RequestInit): Promise<unknown> {
    let answer: Response;
    try {
      answer = await fetch(address, { ...init, credentials: 'omit', cache: 'no-store' });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new RequestError({ message: 'The server does not answer. Is assay view still running?' });
    }
    let body: unknown = null;
    try {
      body = await answer.json();
    } catch (error) {
      // Ended while it came, or broken off: never an answer that is nothing
      if (init.signal?.aborted) throw error;
      if (answer.ok) throw new RequestError({ message: 'The answer broke off. Is assay view still running?' });
    }
    if (!answer.ok) throw new RequestError(failureOf(body, answer.status), answer.status);
    return body;
  }
}

const KEPT_ANSWERS = 100;

interface Flight {
  answer: Promise<unknown>;
  abort: AbortController;
  waiting: number;
}

/**
 * Asks once for what several ask for at the same time, drops what nobody waits for any more, and keeps the last
 * answers.
 */
export class Client {
  private readonly flights = new Map<string, Flight>();
  private readonly kept = new Map<string, unknown>();
  /** How often what the server has open changed. */
  version = 0;

  constructor(readonly backend: Backend) {}

  /** An answer that is there already, or undefined. */
  peek(path: string, params: Params = {}): unknown {
    return this.kept.get(canonical(path, params));
  }

  get(path: string, params: Params = {}, signal?: AbortSignal): Promise<unknown> {
    const key = canonical(path, params);
    if (signal?.aborted) return Promise.reject(new DOMException('Aborted', 'AbortError'));
    if (this.kept.has(key)) return Promise.resolve(this.kept.get(key));
    const flight = this.flights.get(key) ?? this.start(key, path, params);
    flight.waiting++;
    return new Promise((resolve, reject) => {
      const leave = () => {
        if (--flight.waiting === 0) {
          if (this.flights.get(key) === flight) this.flights.delete(key);
          flight.abort.abort();
        }
        reject(new DOMException('Aborted', 'AbortError'));
      };
      signal?.addEventListener('abort', leave, { once: true });
      flight.answer.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
    });
  }

  async post(path: string, params: Params = {}, body: BodyInit | null = null, signal?: AbortSignal): Promise<unknown> {
    return this.backend.post(path, params, body, signal);
  }

  /** After a change of what the server has open. */
  forget(): void {
    this.kept.clear();
    this.flights.clear();
    this.version++;
  }

  private start(key: string, path: string, params: Params): Flight {
    const abort = new AbortController();
    const flight: Flight = { answer: this.backend.get(path, params, abort.signal), abort, waiting: 0 };
    this.flights.set(key, flight);
    flight.answer
      .then(
        (answer) => this.flights.get(key) === flight && this.keep(key, answer),
        () => undefined,
      )
      .finally(() => {
        if (this.flights.get(key) === flight) this.flights.delete(key);
      });
    return flight;
  }

  private keep(key: string, answer: unknown): void {
    this.kept.set(key, answer);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= KEPT_ANSWERS) break;
      this.kept.delete(oldest);
    }
  }
}

/** start.tsx says whom to ask. */
let client: Client;

export function setBackend(backend: Backend): void {
  client = new Client(backend);
}
/** Known when the page is built: neither page has what only the other one does. */
export const isReport = (): boolean => IS_REPORT;
export const reportNotes = (): readonly string[] => client.backend.notes ?? [];
export const get = <T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> =>
  client.get(path, params, signal) as Promise<T>;
/** Past all answers that are kept. */
export const getAnew = <T>(path: string): Promise<T> => client.backend.get(path, {}) as Promise<T>;
export const post = <T>(path: string, params?: Params, body?: BodyInit | null, signal?: AbortSignal): Promise<T> =>
  client.post(path, params, body, signal) as Promise<T>;
export const forgetAnswers = (): void => client.forget();
export const isAborted = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

export function failure(error: unknown): Failure {
  if (error instanceof RequestError) return error.failure;
  return { message: error instanceof Error ? error.message : String(error) };
}

export interface Loaded<T> {
  /** The answer; while another is on its way, still the last one. */
  data: T | null;
  error: Failure | null;
  loading: boolean;
}

/** GETs `path` whenever it or a parameter changes; path null asks nothing. */
export function useData<T>(path: string | null, params: Params = {}): Loaded<T> {
  const key = path === null ? null : canonical(path, params);
  const [state, setState] = useState<Loaded<T> & { key: string | null }>({
    key: null,
    data: null,
    error: null,
    loading: path !== null,
  });
  useEffect(() => {
    if (path === null) {
      setState({ key, data: null, error: null, loading: false });
      return undefined;
    }
    const kept = client.peek(path, params) as T | undefined;
    if (kept !== undefined) {
      setState({ key, data: kept, error: null, loading: false });
      return undefined;
    }
    const abort = new AbortController();
    setState((old) => ({ key, data: old.data, error: null, loading: true }));
    get<T>(path, params, abort.signal).then(
      (data) => setState({ key, data, error: null, loading: false }),
      (error: unknown) => {
        if (!isAborted(error)) setState({ key, data: null, error: failure(error), loading: false });
      },
    );
    return () => abort.abort();
  }, [key, client.version]);
  return state.key === key ? state : { data: state.data, error: null, loading: path !== null };
}

/**
 * As useData(), for what changes with every move: asked for before the next frame, one request at a time; of what is
 * wanted meanwhile only the last is asked for.
 */
export function useLatest<T>(
  path: string | null,
  params: Params = {},
): Loaded<T> & { /** What the answer is to. */ asked: Params } {
  const key = path === null ? null : `${client.version} ${canonical(path, params)}`;
  const [state, setState] = useState<Loaded<T> & { asked: Params }>({
    data: null,
    error: null,
    loading: path !== null,
    asked: params,
  });
  const wanted = useRef({ key, path, params, abort: null as AbortController | null }).current;
  Object.assign(wanted, { key, path, params });
  const ask = (): void => {
    const [asked, question] = [wanted.key, wanted.params];
    if (wanted.abort || wanted.path === null) return;
    const abort = (wanted.abort = new AbortController());
    const end = (data: T | null, failed: unknown) => {
      wanted.abort = null;
      if (abort.signal.aborted) return;
      setState({ data, error: failed ? failure(failed) : null, loading: asked !== wanted.key, asked: question });
      if (asked !== wanted.key) ask();
    };
    const kept = client.peek(wanted.path, wanted.params) as T | undefined;
    if (kept !== undefined) end(kept, null);
    else
      get<T>(wanted.path, wanted.params, abort.signal).then(
        (data) => end(data, null),
        (error: unknown) => end(null, error),
      );
  };
  useLayoutEffect(() => {
    if (path === null) setState({ data: null, error: null, loading: false, asked: params });
    ask();
  }, [key]);
  useEffect(() => () => wanted.abort?.abort(), []);
  return state;
}

// ---- api/inputs

export interface Metric {
  id: number;
  name: string;
  display_name: string;
  unit: string | null;
  dtype: string;
  kind: string;
  is_main: boolean;
  adds_up: boolean;
  /** The formula it is of, as --derive takes it. */
  derive?: string;
  /** The metric that this one is a part of, as the source says. */
  parent?: number | null;
  /** The metric that this one is another side of: views are that one's. */
  part_of?: number | null;
}

export interface Run {
  id: number;
  label: string;
  point: number | null;
}

export interface Point {
  id: number;
  label: string;
  coordinates: number[];
}

export interface Has {
  tree: boolean;
  locations: number;
  events: boolean;
  points: number;
  parameters: string[];
  records: number;
  models: number;
  /** Words of --by that make other trees of it: kernel, api, nvtx. */
  regroupings?: string[];
}

export interface Input {
  id: number;
  path: string;
  name: string;
  format?: string;
  format_title?: string;
  format_version?: string | null;
  problems?: number;
  has?: Has;
  metrics?: Metric[];
  runs?: Run[];
  points?: Point[];
  /** Why it could not be read; then there is nothing else. */
  error: Failure | null;
}

export interface Inputs {
  version: string;
  /** Words of a command that reads the inputs as they were read: --from, -O. */
  reading: string[];
  inputs: Input[];
  /** Inputs that are points of one experiment. */
  experiment: { inputs: number[]; parameters: string[] } | null;
  /** Formulas of the request; error: why no input has a metric of it. */
  derives?: { text: string; error: string | null }[];
}

/** An input that could be read. */
export type Opened = Input & { has: Has; metrics: Metric[]; runs: Run[]; points: Point[] };

export function opened(input: Input | undefined): Opened | null {
  return input && !input.error && input.has
    ? {
        ...input,
        has: input.has,
        metrics: (input.metrics ?? []).filter((m) => m.part_of === undefined || m.part_of === null),
        runs: input.runs ?? [],
        points: input.points ?? [],
      }
    : null;
}
