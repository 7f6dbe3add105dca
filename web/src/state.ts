// The whole state of the page is in the hash of its address: #tree?d=0&m=time&sel=17&tree.order=name
// Back and forward are undo and redo; a copied link shows the same.
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

export interface Address {
  screen: string;
  values: ReadonlyMap<string, string>;
}

export function parseHash(hash: string): Address {
  const text = hash.startsWith('#') ? hash.slice(1) : hash;
  const at = text.indexOf('?');
  const screen = at < 0 ? text : text.slice(0, at);
  const values = new Map<string, string>();
  if (at >= 0) for (const [key, value] of new URLSearchParams(text.slice(at + 1))) values.set(key, value);
  return { screen, values };
}

/** The same state gives the same text: keys are sorted. */
export function formatHash(address: Address): string {
  const pairs = [...address.values]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
  return `#${address.screen}${pairs.length ? `?${pairs.join('&')}` : ''}`;
}

export type How = 'push' | 'replace';
type Listener = () => void;

let current: Address = { screen: '', values: new Map() };
const listeners = new Set<Listener>();

function tell(): void {
  for (const listener of [...listeners]) listener();
}

export const address = (): Address => current;

/** Begins to follow the address bar. */
export function followAddress(): void {
  current = parseHash(location.hash);
  const follow = () => {
    current = parseHash(location.hash);
    tell();
  };
  addEventListener('popstate', follow);
  addEventListener('hashchange', follow);
}

/**
 * Changes values (null removes one) and, where given, the screen. 'push' is a step that back undoes, 'replace' is none.
 */
export function navigate(
  patch: Record<string, string | null>,
  how: How = 'push',
  screen: string = current.screen,
): void {
  const values = new Map(current.values);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) values.delete(key);
    else values.set(key, value);
  }
  const next: Address = { screen, values };
  const hash = formatHash(next);
  if (hash === formatHash(current)) return;
  current = next;
  if (how === 'push') history.pushState(null, '', hash);
  else history.replaceState(null, '', hash);
  tell();
}

/**
 * What is inside looks as this address says, not as that of the page: a sheet of paper, on which all is in sight and
 * nothing moves.
 */
export const OnPaper = createContext<Address | null>(null);
export const useIsOnPaper = (): boolean => useContext(OnPaper) !== null;

export function useAddress(): Address {
  const own = useContext(OnPaper);
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return own ?? current;
}

// ---- what all screens share

export type Sides = 'inclusive' | 'exclusive';

export interface Selection {
  /** Id of the input. */
  dataset: number;
  /** Name of the metric; null: the first that is a main one. */
  metric: string | null;
  sides: Sides;
  /** Id of the run, and of the point; null: all of them. */
  run: number | null;
  point: number | null;
  /** Locations as --location takes them: "process 0-3, thread 7"; null: all. */
  locations: string | null;
  /** Id of the chosen context. */
  node: number | null;
  search: string;
}

const number = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;

export function selectionOf({ values }: Address): Selection {
  return {
    dataset: number(values.get('d')) ?? 0,
    metric: values.get('m') ?? null,
    sides: values.get('x') === 'exclusive' ? 'exclusive' : 'inclusive',
    run: number(values.get('r')),
    point: number(values.get('pt')),
    locations: values.get('loc') ?? null,
    node: number(values.get('sel')),
    search: values.get('q') ?? '',
  };
}

/** What is chosen of one dataset, and means something else, or nothing, of another. */
const OF_DATASET = [
  'r',
  'pt',
  'loc',
  'sel',
  'flame.root',
  'scale.at',
  'scale.pins',
  'scale.set',
  ...['at', 'open', 'shut'].map((k) => `system.${k}`),
  ...['metrics', 'open', 'root', 'row', 'sort'].map((k) => `tree.${k}`),
  ...['a', 'at', 'b', 'closed', 'from', 'row', 'to'].map((k) => `timeline.${k}`),
];

/** Another dataset has other contexts, runs, points and locations: what is chosen of them goes. */
export function selectionPatch(patch: Partial<Selection>): Record<string, string | null> {
  const out: Record<string, string | null> = {};
  const put = (key: string, value: string | number | null | undefined) => {
    if (value !== undefined) out[key] = value === null || value === '' ? null : String(value);
  };
  if (patch.dataset !== undefined) for (const key of OF_DATASET) out[key] = null;
  put('d', patch.dataset === 0 ? null : patch.dataset);
  put('m', patch.metric);
  put('x', patch.sides === 'inclusive' ? null : patch.sides);
  put('r', patch.run);
  put('pt', patch.point);
  put('loc', patch.locations);
  put('sel', patch.node);
  put('q', patch.search);
  return out;
}

export const select = (patch: Partial<Selection>, how: How = 'push'): void => navigate(selectionPatch(patch), how);

export function useSelection(): Selection {
  return selectionOf(useAddress());
}

// ---- what one screen keeps for itself

export type Value = string | number | boolean;
type Widen<T> = { [K in keyof T]: T[K] extends number ? number : T[K] extends boolean ? boolean : string };

/** The screen's values, of the types of the defaults. A text that is no such value counts as the default. */
export function readScreen<T extends Record<string, Value>>(
  screen: string,
  defaults: T,
  from: Address = current,
): Widen<T> {
  const out: Record<string, Value> = {};
  for (const [key, standard] of Object.entries(defaults)) {
    const text = from.values.get(`${screen}.${key}`);
    out[key] = standard;
    if (text === undefined) continue;
    if (typeof standard === 'string') out[key] = text;
    else if (typeof standard === 'boolean') out[key] = text === '1';
    else if (text.trim() !== '' && Number.isFinite(Number(text))) out[key] = Number(text);
  }
  return out as Widen<T>;
}

export function writeScreen<T extends Record<string, Value>>(
  screen: string,
  defaults: T,
  patch: Partial<Widen<T>>,
  how: How = 'push',
): void {
  const out: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(patch) as [string, Value | undefined][]) {
    if (value !== undefined)
      out[`${screen}.${key}`] =
        value === defaults[key] ? null : typeof value === 'boolean' ? (value ? '1' : '0') : String(value);
  }
  navigate(out, how);
}

/** `const [view, setView] = useScreen('flame', { inverted: false, depth: 0 })`. The defaults must be a constant. */
export function useScreen<T extends Record<string, Value>>(
  screen: string,
  defaults: T,
): [Widen<T>, (patch: Partial<Widen<T>>, how?: How) => void] {
  const values = readScreen(screen, defaults, useAddress());
  return [values, (patch, how) => writeScreen(screen, defaults, patch, how)];
}
