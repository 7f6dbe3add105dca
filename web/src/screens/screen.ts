// What a screen is. docs/viewer-page.md says how to add one.
import type { ComponentType } from 'preact';
import type { Inputs, Metric, Opened } from '../api';
import { shellWord } from '../format';
import type { Selection } from '../state';

/** What a screen is given: the inputs, the chosen one, and the selection that all screens share. */
export interface ScreenProps {
  inputs: Inputs;
  input: Opened;
  /** The chosen metric, or the first main one; null where there is none. */
  metric: Metric | null;
  selection: Selection;
}

export interface Screen {
  /** In the address. */
  id: string;
  title: string;
  /** g, then this letter. */
  key: string;
  /** Whether the data has what the screen needs. */
  available: (inputs: Inputs, input: Opened) => boolean;
  /** It tells inclusive from exclusive values, as the selection says. */
  hasSides?: boolean;
  /** What it does not depend on, and offers no choice of. */
  without?: 'metric' | 'runs';
  component: ComponentType<ScreenProps>;
  /** The command that prints what the screen shows. */
  command: (props: ScreenProps) => string;
}

let reading: readonly string[] = [];

/** Every command reads its files as they were read here. */
export function setReading(words: readonly string[]): void {
  reading = words;
}

type CommandValue = string | number | boolean | null | undefined;

/**
 * `assay tree file --metric 'my time'`; options without a value (null, undefined, false) are left out, true is a flag,
 * of several values each has its own.
 */
export function commandLine(
  verb: string,
  paths: readonly string[],
  options: Record<string, CommandValue | readonly CommandValue[]> = {},
): string {
  const words = ['assay', verb, ...paths];
  for (const [name, values] of Object.entries(options)) {
    for (const value of [values].flat() as CommandValue[]) {
      if (value === null || value === undefined || value === false || value === '') continue;
      words.push(`--${name}`);
      if (value !== true) words.push(String(value));
    }
  }
  return [...words, ...reading].map(shellWord).join(' ');
}
