// Two inputs against each other: one tree of what changed, one flame graph, A against B.
import { isReport, type Opened, type Params } from '../api';
import { Failed, Waiting } from '../boundary';
import { formatChange, formatCount, formatValue, plural, real } from '../format';
import { formulasFor } from '../formulas';
import { useKeys } from '../keys';
import { openMenu } from '../menu';
import { Picker } from '../picker';
import { runWords } from '../shown';
import { navigate, readScreen, select, useScreen } from '../state';
import { copyText } from '../toast';
import {
  canCompare,
  chosenRuns,
  compareParams,
  DEFAULTS,
  NOTHING_FOUND,
  pairsOf,
  readable,
  runsOf,
  shownSide,
  sidesOf,
  sureText,
  type CompareAnswer,
  type View,
} from './compare-data';
import { ComparisonFlame } from './compare-flame';
import { ComparisonScatter } from './compare-scatter';
import { ComparisonTable, useComparison, type PartProps } from './compare-tree';
import { commandLine, type Screen, type ScreenProps } from './screen';

const TABS: [string, string][] = [
  ['tree', 'Tree'],
  ['functions', 'Functions'],
  ['flame', 'Flame'],
  ['scatter', 'Scatter'],
];
const NOISES = [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];

interface SideProps {
  label: string;
  side: Opened;
  all: Opened[];
  onChoose: (id: number) => void;
  /** As --run takes it; '': as usual, which is `usual`. */
  run: string;
  usual: string;
  onRun: (run: string) => void;
}

function SidePicker({ label, side, all, onChoose, run, usual, onRun }: SideProps) {
  // Of one name, their paths tell them apart, or their places in the list
  const nameOf = (i: Opened) =>
    all.every((o) => o.id === i.id || o.name !== i.name)
      ? i.name
      : all.every((o) => o.id === i.id || o.path !== i.path)
        ? i.path
        : `${i.name} (${i.id + 1})`;
  const runs = isReport() ? [] : [{ word: '', label: 'as usual' }, ...runsOf(side)];
  return (
    <div class={runs.length > 2 ? 'compare-side both' : 'compare-side'}>
      <Picker
        label={label}
        value={nameOf(side)}
        choices={all.map((i) => ({
          id: String(i.id),
          label: nameOf(i),
          hint: i.format_title ?? '',
          chosen: i.id === side.id,
          run: () => onChoose(i.id),
        }))}
      />
      {runs.length > 2 && (
        <Picker
          label={`Run of ${label}`}
          value={runs.find((r) => r.word && r.word === run)?.label ?? usual}
          choices={runs.map((r, i) => ({
            id: `${i}`,
            label: r.label,
            chosen: r.word === run,
            run: () => onRun(r.word),
          }))}
        />
      )}
    </div>
  );
}

/** "13.49 s → 15.66 s, +2.17 s (+16.1 %)", and what to think of it. */
function Summary({ answer, noise }: { answer: CompareAnswer; noise: number }) {
  const { a, b, verdict } = answer;
  if (a.metric === null || b.metric === null || a.total === null || b.total === null)
    return (
      <span class="hint">
        {answer.metric === null
          ? 'The two have no metric in common: only names are compared.'
          : `Only one of both has ${answer.metric}.`}
      </span>
    );
  const from = real(a.total) * answer.scale;
  const change = real(b.total) - from;
  const relative = change === 0 ? 0 : change / Math.abs(from);
  const isSame = verdict ? NOTHING_FOUND.has(verdict.outcome) : change === 0 || Math.abs(relative) * 100 < noise;
  const words = verdict
    ? verdict.outcome
    : change === 0
      ? 'no change'
      : isSame
        ? 'within the noise'
        : change > 0
          ? 'more'
          : 'less';
  const sure = verdict ? sureText(verdict) : undefined;
  return (
    <span class="compare-summary" role="status">
      {a.metric !== b.metric && (
        <span class="picker-label ellipsis" title={`${a.metric} / ${b.metric}`}>{`${a.metric} / ${b.metric}`}</span>
      )}
      <span
        title={`${a.total} → ${b.total}`}
      >{`${formatValue(answer.unit, a.total)} → ${formatValue(answer.unit, b.total)}`}</span>
      <b
        class={isSame ? 'hint' : change > 0 ? 'more' : 'less'}
      >{`${change > 0 ? '+' : ''}${formatValue(answer.unit, change)}${Number.isFinite(relative) ? ` (${formatChange(relative)} %)` : ''}`}</b>
      <span class={isSame ? 'side-badge' : change > 0 ? 'side-badge more' : 'side-badge less'} title={sure}>
        {words}
      </span>
    </span>
  );
}

