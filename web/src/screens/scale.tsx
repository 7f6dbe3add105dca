// How an experiment scales: models of all call paths, what each will cost at another size, and how sure that is.
import { useMemo, useRef, useState } from 'preact/hooks';
import { canonical, isReport, useLatest, type Inputs, type Opened, type Params } from '../api';
import { Failed, Waiting } from '../boundary';
import { seriesColor } from '../colors';
import { plural, real } from '../format';
import { useKeys } from '../keys';
import { readScreen, select, useScreen } from '../state';
import { useTheme } from '../theme';
import { copyText } from '../toast';
import type { Sort } from '../vtable';
import { Choice, Sliders } from './scale/controls';
import { Details } from './scale/details';
import { SurfaceMap } from './scale/map';
import {
  drawnUntil,
  mapUntil,
  nearestStep,
  parameterText,
  parsePoint,
  pointText,
  sliderSteps,
  snapped,
  type CurveAnswer,
  type ModelAnswer,
  type ScaleAnswer,
  type SurfaceAnswer,
  type View,
} from './scale/model';
import { Lines } from './scale/plot';
import './scale/scale.css';
import { Suggestions } from './scale/suggest';
import { ModelTable, useRows } from './scale/table';
import { commandLine, type Screen, type ScreenProps } from './screen';
import { sqlText } from './sql-data';
import { matchOption } from './tree-data';

const DEFAULTS = {
  sort: 'growth',
  up: false,
  tree: false,
  measure: 'mean',
  modeler: 'default',
  scaling: '',
  processes: '',
  set: '',
  together: '',
  view: 'lines',
  over: '',
  and: '',
  at: '',
  pins: '',
  x: '',
  y: '',
  why: false,
  hidden: 'interval,now,function,AR2,error,noise,speedup,points,flags',
};
type State = ReturnType<typeof readScreen<typeof DEFAULTS>>;
const MOST_PINS = 8;

/** The words of all requests of the screen; what has its usual value is left out. */
function paramsOf({ input, metric }: Pick<ScreenProps, 'input' | 'metric'>, view: State): Params {
  const stored = view.set !== '';
  return {
    d: input.id || undefined,
    metric: metric && !metric.is_main ? metric.name : undefined,
    measure: view.measure === 'mean' || stored ? undefined : view.measure,
    modeler: view.modeler === 'default' || stored ? undefined : view.modeler,
    scaling: stored ? undefined : view.scaling || undefined,
    processes: view.processes || undefined,
    set: view.set || undefined,
    together: view.together || undefined,
  };
}

const pinsOf = (view: State): number[] =>
  view.pins
    .split(',')
    .filter((p) => /^\d+$/.test(p))
    .map(Number);

/** Paths of all inputs that belong to the experiment. */
function pathsOf({ inputs, input }: ScreenProps, answer: ScaleAnswer | null): string[] {
  const all = (answer?.inputs ?? [input.id])
    .map((id) => inputs.inputs.find((i) => i.id === id)?.path ?? '')
    .filter(Boolean);
  return all.length ? all : [input.path];
}

function commandOf(props: ScreenProps, last: ScaleAnswer | null): string {
  const answer = last?.inputs.includes(props.input.id) ? last : null; // it may be that of another input
  const view = readScreen('scale', DEFAULTS);
  const stored = answer?.sets[Number(view.set || -1)]; // no verb but sql has models of the file
  if (stored)
    return commandLine('sql', [
      props.input.path,
      `select path, function, SMAPE, AR2 from model m join context c on c.id = context where metric = ${props.metric?.id} and "set" ${stored.name ? `= ${sqlText(stored.name)}` : 'is null'}`,
    ]);
  const at =
    view.at ||
    (answer &&
      pointText(
        answer.parameters,
        answer.parameters.map((p) => real(answer.at[p.name])),
      ));
  return commandLine(at ? 'predict' : 'model', pathsOf(props, answer), {
    at: at || undefined,
    metric: props.metric?.name,
    match: props.selection.search && matchOption(props.selection.search),
    measure: view.measure === 'mean' ? undefined : view.measure,
    modeler: view.modeler === 'default' ? undefined : view.modeler,
    scaling: view.scaling || undefined,
    processes: view.processes || undefined,
  });
}

/** The last answer, for the command of the page. */
let lastAnswer: ScaleAnswer | null = null;

const MEASURES = ['mean', 'median', 'minimum', 'maximum'].map((m) => [m, m] as const);
const SCALINGS = [
  ['', 'as measured'],
  ['weak_threaded', 'without idle threads'],
  ['strong', 'strong: all processes'],
] as const;

