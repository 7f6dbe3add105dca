// How a metric lies over places: heat map, sorted curve, histogram, who is out of line; and the tree of locations.
// Brushing makes the location filter of all screens.
import { useMemo, useState } from 'preact/hooks';
import { isReport, useData } from '../api';
import { askedFor, askedOptions } from '../asked';
import { Failed, Waiting } from '../boundary';
import {
  exactValue,
  formatChange,
  formatCount,
  formatPercent,
  formatQuantity,
  formatValue,
  plural,
  real,
} from '../format';
import { useKeys } from '../keys';
import { readScreen, select, useScreen } from '../state';
import { toast } from '../toast';
import { Tooltip } from '../tooltip';
import {
  areProcesses,
  isOfProcesses,
  placesOf,
  wordsOf,
  type LocationsAnswer,
  type Places,
  type Statistics,
} from './locations-data';
import { BrushPlot, HeatLegend, HeatMap, quantityFor, scaleOf } from './locations-heat';
import { LocationTree } from './locations-tree';
import { commandLine, type Screen, type ScreenProps } from './screen';

const DEFAULTS = { tab: 'map', by: '', zero: false };

function Numbers({ places }: { places: Places }) {
  const { answer } = places;
  const s: Statistics | null = answer.selection ? answer.selection.statistics : answer.statistics;
  if (!s) return <div class="stats hint">No place has a value here.</div>;
  const quantity = quantityFor(places);
  const run = answer.over === 'runs' ? 'run ' : '';
  const show = (value: number): string => `${formatQuantity(quantity, value)} ${quantity.unit}`.trim();
  const n = answer.selection?.n ?? answer.n;
  const facts: [string, string, string][] = [
    ...(s.count < n
      ? [
          [
            'over',
            `${formatCount(s.count)} of ${formatCount(n)}`,
            'GPUs take part where they have a value, threads where one of them has',
          ] as [string, string, string],
        ]
      : []),
    ...(answer.adds_up
      ? [
          ['sum', formatValue(answer.unit, real(s.sum)), exactValue(answer.unit, real(s.sum))] as [
            string,
            string,
            string,
          ],
        ]
      : []),
    ['mean', show(s.mean), exactValue(answer.unit, s.mean)],
    ['std dev', show(s.stddev), exactValue(answer.unit, s.stddev)],
    ['min', `${show(real(s.min))} at ${run}${s.min_at}`, exactValue(answer.unit, real(s.min))],
    ['q1', show(s.q1), exactValue(answer.unit, s.q1)],
    ['median', show(s.median), exactValue(answer.unit, s.median)],
    ['q3', show(s.q3), exactValue(answer.unit, s.q3)],
    ['max', `${show(real(s.max))} at ${run}${s.max_at}`, exactValue(answer.unit, real(s.max))],
    ['imbalance', s.imbalance === null ? 'none' : `${formatPercent(s.imbalance)} %`, 'max / mean - 1'],
    ...(answer.adds_up
      ? [
          [
            'excess',
            formatValue(answer.unit, s.excess),
            `(max - mean) × ${s.count}: what perfect balance would save`,
          ] as [string, string, string],
        ]
      : []),
  ];
  return (
    <dl
      class="stats"
      aria-label={answer.selection ? `Statistics of ${answer.selection.label}` : 'Statistics of all locations'}
    >
      {facts.map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Tip({ places, cell, at }: { places: Places; cell: number; at: { x: number; y: number } }) {
  const { answer } = places;
  const c = places.cells[cell];
  if (!c) return null;
  const mean = answer.statistics?.mean ?? NaN;
  const name = answer.places?.name?.[cell];
  const process = answer.processes?.name[answer.places?.process?.[cell] ?? -1];
  return (
    <Tooltip at={at}>
      <div class="tip-title">{describe(places, cell)}</div>
      <div>
        <b>{Number.isNaN(c.value) ? 'no value' : formatValue(answer.unit, c.value)}</b>
        {c.many && ` mean of ${formatCount(c.many.n)}`}
        {Number.isFinite(c.value / mean) &&
          mean !== 0 &&
          `  ${formatPercent(Math.abs(c.value / mean - 1))} % ${c.value < mean ? 'below' : 'above'} the mean`}
      </div>
      {c.many && c.many.n > 0 && (
        <div class="hint">{`from ${exactValue(answer.unit, c.many.min)} to ${exactValue(answer.unit, c.many.max)}`}</div>
      )}
      {!c.many && !Number.isNaN(c.value) && <div class="hint">{`exact: ${exactValue(answer.unit, c.value)}`}</div>}
      {name && <div class="hint">{[process, name].filter(Boolean).join(', ')}</div>}
    </Tooltip>
  );
}

/** "thread 3.1", "process 3", "run 4", "rank 0–49, thread 3". */
function describe({ answer, cells, rowLabels, columnLabels, rowTitle, columnTitle }: Places, i: number): string {
  const c = cells[i]!;
  if (answer.over === 'runs') return `run ${c.label}`;
  const kind = areProcesses(answer) ? 'process' : (answer.kinds?.[answer.places?.kind?.[i] ?? -1] ?? '');
  if (!c.many) return c.label.toLowerCase().includes(kind.toLowerCase()) ? c.label : `${kind} ${c.label}`;
  return [
    rowLabels[c.row] && `${rowTitle || 'row'} ${rowLabels[c.row]}`,
    columnLabels[c.column] && `${columnTitle || 'column'} ${columnLabels[c.column]}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** --location takes ranks as they are: "3", "3.1". */
const isRank = (label: string): boolean => /^\d+(\.\d+)?$/.test(label);

function Outliers({ places, onPick }: { places: Places; onPick: (place: number, add: boolean) => void }) {
  const { answer } = places;
  const { low, high, label, value, place } = answer.outliers;
  const quantity = quantityFor(places);
  const median = answer.statistics?.median ?? 0;
  if (label.length === 0)
    return <p class="hint pad">Nobody is out of line: all lie within 1.5 times the distance of the quartiles.</p>;
  return (
    <>
      <p class="hint pad">{`${plural(low + high, answer.over === 'runs' ? 'run' : 'location')} out of line: ${formatCount(high)} above, ${formatCount(low)} below`}</p>
      <ul class="plain-list outliers">
        {label.map((name, i) => {
          const v = real(value[i]);
          const isHigh = v > median;
          return (
            <li key={place[i]}>
              <button
                class="row"
                title={exactValue(answer.unit, v)}
                disabled={!answer.places && !isRank(name)}
                onClick={(event) => (answer.places ? onPick(place[i]!, event.shiftKey) : select({ locations: name }))}
              >
                <span class={isHigh ? 'mark-high' : 'mark-low'} aria-hidden="true">
                  {isHigh ? '▲' : '▼'}
                </span>
                <span class="grow ellipsis">{answer.over === 'runs' ? `run ${name}` : name}</span>
                <span>{`${formatQuantity(quantity, v)} ${quantity.unit}`}</span>
                <span class="number share" title="of the median">
                  {median > 0 && `${formatChange(v / median - 1)} %`}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** The call path that is shown, for the command: only the answer knows its name. */
let shownPath: { context: number; path: string } | null = null;

/** The cell an arrow key leads to. */
function moved(places: Places, from: number, key: string): number {
  const c = places.cells[from];
  if (!c) return 0;
  const [dr, dc] = (
    { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] } as Record<string, [number, number]>
  )[key] ?? [0, 0];
  for (
    let r = c.row + dr, k = c.column + dc;
    r >= 0 && r < places.rows && k >= 0 && k < places.columns;
    r += dr, k += dc
  ) {
    const found = places.cells.findIndex((one) => one.row === r && one.column === k);
    if (found >= 0) return found;
  }
  return from;
}

function title(answer: LocationsAnswer): string {
  const n = formatCount(answer.n);
  if (answer.over === 'runs') return `${n} ${answer.n === 1 ? 'run' : 'runs'}`;
  if (answer.over === 'processes' || areProcesses(answer)) return plural(answer.n, 'process', 'processes');
  return `${plural(answer.n, 'location')}${isOfProcesses(answer) ? ` of ${plural(answer.n_processes, 'process', 'processes')}` : ''}`;
}

function Locations(props: ScreenProps) {
  const { input, selection } = props;
  const [view, setView] = useScreen('locations', DEFAULTS);
  const [hover, setHover] = useState<{ cell: number; at: { x: number; y: number } | null }>({ cell: -1, at: null });
  const [cursor, setCursor] = useState(-1);
  const params = {
    ...askedFor(props),
    ...(selection.node === null ? {} : { context: selection.node }),
    ...(selection.sides === 'exclusive' && selection.node !== null ? { kind: 'exclusive' } : {}),
    ...(view.by ? { by: view.by } : {}),
  };
  const { data, error } = useData<LocationsAnswer>('locations', params);
  const places = useMemo(() => (data ? placesOf(data) : null), [data]);
  shownPath = data && data.context !== null && data.path !== null ? { context: data.context, path: data.path } : null;
  const scale = useMemo(() => (places ? scaleOf(places, view.zero) : { low: 0, high: 1 }), [places, view.zero]);
  const hasRuns = input.runs.length > 1;
  const hasPlaces = input.has.locations > 1;
  const bys: [string, string][] = [
    ...(hasPlaces
      ? ([
          ['', 'Locations'],
          ['process', 'Processes'],
        ] as [string, string][])
      : []),
    ...(hasRuns ? ([[hasPlaces ? 'run' : '', 'Runs']] as [string, string][]) : []),
  ];

  const brush = (cells: Set<number>, add: boolean) => {
    if (!places || isReport()) return;
    if (places.answer.over === 'runs') {
      const id = places.answer.places?.id[[...cells][0]!];
      if (cells.size === 1 && id !== undefined) select({ run: id });
      return;
    }
    const chosen = new Set(cells);
    if (add && places.hasSelection) {
      places.cells.forEach((c, i) => {
        if (c.isSelected && !cells.has(i)) chosen.add(i);
        else if (c.isSelected) chosen.delete(i);
      });
    }
    const words = wordsOf(places, chosen);
    if (words === null) return toast('There are no words for just these locations: choose whole rows, or fewer.');
    select({ locations: words === '' ? null : words });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!places || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith('Arrow')) setCursor((i) => (i < 0 ? 0 : moved(places, i, event.key)));
    else if ((event.key === 'Enter' || event.key === ' ') && cursor >= 0) brush(new Set([cursor]), event.shiftKey);
    else if (event.key === 'Escape') select({ locations: null });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  useKeys('Locations', [
    { key: '1', label: 'Heat map, curve and histogram', run: () => setView({ tab: 'map' }) },
    { key: '2', label: 'Tree of locations', run: () => setView({ tab: 'tree' }) },
    { key: 'z', label: 'Colours from 0, or from the smallest value', run: () => setView({ zero: !view.zero }) },
    {
      key: 'p',
      label: 'Locations, processes or runs',
      run: () => setView({ by: bys[(bys.findIndex(([id]) => id === view.by) + 1) % bys.length]?.[0] ?? '' }),
    },
    { key: 'w', label: 'The whole program instead of one call path', run: () => select({ node: null }) },
    {
      key: 'ArrowDown',
      label: 'Into the picture: arrows move, Enter selects',
      run: () => document.querySelector<HTMLElement>('.heat-box canvas, .vtable')?.focus(),
    },
    { key: 'Escape', label: 'All locations', run: () => select({ locations: null }) },
  ]);
  const shown = hover.cell >= 0 ? hover.cell : cursor;
  const said =
    places && shown >= 0 && places.cells[shown]
      ? `${describe(places, shown)}: ${formatValue(places.answer.unit, places.cells[shown]!.value)}`
      : '';
  const isTree = view.tab === 'tree' && data?.over !== 'runs';
  return (
    <div class="fill">
      <div class="toolbar">
        <div class="segmented" role="group" aria-label="Picture">
          <button
            aria-pressed={!isTree}
            title="Heat map, curve and histogram (1)"
            onClick={() => setView({ tab: 'map' })}
          >
            Heat map
          </button>
          {hasPlaces && (
            <button aria-pressed={isTree} title="Tree of locations (2)" onClick={() => setView({ tab: 'tree' })}>
              System tree
            </button>
          )}
        </div>
        {bys.length > 1 && (
          <div class="segmented" role="group" aria-label="Compare">
            {bys.map(([id, name]) => (
              <button
                key={id}
                aria-pressed={view.by === id}
                title={`Compare ${name.toLowerCase()} (p)`}
                onClick={() => setView({ by: id })}
              >
                {name}
              </button>
            ))}
          </div>
        )}
        {data && (
          <span class="path ellipsis" title={data.path ?? undefined}>
            <b>{data.path ?? 'the whole program'}</b>
            <span class="hint">{`  ${data.path ? `${data.kind}, ` : ''}${title(data)}${data.run ? `, ${data.run}` : ''}`}</span>
          </span>
        )}
        {selection.node !== null && (
          <button class="quiet" title="The whole program (w)" onClick={() => select({ node: null })}>
            whole program
          </button>
        )}
        <span class="grow" />
        {data?.selection && <span class="flame-found">{`${plural(data.selection.n, 'location')} chosen`}</span>}
      </div>
      {error && <Failed failure={error} />}
      {!error && !places && <Waiting />}
      {!error && places && (
        <>
          <Numbers places={places} />
          {isTree ? (
            <LocationTree params={params} />
          ) : (
            <div class="heat-page">
              <div class="heat-main">
                <HeatMap
                  places={places}
                  {...scale}
                  cursor={cursor}
                  hovered={hover.cell}
                  onBrush={brush}
                  onHover={(cell, at) => setHover({ cell, at })}
                  onKeyDown={onKeyDown}
                  label={`Heat map of ${places.answer.metric} over ${title(places.answer)}`}
                />
                <HeatLegend places={places} {...scale}>
                  <label class="hint">
                    <input
                      type="checkbox"
                      checked={view.zero}
                      onChange={(event) => setView({ zero: event.currentTarget.checked })}
                    />
                    {' from 0'}
                  </label>
                  <span class="hint grow" role="status" aria-live="polite">
                    {said ||
                      (isReport() || places.answer.over === 'runs'
                        ? ''
                        : 'Drag to filter all screens; Shift adds; Esc takes it back.')}
                  </span>
                </HeatLegend>
              </div>
              <div class="heat-side">
                <h3>By size</h3>
                <div class="heat-plot">
                  <BrushPlot
                    kind="curve"
                    places={places}
                    hovered={hover.cell}
                    onBrush={brush}
                    onHover={(cell, at) => setHover({ cell, at })}
                  />
                </div>
                <h3>Histogram</h3>
                <div class="heat-plot">
                  {places.answer.histogram ? (
                    <BrushPlot
                      kind="histogram"
                      places={places}
                      hovered={hover.cell}
                      onBrush={brush}
                      onHover={(cell, at) => setHover({ cell, at })}
                    />
                  ) : (
                    <p class="hint pad">All values are the same.</p>
                  )}
                </div>
                <h3>Out of line</h3>
                <div class="heat-list">
                  <Outliers places={places} onPick={(place, add) => brush(new Set([place]), add)} />
                </div>
              </div>
            </div>
          )}
        </>
      )}
      {places && hover.cell >= 0 && hover.at && !isTree && <Tip places={places} cell={hover.cell} at={hover.at} />}
    </div>
  );
}

export const locations: Screen = {
  id: 'locations',
  title: 'Locations',
  key: 'l',
  available: (_, input) => input.has.locations > 1 || input.runs.length > 1,
  hasSides: true,
  component: Locations,
  command: (props) => {
    const { node, sides } = props.selection;
    return commandLine('stat', [props.input.path], {
      ...askedOptions(props),
      context: shownPath && shownPath.context === node ? shownPath.path : undefined,
      inclusive: sides === 'inclusive',
      by: readScreen('locations', DEFAULTS).by || (props.input.has.locations > 1 ? null : 'run'),
    });
  },
};
