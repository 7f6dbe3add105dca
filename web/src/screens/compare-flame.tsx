// Both inputs as one flame graph: as wide as the larger of both, as A or as B; colours tell what changed.
import { useMemo } from 'preact/hooks';
import { isReport, useData, type Params } from '../api';
import { Failed, Waiting } from '../boundary';
import { css, diverging, type Rgb } from '../colors';
import { FlameCanvas } from '../flamecanvas';
import { cutText, layOut } from '../flamelayout';
import { exactValue, finiteSize, formatChange, formatCount, formatValue, plural } from '../format';
import { useKeys } from '../keys';
import { openMenu } from '../menu';
import { useTheme } from '../theme';
import { copyText } from '../toast';
import {
  changeColor,
  changeOf,
  noiseOf,
  relativeOf,
  spreadAt,
  spreadText,
  type CompareFlameAnswer,
  type Head,
} from './compare-data';
import type { PartProps } from './compare-tree';

const SHOWN: [string, string][] = [
  ['both', 'Both'],
  ['a', 'A'],
  ['b', 'B'],
];

/** Sides differ: a word for it, or the percentage. */
export function changeText(a: number, b: number, relative: number): string {
  if (a === 0 && b !== 0) return 'only in B';
  if (b === 0 && a !== 0) return 'only in A';
  return a === b ? 'no change' : `${formatChange(relative)} %`;
}

/** Which colour is which change: B as so many times A; grey what is noise. */
function Legend({ head, percent, isDark }: { head: Head; percent: number; isDark: boolean }) {
  const steps = Array.from({ length: 9 }, (_, i) => i / 4 - 1);
  return (
    <span class="change-scale" role="img" aria-label="Blue: less in B. Grey: no change. Orange and red: more in B.">
      <span>less ×0.4</span>
      <span class="change-ramp">
        {steps.map((t) => (
          <span
            key={t}
            title={
              t === 0
                ? 'noise'
                : `B is ${(2 ** (t / 0.75)).toFixed(2)} times A${Math.abs(t) === 1 ? ` or ${t < 0 ? 'less, or gone' : 'more, or new'}` : ''}`
            }
            style={{ background: css(diverging(t, isDark)) }}
          />
        ))}
      </span>
      <span>×2.5 more</span>
      <span>{`· grey: below ${formatValue(head.unit, noiseOf(head, percent))}${head.locations > 0 ? ' or within the spread' : ''}`}</span>
    </span>
  );
}

