// What --location calls the places somebody chose in a picture: "rank=0-3|8,thread=0".

export interface Named {
  kind: string;
  number: number | null;
  name: string | null;
}

export interface NamedPlace extends Named {
  /** The process it lies in, where there is one. */
  process: Named | null;
}

/** "0-3|8" of ascending numbers. */
export function rangesOf(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end]! + 1) end++;
    parts.push(end === i ? String(sorted[i]) : `${sorted[i]}-${sorted[end]}`);
    i = end + 1;
  }
  return parts.join('|');
}

/** A name as a pattern that means itself; what the words have a meaning for may be any character. */
const patternOf = (name: string): string => name.replace(/[*?[\]\\]/g, '\\$&').replace(/[,|=]/g, '?');

/** A process is a rank, whatever the source calls it. */
export const kindWord = (kind: string): string => (kind.toLowerCase() === 'process' ? 'rank' : kind);

/** "rank=0-3" of places of one kind; null where some have neither number nor name. */
export function termOf(places: readonly Named[]): string | null {
  const first = places[0];
  if (!first || !first.kind || places.some((p) => p.kind !== first.kind)) return null;
  if (places.every((p) => p.number !== null))
    return `${kindWord(first.kind)}=${rangesOf(places.map((p) => p.number!))}`;
  if (places.every((p) => p.name))
    return `${kindWord(first.kind)}=${[...new Set(places.map((p) => patternOf(p.name!)))].join('|')}`;
  return null;
}

const idOf = (p: Named): string => `${p.kind}\n${p.number ?? ''}\n${p.number === null ? (p.name ?? '') : ''}`;

/**
 * The words for the chosen ones of all places, or null: there are none for exactly these. All of them are the empty
 * word.
 */
export function wordsFor(chosen: readonly NamedPlace[], all: readonly NamedPlace[]): string | null {
  if (chosen.length === all.length) return '';
  if (chosen.length === 0) return null;
  const kind = chosen[0]!.kind;
  const ofKind = all.filter((p) => p.kind === kind);
  const within = chosen.filter((p) => p.kind === kind); // one word for places of one kind
  const processes = within.flatMap((p) => (p.process ? [p.process] : []));
  const count = (places: readonly Named[]): number => new Set(places.map(idOf)).size;
  const isSomeProcesses =
    processes.length === within.length &&
    count(processes) < count(ofKind.flatMap((p) => (p.process ? [p.process] : [])));
  const isSomePlaces = count(within) < count(ofKind) || ofKind.length < all.length;
  const terms: (string | null)[] = [];
  if (isSomeProcesses) terms.push(termOf(processes));
  if (isSomePlaces || !isSomeProcesses) terms.push(termOf(within));
  return terms.includes(null) ? null : terms.join(',');
}
