// Light or dark: as the system has it, or as chosen.
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'auto' | 'light' | 'dark';
const STORED = 'assay-theme';
const listeners = new Set<() => void>();
let chosen: Theme = 'auto';
let isPrinting = false;

// A page opened from a file may have no storage.
function stored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

function apply(): void {
  document.documentElement.dataset['theme'] = isDark() ? 'dark' : 'light';
  for (const listener of [...listeners]) listener();
}

export function followTheme(): void {
  const text = stored();
  if (text === 'light' || text === 'dark') chosen = text;
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  for (const event of ['beforeprint', 'afterprint']) {
    addEventListener(event, () => {
      isPrinting = event === 'beforeprint';
      apply();
    });
  }
  apply();
}

export const theme = (): Theme => chosen;
/** Paper is light. */
export const isDark = (): boolean =>
  !isPrinting && (chosen === 'dark' || (chosen === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches));

export function setTheme(next: Theme): void {
  chosen = next;
  try {
    localStorage.setItem(STORED, next);
  } catch {
    // chosen for as long as the page is open
  }
  apply();
}

/** Draws the component again when the theme changes: for canvases, which have no CSS. */
export function useTheme(): { theme: Theme; isDark: boolean } {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return { theme: chosen, isDark: isDark() };
}

/** The value of a custom property: cssColor('--text'). */
export const cssColor = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();