export function ComparisonFlame({ params, view, setView, search, chosen, onChoose }: PartProps) {
  const { isDark } = useTheme();
  const shared: Params = { ...params, match: search && !isReport() ? search : null };
  const whole = useData<CompareFlameAnswer>('compare_flame', shared);
  const wantsRoot = view.root >= 0 && !isReport();
  const part = useData<CompareFlameAnswer>(wantsRoot ? 'compare_flame' : null, { ...shared, root: view.root });
  const answer = wantsRoot ? (part.data ?? whole.data) : whole.data;
  const error = wantsRoot && part.error ? part.error : whole.error;
  const shapes = answer?.shapes;
  const boxes = useMemo(
    () =>
      shapes
        ? layOut(shapes.parent, view.shown === 'a' ? shapes.a : view.shown === 'b' ? shapes.b : shapes.value)
        : null,
    [shapes, view.shown],
  );
  const noise = answer ? noiseOf(answer, view.noise) : 0;
  const color = useMemo(
    () =>
      (i: number, dark: boolean): Rgb =>
        answer
          ? changeColor(answer, answer.shapes.a[i]!, answer.shapes.b[i]!, noise, spreadAt(answer.shapes, i), dark)
          : [0, 0, 0],
    [answer, noise],
  );
  const isDimmed = useMemo(() => (shapes?.found ? (i: number) => !shapes.found![i] : undefined), [shapes]);
  const above = useMemo(
    () =>
      answer && answer.shapes.node[0] !== null
        ? ['all', ...[...answer.above_names].reverse().map((n) => n ?? '(no name)')]
        : [],
    [answer],
  );

  const next = () =>
    setView({ shown: SHOWN[(SHOWN.findIndex(([id]) => id === view.shown) + 1) % SHOWN.length]![0] }, 'replace');
  const setRoot = (node: number) => setView({ root: node });
  // Inside the picture that there is: until its own has come, and in a report
  const focus =
    view.root >= 0 && shapes && shapes.node[0] !== view.root ? Math.max(0, shapes.node.indexOf(view.root)) : 0;
  const out = () =>
    view.root >= 0 && setRoot((focus > 0 ? shapes!.node[shapes!.parent[focus]!] : answer?.above[0]) ?? -1);
  useKeys('Changes as a flame graph', [
    { key: 'b', label: 'Blink: both, A, B', run: next },
    { key: 'Escape', label: 'Zoom one step out', run: out },
    { key: 'Home', label: 'The whole again', run: () => setRoot(-1) },
    {
      key: 'ArrowDown',
      label: 'Into the picture: arrows move, Enter zooms',
      run: () => document.querySelector<HTMLElement>('.flame-box canvas')?.focus(),
    },
  ]);
  if (error && !shapes) return <Failed failure={error} />;
  if (!answer || !shapes || !boxes) return <Waiting />;
  const name = (i: number): string =>
    shapes.rest[i]
      ? `… ${formatCount(shapes.rest[i]!)} more`
      : shapes.node[i] === null
        ? 'all'
        : (shapes.name[i] ?? '(no name)');
  if (answer.total <= 0)
    return <div class="message">{`There is nothing of ${answer.metric} here: no stack has more than 0.`}</div>;
  // Of what a search finds the outermost boxes, each stack once
  const isInFound = (i: number): boolean => i >= 0 && (shapes.found![i] === 1 || isInFound(shapes.parent[i]!));
  const sumFound = (of: number[]) =>
    of.reduce((sum, v, i) => (shapes.found![i] === 1 && !isInFound(shapes.parent[i]!) ? sum + v : sum), 0);
  const contextsOf = (i: number) => [shapes.a_context[i] ?? null, shapes.b_context[i] ?? null] as const;
  const selected = chosen
    ? (chosen.side === 0 ? shapes.a_context : shapes.b_context).indexOf(chosen.context)
    : view.row >= 0
      ? shapes.node.indexOf(view.row)
      : -1;
  const zoom = (i: number) => {
    if (shapes.rest[i]) return setRoot(shapes.node[shapes.parent[i]!] ?? -1);
    const node = shapes.node[i] ?? -1;
    if (i === 0 && node === view.root) return out();
    return setRoot(node);
  };
  const path = (i: number): string[] => {
    const names: string[] = [];
    for (let at = i; at >= 0; at = shapes.parent[at]!) if (shapes.node[at] !== null) names.push(name(at));
    return [...above.slice(1), ...names.reverse()];
  };
  return (
    <div class="fill">
      <div class="toolbar" role="toolbar" aria-label="Flame graph">
        <div class="segmented" role="group" aria-label="Width">
          {SHOWN.map(([id, title]) => (
            <button
              key={id}
              aria-pressed={view.shown === id}
              title={`${id === 'both' ? 'As wide as the larger of both' : `As wide as in ${title}`} (b)`}
              onClick={() => setView({ shown: id }, 'replace')}
            >
              {title}
            </button>
          ))}
        </div>
        <Legend head={answer} percent={view.noise} isDark={isDark} />
        <span class="grow" />
        {shapes.found && (
          <span role="status">{`found: ${formatValue(answer.unit, sumFound(shapes.a))} → ${formatValue(answer.unit, sumFound(shapes.b))}`}</span>
        )}
        {view.root >= 0 && (
          <button class="quiet" onClick={() => setRoot(-1)}>
            Whole picture
          </button>
        )}
        <span class="hint">
          {[plural(answer.n_frames, 'frame'), cutText(answer.n_levels)].filter(Boolean).join(', ')}
        </span>
      </div>
      <FlameCanvas
        boxes={boxes}
        focus={focus}
        keyOf={(i) => (shapes.node[i] === null ? `${shapes.rest[i] ? `rest ${i}` : 'all'}` : String(shapes.node[i]))}
        name={name}
        color={color}
        {...(isDimmed ? { isDimmed } : {})}
        above={above}
        onAbove={(i) => setRoot(i === 0 ? -1 : (answer.above[answer.above.length - i] ?? -1))}
        selected={selected}
        onSelect={(i) => shapes.node[i] !== null && onChoose(shapes.node[i]!, contextsOf(i))}
        onZoom={zoom}
        onOut={out}
        onMenu={(event, i) =>
          openMenu(event, [
            { label: 'Zoom in', hint: 'Enter', run: () => zoom(i) },
            { label: 'Zoom out', hint: 'Esc', disabled: view.root < 0, run: out },
            { label: 'Show in the table', disabled: shapes.node[i] === null, run: () => setView({ tab: 'tree' }) },
            'line',
            { label: 'Copy name', run: () => void copyText(name(i)) },
            { label: 'Copy path', run: () => void copyText(path(i).join('->'), 'Path copied') },
          ])
        }
        label={`Flame graph of ${answer.metric}, ${view.shown === 'both' ? 'each stack as wide as the larger of both' : `as wide as in ${view.shown.toUpperCase()}`}; blue is less, orange more in B`}
        tooltip={(i) => (
          <>
            <div class="tip-title">{name(i)}</div>
            <div>
              {`${formatValue(answer.unit, shapes.a[i])} → ${formatValue(answer.unit, shapes.b[i])}  `}
              <b>{changeText(shapes.a[i]!, shapes.b[i]!, relativeOf(answer, shapes.a[i]!, shapes.b[i]!))}</b>
            </div>
            <div class="hint">{`change: ${exactValue(answer.unit, changeOf(answer, shapes.a[i]!, shapes.b[i]!))}${finiteSize(answer.a.total) ? `, ${formatChange(changeOf(answer, shapes.a[i]!, shapes.b[i]!) / (finiteSize(answer.a.total) * answer.scale))} % of all` : ''}`}</div>
            {spreadAt(shapes, i)[0] !== null && <div class="hint">{spreadText(answer, spreadAt(shapes, i))}</div>}
            {shapes.rest[i] === 0 && shapes.node[i] !== null && (
              <div class="hint">{`itself: ${formatValue(answer.unit, shapes.a_own[i])} → ${formatValue(answer.unit, shapes.b_own[i])}`}</div>
            )}
          </>
        )}
      />
    </div>
  );
}