function modelers(answer: ScaleAnswer): readonly (readonly [string, string])[] {
  return answer.parameters.length > 1
    ? [['default', 'multi-parameter']]
    : [
        ['default', 'basic'],
        ['refining', 'refining'],
        ['segmented', 'segmented'],
      ];
}

function Scale(props: ScreenProps) {
  const { selection } = props;
  const [view, setView] = useScreen('scale', DEFAULTS);
  const { isDark } = useTheme();
  const [suggests, setSuggests] = useState(false);
  const base = paramsOf(props, view);
  const sort: Sort = { column: view.tree ? '' : view.sort, descending: view.sort === 'name' ? view.up : !view.up };
  const tableParams: Params = {
    ...base,
    at: view.at || undefined,
    sort: view.tree ? 'tree' : view.sort === 'growth' ? undefined : view.sort,
    reverse: view.up && !view.tree ? 1 : undefined,
    match: selection.search ? matchOption(selection.search) : undefined,
  };
  const { data, error, loading, asked } = useLatest<ScaleAnswer>('scale', tableParams);
  // A search that is no expression yet, or a point that does not exist, leaves what was there
  const kept = useRef<{ key: string; answer: ScaleAnswer } | null>(null);
  const key = canonical('scale', base);
  if (data)
    kept.current = {
      key: canonical('scale', Object.fromEntries(Object.keys(base).map((name) => [name, asked[name]]))),
      answer: data,
    };
  const answer = data ?? (kept.current?.key === key ? kept.current.answer : null);
  const rows = useRows(answer, tableParams);
  lastAnswer = answer;

  const parameters = answer?.parameters ?? [];
  const names = parameters.map((p) => p.name);
  const main = names.includes(view.over) ? view.over : (parameters.find((p) => p.is_processes)?.name ?? names[0] ?? '');
  const mainIndex = Math.max(0, names.indexOf(main));
  const at = useMemo(
    () =>
      answer
        ? (view.at && parsePoint(answer.parameters, view.at)) || answer.parameters.map((p) => real(answer.at[p.name]))
        : [],
    [answer, view.at],
  );
  const setAt = (values: readonly number[], isLast: boolean) =>
    setView({ at: pointText(parameters, values) }, isLast ? 'push' : 'replace');
  const moveTo = (to: Record<string, number>) =>
    setAt(
      at.map((v, i) => (names[i]! in to ? snapped(parameters[i]!.values, to[names[i]!]!) : v)),
      true,
    );

  // What is in the plot: what was pinned, and what is selected
  const pins = pinsOf(view);
  const selected = selection.node ?? answer?.rows.context[0] ?? null;
  const drawn = selected === null || pins.includes(selected) ? pins : [...pins, selected];
  const colour = (context: number) => seriesColor(Math.max(0, drawn.indexOf(context)), isDark);
  const pin = (context: number) =>
    setView({
      pins: (pins.includes(context) ? pins.filter((p) => p !== context) : [...pins, context].slice(-MOST_PINS)).join(),
    });

  const isMap = view.view === 'map' && parameters.length > 1;
  const second = names.find((n) => n !== main && n === view.and) ?? names.find((n) => n !== main) ?? '';
  const largest = parameters[mainIndex]?.values.at(-1) ?? NaN;
  const to = drawnUntil(largest, at[mainIndex] ?? NaN);
  const log = view.x === '' ? undefined : view.x === 'log' ? 1 : 0;
  const held =
    parameters.length > 1 && (view.at !== '' || view.over !== '')
      ? pointText(
          parameters,
          at.map((v, i) => (i === mainIndex ? largest : v)),
        )
      : undefined;
  const picture: Params = { ...base, context: drawn.join(), over: view.over ? main : undefined };
  const curve = useLatest<CurveAnswer>(answer && drawn.length && !isMap ? 'curve' : null, {
    ...picture,
    at: held,
    to: held === undefined && to === largest * 4 ? undefined : to,
    log,
  });
  const pair = view.over || view.and ? [main, second] : undefined;
  const surface = useLatest<SurfaceAnswer>(answer && selected !== null && isMap ? 'surface' : null, {
    ...base,
    context: selected,
    over: pair?.join(),
    at: view.at ? pointText(parameters, mapUntil(parameters, pair ?? names.slice(0, 2), at)) : undefined,
    log,
  });

  const shown: View = isMap
    ? 'map'
    : ((['speedup', 'efficiency', 'residuals'] as const).find((v) => v === view.view) ?? 'lines');
  const xLog =
    view.x === '' ? ((isMap ? surface.data?.is_log.some(Boolean) : curve.data?.is_log) ?? false) : view.x === 'log';
  const yLog = view.y === '' ? wantsLog(curve.data, xLog, shown) : view.y === 'log';
  const nextAxis = (axis: 'x' | 'y', isLog: boolean) => setView({ [axis]: isLog ? 'linear' : 'log' });
  const step = (by: number) => {
    const steps = sliderSteps(parameters[mainIndex]?.values ?? []);
    const next = steps[Math.max(0, Math.min(steps.length - 1, nearestStep(steps, at[mainIndex] ?? 0) + by))];
    if (next !== undefined)
      setAt(
        at.map((v, i) => (i === mainIndex ? next : v)),
        false,
      );
  };
  const nextView = () => {
    const all: View[] = [
      'lines',
      'speedup',
      'efficiency',
      'residuals',
      ...(parameters.length > 1 ? (['map'] as View[]) : []),
    ];
    setView({ view: all[(all.indexOf(shown) + 1) % all.length]! });
  };

  const toMeasured = () =>
    answer &&
    setAt(
      parameters.map((p) => real(answer.largest[p.name])),
      true,
    );

  useKeys('Scale', [
    { key: ']', label: 'Predict further out', run: () => step(1) },
    { key: '[', label: 'Predict nearer', run: () => step(-1) },
    { key: '0', label: 'Predict at the largest measured point', run: toMeasured },
    { key: 'l', label: 'Logarithmic or linear x axis', run: () => nextAxis('x', xLog) },
    { key: 'L', label: 'Logarithmic or linear y axis', run: () => nextAxis('y', yLog) },
    { key: 'v', label: 'Next picture: values, speed-up, efficiency, residuals', run: nextView },
    { key: 'p', label: 'Keep the selected call path in the plot', run: () => selected !== null && pin(selected) },
    { key: 'w', label: 'Why this model: functions that were tried', run: () => setView({ why: !view.why }) },
    { key: 'n', label: 'What to measure next', isLive: true, run: () => setSuggests(view.set === '') },
    { key: 't', label: 'Sorted, or as the call tree', run: () => setView({ tree: !view.tree }) },
    { key: 'G', label: 'Sort by growth', run: () => setView({ sort: 'growth', up: false, tree: false }) },
    { key: 'S', label: 'Sort by what it costs there', run: () => setView({ sort: 'share', up: false, tree: false }) },
  ]);

  if (error && !answer)
    return (
      <Missing
        error={error}
        props={props}
        onReset={() =>
          setView({ measure: 'mean', modeler: 'default', scaling: '', processes: '', set: '', together: '', at: '' })
        }
      />
    );
  if (!answer) return <Waiting what="Fitting models" />;
  const model: ModelAnswer | undefined = isMap
    ? (surface.data ?? undefined)
    : (curve.data?.curves.find((c) => c.context === selected) ?? curve.data?.curves[0]);
  const chosenRow = model && rows.row(rows.indexOf(model.context));
  const pictureError = isMap ? surface.error : curve.error;
  return (
    <div class="scale">
      {suggests && (
        <Suggestions
          params={base}
          hasProcesses={view.processes !== '' || parameters.some((p) => p.is_processes)}
          command={(more) =>
            commandLine('suggest', pathsOf(props, answer), {
              ...more,
              metric: answer.metric,
              scaling: view.scaling || undefined,
              ...(view.processes ? { processes: view.processes } : {}),
            })
          }
          onClose={() => setSuggests(false)}
        />
      )}
      <div class="toolbar">
        {answer.sets.length > 0 && !isReport() && (
          <Choice
            label="Models"
            value={view.set}
            choices={[
              ['', 'made here'],
              ...answer.sets.map((s, i) => [String(i), `${s.name ?? `set ${i + 1}`} (of the file)`] as const),
            ]}
            onChange={(set) => setView({ set, scaling: '', together: '' })}
          />
        )}
        {view.set === '' && !isReport() && (
          <Choice
            label="Measure"
            value={view.measure}
            choices={MEASURES}
            onChange={(measure) => setView({ measure })}
          />
        )}
        {view.set === '' && modelers(answer).length > 1 && !isReport() && (
          <Choice
            label="Modeler"
            value={view.modeler}
            choices={modelers(answer)}
            onChange={(modeler) => setView({ modeler })}
          />
        )}
        {view.set === '' && !isReport() && (
          <Choice
            label="Scaling"
            value={view.scaling}
            choices={SCALINGS}
            onChange={(scaling) =>
              setView({
                scaling,
                processes: scaling === 'strong' && parameters.length > 1 ? view.processes || main : view.processes,
              })
            }
          />
        )}
        {view.set === '' && parameters.length > 1 && !isReport() && (
          <Choice
            label="Processes"
            value={view.processes}
            choices={[['', 'as it looks'], ...names.map((n) => [n, n] as const)]}
            onChange={(processes) => setView({ processes })}
          />
        )}
        {answer.could_join.length > 0 && !isReport() && (
          <Choice
            label="Inputs"
            value={view.together}
            choices={[
              ['', answer.inputs.length > 1 ? `all ${answer.inputs.length} as one` : 'this one'],
              answer.inputs.length > 1 && view.together === ''
                ? ['0', 'this one']
                : ['1', `all ${answer.could_join.length + 1} as one`],
            ]}
            onChange={(together) => setView({ together })}
          />
        )}
        {parameters.length > 1 && (
          <Choice
            label="Over"
            value={main}
            choices={names.map((n) => [n, n] as const)}
            onChange={(over) => setView({ over })}
          />
        )}
        {parameters.length > 2 && isMap && (
          <Choice
            label="and"
            value={second}
            choices={names.filter((n) => n !== main).map((n) => [n, n] as const)}
            onChange={(and) => setView({ and })}
          />
        )}
        <span class="hint grow if-room">
          <span>
            {plural(answer.n, 'call path')}
            {answer.n !== answer.n_models && ` of ${answer.n_models}`}
          </span>
          <span>
            , {plural(answer.n_points, 'point')}
            {loading && ' …'}
          </span>
        </span>
        {view.set === '' && !isReport() && (
          <button title="What to measure next (n)" onClick={() => setSuggests(true)}>
            Measure next…
          </button>
        )}
        <div class="segmented" role="group" aria-label="Order">
          <button aria-pressed={!view.tree} onClick={() => setView({ tree: false })}>
            sorted
          </button>
          <button aria-pressed={view.tree} onClick={() => setView({ tree: true })}>
            tree
          </button>
        </div>
      </div>
      <div>
        <Sliders answer={answer} at={at} main={main} onAt={setAt} />
        {answer.looks_strong && !view.scaling && !view.set && !answer.is_work && (
          <div class="note" role="note">
            The whole decreases along {answer.looks_strong}: looks like strong scaling.
            {!isReport() && <button onClick={() => setView({ scaling: 'strong' })}>Model the work instead</button>}
          </div>
        )}
        {error && (
          <div class="note" role="alert">
            {error.message}
          </div>
        )}
        {rows.error && (
          <div class="note" role="alert">
            {rows.error.message}
          </div>
        )}
      </div>
      <div class="scale-split">
        <div class="fill">
          <ModelTable
            answer={answer}
            rows={rows}
            isTree={view.tree}
            sort={sort}
            onSort={(next) =>
              setView({ sort: next.column, up: next.column === view.sort && !view.tree && !view.up, tree: false })
            }
            selected={selected}
            onSelect={(context) => select({ node: context }, 'replace')}
            colour={(context) => (drawn.includes(context) ? colour(context) : undefined)}
            onPin={pin}
            menu={(row) => [
              {
                label: pins.includes(row.context) ? 'Take out of the plot' : 'Keep in the plot',
                hint: 'p',
                run: () => pin(row.context),
              },
              { label: 'Copy the function', run: () => void copyText(row.function, 'Function copied') },
              { label: 'Copy the call path', run: () => void copyText(row.callpath, 'Call path copied') },
              {
                label: 'Copy as command: model --why',
                run: () =>
                  void copyText(
                    commandLine('model', pathsOf(props, answer), {
                      why: row.callpath,
                      metric: answer.metric,
                      measure: view.measure === 'mean' ? undefined : view.measure,
                      scaling: view.scaling || undefined,
                    }),
                    'Command copied',
                  ),
              },
              {
                label: 'Copy as command: model --plot',
                run: () =>
                  void copyText(
                    commandLine('model', pathsOf(props, answer), {
                      plot: row.callpath,
                      metric: answer.metric,
                      at: pointText(parameters, at),
                      scaling: view.scaling || undefined,
                    }),
                    'Command copied',
                  ),
              },
            ]}
            hidden={view.hidden.split(',')}
            onHidden={(hidden) => setView({ hidden: hidden.filter(Boolean).join() })}
          />
        </div>
        <div class="fill">
          <div class="toolbar">
            <div class="segmented" role="group" aria-label="Picture">
              {(
                ['lines', 'speedup', 'efficiency', 'residuals', ...(parameters.length > 1 ? ['map'] : [])] as View[]
              ).map((v) => (
                <button key={v} aria-pressed={shown === v} onClick={() => setView({ view: v })}>
                  {v === 'lines' ? 'values' : v === 'speedup' ? 'speed-up' : v}
                </button>
              ))}
            </div>
            <span class="grow" />
            <div class="segmented" role="group" aria-label="Logarithmic axes">
              <button aria-pressed={xLog} title="Logarithmic x axis (l)" onClick={() => nextAxis('x', xLog)}>
                {isMap ? 'log' : 'log x'}
              </button>
              {!isMap && (
                <button aria-pressed={yLog} title="Logarithmic y axis (L)" onClick={() => nextAxis('y', yLog)}>
                  log y
                </button>
              )}
            </div>
          </div>
          <div class="scale-plot">
            {pictureError && (
              <div class="message">
                <p>{pictureError.message}</p>
                {selection.node !== null && (
                  <button onClick={() => select({ node: null }, 'replace')}>The first of the list</button>
                )}
              </div>
            )}
            {!isMap && curve.data && !curve.error && (
              <Lines
                answer={curve.data}
                view={shown}
                parameters={parameters}
                isWork={answer.is_work}
                unit={answer.unit}
                metric={answer.metric}
                colour={colour}
                xLog={xLog}
                yLog={yLog}
                at={at[mainIndex] ?? NaN}
                onAt={(x) => moveTo({ [curve.data!.over]: x })}
                onMeasured={toMeasured}
              />
            )}
            {isMap && surface.data && !surface.error && (
              <SurfaceMap
                answer={surface.data}
                parameters={parameters}
                unit={answer.unit}
                metric={answer.metric}
                at={at}
                onAt={moveTo}
              />
            )}
          </div>
          {!isMap && curve.data && curve.data.curves.length > 1 && (
            <div class="scale-legend">
              {curve.data.curves.map((c) => (
                <button key={c.context} title={c.callpath} onClick={() => select({ node: c.context }, 'replace')}>
                  <span class="swatch" style={{ background: colour(c.context) }} />
                  <span class="ellipsis">{c.name ?? c.callpath}</span>
                </button>
              ))}
            </div>
          )}
          {model && (
            <Details
              model={model}
              params={base}
              parameters={names}
              unit={answer.unit}
              isStored={answer.set !== null}
              value={chosenRow?.value ?? NaN}
              low={chosenRow?.low ?? NaN}
              high={chosenRow?.high ?? NaN}
              point={parameters.map((p, i) => `${p.name} = ${parameterText(at[i]!)}`).join(', ')}
              why={view.why}
              onWhy={(why) => setView({ why })}
            />
          )}
        </div>
      </div>
    </div>
  );
}