function OnlyButton({ side, only }: { side: 'A' | 'B'; only: CompareAnswer['only_a'] }) {
  if (only.n === 0) return null;
  return (
    <button
      class="quiet"
      title={`Functions that only ${side} has`}
      onClick={(event) =>
        openMenu(
          event,
          only.names
            .slice(0, 30)
            .map((name) => ({ label: name ?? '(unknown)', run: () => select({ search: name ?? '' }) })),
        )
      }
    >
      {`${formatCount(only.n)} only ${side}`}
    </button>
  );
}

function ThresholdSlider({
  answer,
  view,
  setView,
}: {
  answer: CompareAnswer | null;
  view: View;
  setView: (patch: Partial<View>, how?: 'push' | 'replace') => void;
}) {
  const at = NOISES.findIndex((n) => n >= view.noise);
  const n = answer?.locations ?? 0;
  const [basis, tip] = answer?.rows.verdict
    ? [' · repetitions', '; where there are repetitions, what assay compare cannot tell from noise']
    : n > 0
      ? [
          ` · ${n} locations`,
          `, and those within the spread over ${n} locations: at least a quarter of them has less, and a quarter has more`,
        ]
      : ['', ''];
  return (
    <label class="inline" title={`Changes below this part of the whole are grey${tip}`}>
      <span class="picker-label">noise</span>
      <input
        type="range"
        min={0}
        max={NOISES.length - 1}
        value={at < 0 ? NOISES.length - 1 : at}
        aria-label="Changes that count as noise"
        aria-valuetext={`${view.noise} %`}
        onInput={(event) => setView({ noise: NOISES[Number(event.currentTarget.value)] ?? 1 }, 'replace')}
      />
      <span class="noise-value">{`${view.noise} %${basis}`}</span>
    </label>
  );
}

/** Instead of a picture: why there is none, and what can be compared. */
function NoPicture({ answer, sides }: { answer: CompareAnswer; sides: [Opened, Opened] }) {
  if (answer.metric !== null && answer.a.metric !== null && answer.b.metric !== null)
    return (
      <div class="message">{`Values of ${answer.metric} do not add up, so that there is no flame graph of them. Choose another metric.`}</div>
    );
  const pairs = pairsOf(sides);
  return (
    <div class="message">
      <p>{`${answer.metric === null ? 'The two have no metric in common' : `Only ${answer.a.metric === null ? 'B' : 'A'} has ${answer.metric}`}. ${pairs.length > 0 ? 'These can be compared, as their units are the same:' : 'No metric of A has the unit of one of B: Tree and Functions compare names.'}`}</p>
      {pairs.slice(0, 12).map(([m, n]) => (
        <button
          class="row"
          onClick={() =>
            navigate({ d: String(sides[0].id), m: m.name, 'compare.metric_b': m.name === n.name ? null : n.name })
          }
        >
          {`${m.name} → ${n.name}`}
          <span class="hint">{m.unit}</span>
        </button>
      ))}
    </div>
  );
}

