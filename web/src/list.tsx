// A list that is searched by typing: the command palette, and pickers of metrics and runs.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

export interface Choice {
  id: string;
  label: string;
  /** At the right end: a unit, a key. */
  hint?: string;
  /** A word before the label: "Screen", "Metric". */
  kind?: string;
  chosen?: boolean;
  run: () => void;
}

const MOST_SHOWN = 200;

/** Every word must be in the text; earlier and at the beginning of a word is better. -1: no. */
export function matchScore(text: string, query: string): number {
  const lower = text.toLowerCase();
  let score = 0;
  for (const word of query.toLowerCase().split(/\s+/)) {
    if (word === '') continue;
    const at = lower.indexOf(word);
    if (at < 0) return -1;
    score += (at === 0 || /[^\p{L}\p{N}]/u.test(lower[at - 1]!) ? 0 : 100) + Math.min(at, 99);
  }
  return score;
}

export function filterChoices(choices: readonly Choice[], query: string): Choice[] {
  const scored: [number, Choice][] = [];
  for (const choice of choices) {
    const score = matchScore(`${choice.label} ${choice.kind ?? ''}`, query);
    if (score >= 0) scored.push([score, choice]);
  }
  return scored.sort(([a], [b]) => a - b).map(([, choice]) => choice);
}

export interface SearchListProps {
  choices: readonly Choice[];
  placeholder: string;
  onDone: () => void;
}

export function SearchList({ choices, placeholder, onDone }: SearchListProps) {
  const [query, setQuery] = useState('');
  const found = useMemo(() => filterChoices(choices, query), [choices, query]);
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      choices.findIndex((c) => c.chosen),
    ),
  );
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(
    () => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }),
    [at, found],
  );
  const take = (choice: Choice | undefined) => {
    if (!choice) return;
    onDone();
    setTimeout(choice.run); // when the dialog around it is gone, which takes the focus back
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const step = steps[event.key];
    if (step !== undefined) setAt((i) => Math.min(Math.min(found.length, MOST_SHOWN) - 1, Math.max(0, i + step)));
    else if (event.key === 'Enter') take(found[at]);
    else if (event.key === 'Escape') onDone();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="search-list" onKeyDown={onKeyDown}>
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-label={placeholder}
        placeholder={placeholder}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul ref={list} role="listbox" aria-label={placeholder}>
        {found.slice(0, MOST_SHOWN).map((choice, i) => (
          <li
            key={choice.id}
            role="option"
            aria-selected={i === at}
            class={choice.chosen ? 'chosen' : undefined}
            onMouseMove={() => setAt(i)}
            onClick={() => take(choice)}
          >
            {choice.kind && <span class="kind">{choice.kind}</span>}
            <span class="grow ellipsis">{choice.label}</span>
            {choice.hint && <span class="hint">{choice.hint}</span>}
          </li>
        ))}
        {found.length === 0 && <li class="empty">Nothing fits</li>}
        {found.length > MOST_SHOWN && <li class="empty">{`${found.length - MOST_SHOWN} more: type to find them`}</li>}
      </ul>
    </div>
  );
}