/** Growth by powers is seen best where both axes are logarithmic. */
function wantsLog(curve: CurveAnswer | null, xLog: boolean, view: View): boolean {
  if (!curve || !xLog || view !== 'lines') return false;
  const all = curve.curves
    .flatMap((c) => [...c.y, ...c.measured.value])
    .map(real)
    .filter(Number.isFinite);
  return all.length > 0 && Math.min(...all) > 0 && Math.max(...all) / Math.min(...all) > 100;
}

function Missing({ error, props, onReset }: { error: { message: string }; props: ScreenProps; onReset: () => void }) {
  const main = props.input.metrics.find((m) => m.is_main);
  if (props.metric?.derive && main && !main.derive) {
    return (
      <div class="message">
        <p>{`${props.metric.name} is made of other metrics by a formula: it has no models of its own.`}</p>
        <button onClick={() => select({ metric: main.name })}>{main.display_name || main.name}</button>
      </div>
    );
  }
  return (
    <div class="message">
      <Failed failure={error} title="No models" />
      <p>
        Models need measurements at several points of one experiment: a file of Extra-P, a directory with a profile for
        each point whose name says which (app.p64.n100.r1), or several inputs with the same parameters.
      </p>
      {props.input.has.parameters.length > 0 && <button onClick={onReset}>Model it the usual way</button>}
    </div>
  );
}

const isExperiment = (inputs: Inputs, input: Opened): boolean =>
  input.has.points > 1 || (inputs.experiment?.inputs.includes(input.id) ?? false);

export const scale: Screen = {
  id: 'scale',
  title: 'Scale',
  key: 's',
  without: 'runs',
  available: isExperiment,
  component: (props) => <Scale key={props.input.id} {...props} />, // what one input has is no answer for another
  command: (props) => commandOf(props, lastAnswer),
};
