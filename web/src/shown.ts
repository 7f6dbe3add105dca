// What every request about values says: the input, the metric, the run, the places. What is as usual is left out, so
// that reports know it by the same name.
import type { Metric, Opened, Params } from './api';
import type { Selection } from './state';

/** The run as --run takes it: its number, or the point it is the mean of. */
export function runWords(input: Opened, selection: Selection): string | null {
  if (selection.run !== null) return String(selection.run);
  const point = input.points.find((p) => p.id === selection.point);
  return point ? point.label.replace(/, /g, ',') : null;
}

export function shownParams(input: Opened, metric: Metric | null, selection: Selection): Params {
  return {
    d: input.id,
    metric: metric && !metric.is_main ? metric.name : null,
    run: runWords(input, selection),
    location: selection.locations,
  };
}