/** Both have roots of their own, and no more. */
const isDisjoint = ({ rows, lists, found }: CompareAnswer): boolean =>
  found === null &&
  lists[0]?.node === -1 &&
  lists[0].rows > 0 &&
  rows.in.slice(0, lists[0].rows).every((side) => side !== 3);

function commandOptions(
  { input, inputs, metric, selection }: ScreenProps,
  view: View,
): Record<string, string | string[] | null> {
  const sides = sidesOf(inputs, view);
  const [a, b] = sides ? chosenRuns(sides, view) : [];
  const chosen = metric && !metric.is_main ? metric.name : null;
  const pair: Record<string, string | null> = view.metric_b
    ? { 'metric-a': chosen ?? sides?.[0].metrics.find((m) => m.is_main)?.name ?? null, 'metric-b': view.metric_b }
    : { metric: chosen };
  return {
    ...pair,
    derive: formulasFor(input, Object.values(pair)),
    run: runWords(input, selection),
    'run-a': a || null,
    'run-b': b || null,
    location: selection.locations,
  };
}

/** `assay diff A B …`, of the flame graph the amounts of `assay flame --diff`. */
function diffCommand(props: ScreenProps): string {
  const view = readScreen('compare', DEFAULTS);
  const sides = sidesOf(props.inputs, view);
  const paths = (sides ?? []).map((s) => s.path);
  const options = commandOptions(props, view);
  if (view.tab === 'flame')
    return commandLine('flame', ['--diff', ...paths], { folded: true, ...options, normalize: view.normalize });
  const sorts: Record<string, string> = { relative: 'relative', base: 'base', target: 'target', name: 'name' };
  return commandLine('diff', paths, {
    ...options,
    flat: view.tab === 'functions',
    sort: sorts[view.sort] ?? null,
    ...(view.hide ? { 'min-change': view.noise } : { all: view.tab !== 'scatter' }),
  });
}

/** Whose verdicts are those of the page: of one metric, with what call paths call. */
function compareCommand(props: ScreenProps, { a: from, b: to }: Pick<CompareAnswer, 'a' | 'b'>): string {
  const view = readScreen('compare', DEFAULTS);
  const sides = sidesOf(props.inputs, view);
  const { run, 'run-a': a, 'run-b': b } = commandOptions(props, view);
  return commandLine(
    'compare',
    (sides ?? []).map((s) => s.path),
    {
      ...(from.metric === to.metric ? { metric: from.metric } : { 'metric-a': from.metric, 'metric-b': to.metric }),
      inclusive: true,
      'run-a': a ?? run,
      'run-b': b ?? run,
    },
  );
}

