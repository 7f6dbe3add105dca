// Above the screen: tabs, search, actions; below them what is chosen, as pickers and chips.
import { useEffect, useRef } from 'preact/hooks';
import { isReport, type Inputs, type Metric, type Opened } from './api';
import { Icon } from './icons';
import { findKey, NEXT_MATCH } from './keys';
import type { Choice } from './list';
import { Picker } from './picker';
import type { Screen } from './screens/screen';
import { select, type Selection } from './state';
import { setTheme, useTheme, type Theme } from './theme';
import { focusTable } from './vtable';

const NEXT_THEME: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const THEME_ICONS: Record<Theme, string> = { auto: 'auto', light: 'sun', dark: 'moon' };

export const nextTheme = (theme: Theme): void => setTheme(NEXT_THEME[theme]);

export interface TopBarProps {
  inputs: Inputs | null;
  input: Opened | null;
  screens: readonly Screen[];
  screen: Screen;
  selection: Selection;
  onScreen: (id: string) => void;
  onPalette: () => void;
  onHelp: () => void;
  onCopyLink: () => void;
  onCopyCommand: () => void;
  searchRef: { current: HTMLInputElement | null };
}

function SearchBox({ search, searchRef }: { search: string; searchRef: TopBarProps['searchRef'] }) {
  // One step back takes the whole search away, not its last letter
  const begun = useRef(false);
  useEffect(() => {
    if (search === '') begun.current = false;
  }, [search]);
  return (
    <label class="search">
      <Icon name="search" />
      <input
        ref={searchRef}
        type="search"
        placeholder="Search  /"
        aria-label="Search names"
        spellcheck={false}
        value={search}
        onInput={(event) => {
          select({ search: event.currentTarget.value }, begun.current ? 'replace' : 'push');
          begun.current = true;
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          event.currentTarget.blur();
          focusTable(document.getElementById('screen'));
          const next = findKey('n', null, false);
          if (next?.label === NEXT_MATCH) next.run(event);
        }}
      />
    </label>
  );
}

export function TopBar(props: TopBarProps) {
  const { theme } = useTheme();
  return (
    <header class="topbar">
      <nav class="tabs" role="tablist" aria-label="Screens">
        {props.screens.map((s) => (
          <button
            key={s.id}
            role="tab"
            aria-selected={s === props.screen}
            title={`${s.title} (g ${s.key})`}
            onClick={() => props.onScreen(s.id)}
          >
            {s.title}
          </button>
        ))}
      </nav>
      <span class="grow" />
      <SearchBox search={props.selection.search} searchRef={props.searchRef} />
      <button class="quiet palette-button" title="All commands (Ctrl-K)" onClick={props.onPalette}>
        <kbd>Ctrl K</kbd>
      </button>
      <button
        class="quiet"
        title="Copy as command (y)"
        aria-label="Copy as command"
        disabled={!props.screens.includes(props.screen)}
        onClick={props.onCopyCommand}
      >
        <Icon name="command" />
      </button>
      <button class="quiet" title="Copy link (Y)" aria-label="Copy link" onClick={props.onCopyLink}>
        <Icon name="link" />
      </button>
      <button class="quiet" title={`Theme: ${theme}`} aria-label={`Theme: ${theme}`} onClick={() => nextTheme(theme)}>
        <Icon name={THEME_ICONS[theme]} />
      </button>
      <button class="quiet" title="Keys (?)" aria-label="Keys" onClick={props.onHelp}>
        <Icon name="help" />
      </button>
    </header>
  );
}

/** How many metrics this one is a part of, one of the other. */
function depthOf(metrics: readonly Metric[], metric: Metric): number {
  let depth = 0;
  for (
    let at: Metric | undefined = metric;
    typeof at?.parent === 'number' && depth < 9 && (at = metrics.find((m) => m.id === at!.parent));
  )
    depth++;
  return depth;
}

