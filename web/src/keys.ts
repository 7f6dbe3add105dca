// The keys of the page. Whoever has keys registers them with a few words; the overlay of "?" and the command palette
// list what is registered.
import { useEffect, useRef } from 'preact/hooks';

export interface Key {
  /**
   * "j", "?", "Ctrl+K", "Shift+ArrowLeft", or two after each other: "g t". Letters mean themselves, whatever Shift does
   * to them.
   */
  key: string;
  /** What it does, in a few words. */
  label: string;
  run: (event: KeyboardEvent) => void;
  /** Also while somebody types in a field. */
  inFields?: boolean;
  /** Not in the list: a second key for the same. */
  hidden?: boolean;
  /** Reports have no such thing. */
  isLive?: boolean;
}

export interface KeyGroup {
  title: string;
  keys: Key[];
}

/** What "n" does on screens that find things: Enter in the search does it, too. */
export const NEXT_MATCH = 'Next match';

const groups: KeyGroup[] = [];
let pending: string | null = null;
let pendingUntil = 0;
const CHORD_MS = 1500;

export function registerKeys(title: string, keys: Key[]): () => void {
  const group = { title, keys };
  groups.push(group);
  return () => {
    const at = groups.indexOf(group);
    if (at >= 0) groups.splice(at, 1);
  };
}

export const keyGroups = (): readonly KeyGroup[] => groups;

/** Keys that are there as long as the component is. */
export function useKeys(title: string, all: Key[]): void {
  const keys = IS_REPORT ? all.filter((k) => !k.isLive) : all;
  const latest = useRef(keys);
  latest.current = keys;
  const names = keys.map((k) => `${k.key}\n${k.label}`).join('\n');
  useEffect(
    () =>
      registerKeys(
        title,
        latest.current.map((key, i) => ({ ...key, run: (event) => latest.current[i]?.run(event) })),
      ),
    [title, names],
  );
}

export function keyName(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): string {
  const named = event.key.length > 1 || event.key === ' ';
  const key =
    event.key === ' '
      ? 'Space'
      : event.ctrlKey || event.metaKey
        ? named
          ? event.key
          : event.key.toUpperCase()
        : event.key;
  return `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}${event.shiftKey && (named || event.ctrlKey || event.metaKey) ? 'Shift+' : ''}${key}`;
}

/** Whether it takes letters. */
export function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches('textarea, select, input:not([type=checkbox]):not([type=radio]):not([type=range])'))
  );
}

/** Whether the key is the control's own: what presses buttons, and what moves sliders. */
function isOwnKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (key === ' ' || key === 'Enter') return target.matches('button, summary, a, input');
  return target.matches('input[type=range]') && /^(Arrow|Home|End|Page)/.test(key);
}

/** The newest group that knows the key has it. */
export function findKey(name: string, before: string | null, inField: boolean): Key | null {
  for (const wanted of before ? [`${before} ${name}`, name] : [name]) {
    for (let i = groups.length - 1; i >= 0; i--) {
      const found = groups[i]?.keys.find((k) => k.key === wanted && (!inField || k.inFields));
      if (found) return found;
    }
  }
  return null;
}

const startsChord = (name: string): boolean => groups.some((g) => g.keys.some((k) => k.key.startsWith(`${name} `)));

export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || ['Control', 'Shift', 'Alt', 'Meta'].includes(event.key)) return;
  const name = keyName(event);
  const before = pending !== null && performance.now() < pendingUntil ? pending : null;
  const inField = isField(event.target);
  if (!inField && isOwnKey(event.target, event.key)) return;
  pending = null;
  const key = findKey(name, before, inField);
  if (key) {
    event.preventDefault();
    key.run(event);
  } else if (!inField && startsChord(name)) {
    pending = name;
    pendingUntil = performance.now() + CHORD_MS;
  } else if (inField && event.key === 'Escape') {
    (event.target as HTMLElement).blur();
  }
}

export function followKeys(): void {
  addEventListener('keydown', handleKey);
}
