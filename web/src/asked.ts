// What requests and commands say of the shared selection. What is usual is left out, so that one thing is asked for in
// one way (a report knows its answers by these words).
import type { Metric, Opened } from './api';
import { formulasFor } from './formulas';
import type { Selection } from './state';

export interface Asked {
  input: Opened;
  metric: Metric | null;
  selection: Selection;
}

/** The run, or the point, as --run takes them; undefined: the usual one. */
export function runWord({ input, selection }: Asked): string | undefined {
  if (selection.run !== null) return String(selection.run);
  return input.points.find((p) => p.id === selection.point)?.label.replace(/, /g, ',');
}

/** Parameters d, metric, run and location. */
export function askedFor(asked: Asked): { d?: number; metric?: string; run?: string; location?: string } {
  const { input, metric, selection } = asked;
  return {
    ...(input.id === 0 ? {} : { d: input.id }),
    ...(metric && !metric.is_main ? { metric: metric.name } : {}),
    ...(runWord(asked) === undefined ? {} : { run: runWord(asked)! }),
    ...(selection.locations === null ? {} : { location: selection.locations }),
  };
}

/** The same as options of a command. */
export function askedOptions(asked: Asked): Record<string, string | string[] | undefined> {
  const { metric, run, location } = askedFor(asked);
  return { derive: formulasFor(asked.input, [asked.metric?.name]), metric, run, location };
}