/** Its unit, where the name has none: "CPUTIME (sec)". */
const unitHint = (m: Metric): string => (m.name.endsWith(`(${m.unit})`) ? '' : (m.unit ?? ''));

export function metricChoices(input: Opened, chosen: Metric | null): Choice[] {
  return input.metrics.map((m) => ({
    id: `m${m.id}`,
    label: '\u2003'.repeat(depthOf(input.metrics, m)) + (m.display_name || m.name),
    hint: unitHint(m),
    chosen: m === chosen,
    run: () => select({ metric: m.name }),
  }));
}

function PointPicker({ input, selection }: { input: Opened; selection: Selection }) {
  if (input.points.length < 2) return null;
  const chosen = input.points.find((p) => p.id === selection.point);
  const usual = input.runs.some((r) => r.point !== null) ? 'largest' : 'all points'; // as --run has it
  const choices: Choice[] = [
    { id: 'all', label: usual, chosen: !chosen, run: () => select({ point: null, run: null }) },
    ...input.points.map((p) => ({
      id: String(p.id),
      label: p.label,
      chosen: p === chosen,
      run: () => select({ point: p.id, run: null }),
    })),
  ];
  return <Picker label="Point" value={chosen?.label ?? usual} choices={choices} />;
}

function RunPicker({ input, selection }: { input: Opened; selection: Selection }) {
  const runs = selection.point === null ? input.runs : input.runs.filter((r) => r.point === selection.point);
  if (runs.length < 2) return null;
  const chosen = runs.find((r) => r.id === selection.run);
  const choices: Choice[] = [
    { id: 'all', label: 'all runs', chosen: !chosen, run: () => select({ run: null }) },
    ...runs.map((r) => ({ id: String(r.id), label: r.label, chosen: r === chosen, run: () => select({ run: r.id }) })),
  ];
  return <Picker label="Run" value={chosen?.label ?? 'all runs'} choices={choices} />;
}

function Chip({ label, value, onRemove }: { label: string; value: string; onRemove: () => void }) {
  return (
    <span class="chip">
      <span class="picker-label">{label}</span>
      <span class="ellipsis">{value}</span>
      <button class="quiet" aria-label={`Remove ${label.toLowerCase()}`} onClick={onRemove}>
        ✕
      </button>
    </span>
  );
}

export interface FilterBarProps {
  input: Opened;
  screen: Screen;
  metric: Metric | null;
  selection: Selection;
  /** A formula of the address that says nothing here. */
  failed: { text: string; error: string | null } | undefined;
  onFormulas: () => void;
}

export function FilterBar({ input, screen, metric, selection, failed, onFormulas }: FilterBarProps) {
  const hasRuns = !isReport() && screen.without !== 'runs';
  return (
    <div class="filterbar" role="toolbar" aria-label="What is shown">
      {metric && screen.without !== 'metric' && (
        <Picker
          label="Metric"
          value={metric.display_name || metric.name}
          hint={unitHint(metric)}
          choices={[
            ...metricChoices(input, metric),
            ...(isReport() ? [] : [{ id: 'formula', label: 'of a formula …', hint: '=', run: onFormulas }]),
          ]}
        />
      )}
      {metric && screen.hasSides && (
        <div class="segmented" role="group" aria-label="Values">
          {(['inclusive', 'exclusive'] as const).map((sides) => (
            <button key={sides} aria-pressed={selection.sides === sides} onClick={() => select({ sides })}>
              {sides}
            </button>
          ))}
        </div>
      )}
      {hasRuns && <PointPicker input={input} selection={selection} />}
      {hasRuns && <RunPicker input={input} selection={selection} />}
      {failed && (
        <button class="badge bad ellipsis" title={failed.error ?? ''} onClick={onFormulas}>
          {failed.error}
        </button>
      )}
      {selection.locations !== null && (
        <Chip label="Locations" value={selection.locations} onRemove={() => select({ locations: null })} />
      )}
    </div>
  );
}