function Comparison(props: ScreenProps & { sides: [Opened, Opened] }) {
  const { inputs, selection, sides } = props;
  const [view, setView] = useScreen('compare', DEFAULTS);
  const [a, b] = sides;
  const all = readable(inputs);
  const isFlat = view.tab === 'functions';
  const isTable = view.tab !== 'flame' && view.tab !== 'scatter';
  const side = shownSide(sides, selection);
  const chosen: PartProps['chosen'] =
    side >= 0 && selection.node !== null ? { side: side as 0 | 1, context: selection.node } : null;
  const params = compareParams(props, sides, view);
  const search = selection.search.trim();
  const tableParams: Params = {
    ...params,
    view: isFlat ? 'flat' : null,
    sort: view.sort || null,
    order: view.order || null,
    match: search || null,
    min_change: view.hide && view.noise > 0 ? view.noise : null,
  };
  const comparison = useComparison(
    tableParams,
    JSON.stringify([a.id, b.id, isFlat, view.hide]),
    chosen,
    isFlat ? '' : view.open,
  );
  const answer = comparison.loaded?.answer ?? null;
  // What a number of a node means changes with the pair
  const pair = (next: Partial<View>) => setView({ row: -1, root: -1, open: '', metric_b: '', ...next });
  const [runA, runB] = chosenRuns(sides, view);
  const swap = () => pair({ a: b.id, b: a.id, run_a: runB, run_b: runA });
  const canBoth = (id: number) => runsOf(all.find((i) => i.id === id)!).length > 1;
  const setTab = (tab: string) => setView({ tab, row: (tab === 'functions') === isFlat ? view.row : -1 });
  const onChoose: PartProps['onChoose'] = (node, contexts) => {
    // After a swap the old answer stays for a moment: its contexts are those of the other side
    if (answer?.a.d !== a.id || answer.b.d !== b.id) return;
    const own = side >= 0 ? contexts[side]! : null;
    navigate(
      { 'compare.row': String(node), ...(side < 0 ? {} : { sel: own === null ? null : String(own) }) },
      'replace',
    );
  };
  useKeys('Compare', [
    // There is one comparison in a report
    { key: 'x', label: 'Swap A and B', isLive: true, run: swap },
    { key: 'i', label: 'Only what changed', isLive: true, run: () => setView({ hide: !view.hide }) },
    {
      key: 'o',
      label: 'Normalised: the same sum on both sides',
      isLive: true,
      run: () => setView({ normalize: !view.normalize }),
    },
    { key: '1', label: 'Tree', run: () => setTab('tree') },
    { key: '2', label: 'Functions', run: () => setTab('functions') },
    { key: '3', label: 'Flame graph of both', run: () => setTab('flame') },
    { key: '4', label: 'Scatter: A against B', run: () => setTab('scatter') },
  ]);
  const chooseA = (id: number) => pair({ a: id, b: id === b.id && !canBoth(id) ? a.id : b.id, run_a: '' });
  const chooseB = (id: number) => pair({ b: id, a: id === a.id && !canBoth(id) ? b.id : a.id, run_b: '' });
  const after = (id: number) => all[(all.findIndex((i) => i.id === id) + 1) % all.length]!.id;
  useKeys(
    'Inputs',
    all.length < 3
      ? []
      : [
          { key: 'A', label: 'The next input as A', run: () => chooseA(after(a.id)) },
          { key: 'B', label: 'The next input as B', run: () => chooseB(after(b.id)) },
        ],
  );
  // Pictures need numbers of both; what is known of this pair says whether there are some
  const isKnown = answer?.a.d === a.id && answer.b.d === b.id;
  const hasPicture =
    !answer || (answer.a.metric !== null && answer.b.metric !== null && (view.tab === 'scatter' || answer.adds_up));
  const part: PartProps = { params, view, setView, search, chosen, onChoose };
  const otherMetrics = (): string[] => b.metrics.map((m) => m.name);
  return (
    <div class="fill">
      <div class="toolbar compare-bar" role="toolbar" aria-label="What is compared">
        <SidePicker
          label="A"
          side={a}
          all={all}
          onChoose={chooseA}
          run={runA}
          usual={answer?.a.run || 'as usual'}
          onRun={(run_a) => pair({ run_a, run_b: runB })}
        />
        <button title="Swap A and B (x)" aria-label="Swap A and B" disabled={isReport()} onClick={swap}>
          ⇄
        </button>
        <SidePicker
          label="B"
          side={b}
          all={all}
          onChoose={chooseB}
          run={runB}
          usual={answer?.b.run || 'as usual'}
          onRun={(run_b) => pair({ run_a: runA, run_b })}
        />
        {answer && <Summary answer={answer} noise={view.noise} />}
        {answer && (
          <span class="only">
            <OnlyButton side="A" only={answer.only_a} />
            <OnlyButton side="B" only={answer.only_b} />
          </span>
        )}
      </div>
      <div class="toolbar" role="toolbar" aria-label="How it is shown">
        <div class="segmented" role="group" aria-label="View">
          {TABS.map(([id, title], i) => (
            <button key={id} aria-pressed={view.tab === id} title={`${title} (${i + 1})`} onClick={() => setTab(id)}>
              {title}
            </button>
          ))}
        </div>
        <ThresholdSlider answer={answer} view={view} setView={setView} />
        {isTable && (
          <button
            aria-pressed={view.hide}
            title="Leave out what changed less (i)"
            disabled={isReport()}
            onClick={() => setView({ hide: !view.hide })}
          >
            Only changes
          </button>
        )}
        <button
          aria-pressed={view.normalize}
          title="Scale A so that both have the same sum (o)"
          disabled={isReport() || !answer?.adds_up}
          onClick={() => setView({ normalize: !view.normalize })}
        >
          Normalised
        </button>
        {view.tab === 'scatter' && (
          <div class="segmented" role="group" aria-label="Points">
            {(['paths', 'functions'] as const).map((id) => (
              <button key={id} aria-pressed={view.points === id} onClick={() => setView({ points: id, row: -1 })}>
                {id === 'paths' ? 'Call paths' : 'Functions'}
              </button>
            ))}
          </div>
        )}
        <span class="grow" />
        {answer?.found !== null && answer?.found !== undefined && (
          <span role="status">{answer.found === 0 ? 'no match' : plural(answer.found, 'match', 'matches')}</span>
        )}
        {answer && view.tab !== 'functions' && isDisjoint(answer) && (
          <button
            class="quiet"
            title="The call trees begin with other functions: no path is of both"
            onClick={() => setTab('functions')}
          >
            No call path is of both: compare functions
          </button>
        )}
        <span class="hint compare-hint" title={answer ? `${answer.a.run} → ${answer.b.run}` : ''}>
          {answer
            ? [answer.a.location, plural(answer.items, isFlat ? 'function' : 'call path')].filter(Boolean).join(' · ')
            : ''}
        </span>
        <button
          title="Copying, other metrics"
          aria-label="More"
          onClick={(event) =>
            openMenu(event, () => [
              {
                label: 'Copy as command: diff',
                hint: 'y',
                run: () => void copyText(diffCommand(props), 'Command copied'),
              },
              ...(answer
                ? [
                    {
                      label: 'Copy as command: compare',
                      run: () => void copyText(compareCommand(props, answer), 'Command copied'),
                    },
                  ]
                : []),
              ...(answer && answer.a.metric !== null && otherMetrics().length > 1
                ? ([
                    'line',
                    ...otherMetrics().map((name) => ({
                      label: `B: ${name}`,
                      checked: (readScreen('compare', DEFAULTS).metric_b || answer.a.metric) === name,
                      run: () => setView({ metric_b: name === answer.a.metric ? '' : name }),
                    })),
                  ] as const)
                : []),
            ])
          }
        >
          ⋯
        </button>
      </div>
      {isTable ? (
        <ComparisonTable {...part} comparison={comparison} sides={sides} shown={side < 0 ? 0 : (side as 0 | 1)} />
      ) : comparison.error && !isReport() ? (
        <Failed failure={comparison.error} />
      ) : !isKnown && !comparison.error ? (
        <Waiting />
      ) : !hasPicture ? (
        <NoPicture answer={answer!} sides={sides} />
      ) : view.tab === 'flame' ? (
        <ComparisonFlame {...part} />
      ) : (
        <ComparisonScatter
          {...part}
          isFlat={view.points === 'functions'}
          isInclusive={selection.sides === 'inclusive'}
        />
      )}
    </div>
  );
}

function Compare(props: ScreenProps) {
  const sides = sidesOf(props.inputs, readScreen('compare', DEFAULTS));
  return sides ? (
    <Comparison {...props} sides={sides} />
  ) : (
    <div class="message">
      Two inputs with call trees are needed, or one with several runs. Drop another file onto the page.
    </div>
  );
}

export const compare: Screen = {
  id: 'compare',
  title: 'Compare',
  key: 'c',
  available: canCompare,
  component: Compare,
  command: diffCommand,
};
