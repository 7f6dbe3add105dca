// The page around the screens.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  forgetAnswers,
  get,
  getAnew,
  isReport,
  opened,
  post,
  setFormulas,
  type Failure,
  failure,
  type Input,
  type Inputs,
  type Metric,
  type Opened,
} from './api';
import { Boundary, Failed, Waiting } from './boundary';
import { Dialog } from './dialog';
import { filesOf, openFiles, type Dropped } from './drop';
import { FormulaDialog, formulasIn } from './formulas';
import { keyGroups, useKeys, type Key } from './keys';
import { SearchList, type Choice } from './list';
import { MenuHost } from './menu';
import { Rail } from './rail';
import { DEFAULTS, sidesOf } from './screens/compare-data';
import { screens } from './screens/index';
import { setReading, type Screen, type ScreenProps } from './screens/screen';
import { navigate, readScreen, select, selectionOf, selectionPatch, useAddress } from './state';
import { setTheme, theme, type Theme } from './theme';
import { copyText, toastError, ToastHost } from './toast';
import { visible } from './visible';
import { FilterBar, metricChoices, nextTheme, TopBar } from './topbar';

const EVERYWHERE = 'Everywhere';

function useInputs(formulas: string): [Inputs | null, Failure | null, (then?: (inputs: Inputs) => void) => void] {
  const [state, setState] = useState<{ inputs: Inputs | null; error: Failure | null }>({ inputs: null, error: null });
  const last = useRef(0);
  const load = (then?: (inputs: Inputs) => void) => {
    const asked = ++last.current;
    get<Inputs>('inputs').then(
      (inputs) => {
        setReading(inputs.reading);
        if (asked === last.current) setState({ inputs, error: null });
        then?.(inputs);
      },
      (error: unknown) => asked === last.current && setState((old) => ({ inputs: old.inputs, error: failure(error) })),
    );
  };
  useEffect(() => load(), [formulas]);
  const known = useRef(state.inputs);
  known.current = state.inputs;
  // Other tabs open and dismiss inputs, too: who comes back looks
  useEffect(() => {
    if (isReport()) return undefined;
    const look = () => {
      if (document.hidden || !known.current) return;
      getAnew<Inputs>('inputs').then(
        (inputs) => {
          if (JSON.stringify(inputs) === JSON.stringify(known.current)) return;
          forgetAnswers();
          load();
        },
        () => undefined,
      );
    };
    addEventListener('focus', look);
    addEventListener('visibilitychange', look);
    return () => {
      removeEventListener('focus', look);
      removeEventListener('visibilitychange', look);
    };
  }, []);
  // Until the next list comes: what there is no formula of any more is no metric
  const inputs = useMemo(() => {
    const gone = state.inputs?.derives?.map((d) => d.text).filter((text) => !formulas.split('\n').includes(text)) ?? [];
    return state.inputs && gone.length > 0
      ? {
          ...state.inputs,
          inputs: state.inputs.inputs.map((i) => ({
            ...i,
            metrics: i.metrics?.filter((m) => !m.derive || !gone.includes(m.derive)),
          })),
        }
      : state.inputs;
  }, [state.inputs, formulas]);
  return [inputs, state.error, load];
}

/** Files may be dropped anywhere. Returns whether some are held over the page. */
function useDropZone(onFiles: (files: Dropped[]) => void): boolean {
  const [over, setOver] = useState(false);
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    if (isReport()) return undefined;
    const isFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const onOver = (event: DragEvent) => {
      if (!isFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (!event.relatedTarget) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      if (!isFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      setOver(false);
      filesOf(event.dataTransfer).then((files) => latest.current(files), toastError);
    };
    addEventListener('dragover', onOver);
    addEventListener('dragleave', onLeave);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onOver);
      removeEventListener('dragleave', onLeave);
      removeEventListener('drop', onDrop);
    };
  }, []);
  return over;
}

export function metricOf(input: Opened | null, name: string | null): Metric | null {
  const metrics = input?.metrics ?? [];
  return metrics.find((m) => m.name === name) ?? metrics.find((m) => m.is_main) ?? metrics[0] ?? null;
}

function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="keys">
        {keyGroups().map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.keys
                .filter((k) => !k.hidden)
                .map((k) => (
                  <div key={k.key}>
                    <dt>
                      {k.key.split(' ').map((part, i) => (
                        <kbd key={i}>{part}</kbd>
                      ))}
                    </dt>
                    <dd>{k.label}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

interface PaletteProps {
  shown: readonly Screen[];
  inputs: Inputs | null;
  input: Opened | null;
  metric: Metric | null;
  onClose: () => void;
}

function Palette({ shown, inputs, input, metric, onClose }: PaletteProps) {
  const choices = useMemo<Choice[]>(
    () => [
      ...shown.map((s) => ({
        id: `s ${s.id}`,
        kind: 'Screen',
        label: s.title,
        hint: `g ${s.key}`,
        run: () => navigate({}, 'push', s.id),
      })),
      ...keyGroups().flatMap((group) =>
        group.keys
          .filter((k) => !k.hidden && !k.key.startsWith('g ') && k.key !== 'Ctrl+K')
          .map((k) => ({
            id: `k ${group.title} ${k.key}`,
            kind: group.title === EVERYWHERE ? 'Action' : group.title,
            label: k.label,
            hint: k.key,
            run: () => k.run(new KeyboardEvent('keydown')),
          })),
      ),
      ...(['auto', 'light', 'dark'] as Theme[]).map((t) => ({
        id: `t ${t}`,
        kind: 'Theme',
        label: t,
        run: () => setTheme(t),
      })),
      ...(inputs?.inputs ?? []).map((i) => ({
        id: `i ${i.id}`,
        kind: 'Input',
        label: i.name,
        hint: i.format_title ?? '',
        run: () => select({ dataset: i.id }),
      })),
      ...(input ? metricChoices(input, metric).map((c) => ({ ...c, kind: 'Metric', chosen: false })) : []),
    ],
    [shown, inputs, input],
  );
  return (
    <Dialog title="Commands" bare onClose={onClose}>
      <SearchList choices={choices} placeholder="Type a command, a screen, a metric" onDone={onClose} />
    </Dialog>
  );
}

type Open = 'keys' | 'palette' | 'formulas' | null;

function Body({ input, screen, props }: { input: Input | undefined; screen: Screen; props: ScreenProps | null }) {
  if (!input)
    return <div class="message">Nothing is open. Drop files onto the page, or start assay view with some.</div>;
  if (input.error) return <Failed failure={input.error} title={`${input.name} could not be read`} />;
  if (!props) return null;
  if (!screen.available(props.inputs, props.input)) {
    return (
      <div class="message">
        <p>{`${props.input.name} has nothing that "${screen.title}" could show.`}</p>
        <button onClick={() => navigate({}, 'push', 'overview')}>Overview</button>
      </div>
    );
  }
  return (
    <Boundary name={`${screen.id} ${input.id}`}>
      <screen.component {...props} />
    </Boundary>
  );
}

export function App() {
  const address = useAddress();
  const selection = isReport()
    ? { ...selectionOf(address), run: null, point: null, locations: null }
    : selectionOf(address); // a report has no others
  const formulas = isReport() ? [] : formulasIn(address);
  setFormulas(formulas); // whatever is asked from here on has them
  const [inputs, error, reload] = useInputs(formulas.join('\n'));
  const [open, setOpen] = useState<Open>(null);
  const searchRef = useRef<HTMLInputElement>(null);

  const found = inputs?.inputs.find((i) => i.id === selection.dataset) ?? inputs?.inputs[0];
  const input = useMemo(() => opened(found), [found]);
  const metric = metricOf(input, selection.metric);
  const shown = useMemo(() => screens.filter((s) => inputs && input && s.available(inputs, input)), [inputs, input]);
  const screen = screens.find((s) => s.id === address.screen) ?? screens[0]!;
  const props: ScreenProps | null = inputs && input ? { inputs, input, metric, selection } : null;
  // What was dropped is what is wanted next; who compares goes on comparing
  const showNew = (all: Inputs) => {
    const news = all.inputs.filter((i) => !inputs?.inputs.some((o) => o.id === i.id));
    const first = news.find((i) => !i.error) ?? news[0];
    if (first && !/compare|scale/.test(screen.id)) navigate(selectionPatch({ dataset: first.id }), 'push', 'overview');
  };
  const onFiles = (files: Dropped[]) => void openFiles(files, () => reload(showNew));
  const dismiss = (i: Input) =>
    post('dismiss', { d: i.id }).then(() => {
      forgetAnswers();
      reload();
    }, toastError);
  const isOver = useDropZone(onFiles);
  const goTo = (id: string) => navigate({}, 'push', id);
  const copyLink = () => void copyText(location.href, 'Link copied');
  const copyCommand = () => props && shown.includes(screen) && void copyText(screen.command(props), 'Command copied');
  const metricStep = (step: number) => {
    if (!input || !metric) return;
    const at = input.metrics.indexOf(metric);
    select({ metric: input.metrics[(at + step + input.metrics.length) % input.metrics.length]!.name });
  };

  useEffect(() => {
    if (!isReport()) document.title = found ? `${visible(found.name)} – ${screen.title} – assay` : 'assay';
  }, [found, screen]);

  const keys: Key[] = [
    { key: '?', label: 'Keys', run: () => setOpen('keys') },
    { key: 'Ctrl+K', label: 'All commands', inFields: true, run: () => setOpen('palette') },
    { key: '/', label: 'Search', run: () => searchRef.current?.select() },
    { key: 'm', label: 'Next metric', run: () => metricStep(1) },
    { key: 'M', label: 'Previous metric', run: () => metricStep(-1) },
    { key: '=', label: 'Metrics of formulas', isLive: true, run: () => setOpen(input && 'formulas') },
    ...(screen.hasSides
      ? [
          {
            key: 'x',
            label: 'Inclusive or exclusive',
            run: () => select({ sides: selection.sides === 'inclusive' ? 'exclusive' : 'inclusive' }),
          },
        ]
      : []),
    { key: 'u', label: 'Undo: one step back', run: () => history.back() },
    { key: 'U', label: 'Redo: one step forward', run: () => history.forward() },
    { key: 'y', label: 'Copy as command', run: copyCommand },
    { key: 'Y', label: 'Copy link', run: copyLink },
    { key: 'T', label: 'Theme: auto, light, dark', run: () => nextTheme(theme()) },
  ];
  useKeys(EVERYWHERE, keys);
  useKeys(
    'Screens',
    shown.map((s) => ({ key: `g ${s.key}`, label: s.title, run: () => goTo(s.id) })),
  );

  return (
    <div class={isOver ? 'app over' : 'app'}>
      <Rail
        inputs={inputs}
        chosen={found?.id ?? -1}
        sides={
          screen.id === 'compare' && inputs
            ? (sidesOf(inputs, readScreen('compare', DEFAULTS)) ?? []).map((i) => i.id)
            : []
        }
        onFiles={onFiles}
        onDismiss={dismiss}
      />
      <div class="main">
        <TopBar
          inputs={inputs}
          input={input}
          screens={shown}
          screen={screen}
          selection={selection}
          onScreen={goTo}
          onPalette={() => setOpen('palette')}
          onHelp={() => setOpen('keys')}
          onCopyLink={copyLink}
          onCopyCommand={copyCommand}
          searchRef={searchRef}
        />
        {input && (
          <FilterBar
            input={input}
            screen={screen}
            metric={metric}
            selection={selection}
            failed={inputs?.derives?.find((d) => d.error)}
            onFormulas={() => setOpen('formulas')}
          />
        )}
        <main id="screen" role="tabpanel" aria-label={screen.title}>
          {error && <Failed failure={error} />}
          {!error && !inputs && <Waiting />}
          {inputs && <Body input={found} screen={screen} props={props} />}
        </main>
      </div>
      {isOver && <div class="drop-hint">Drop to open</div>}
      {!IS_REPORT && open === 'formulas' && input && (
        <FormulaDialog input={input} formulas={formulas} onClose={() => setOpen(null)} />
      )}
      {open === 'keys' && <KeysDialog onClose={() => setOpen(null)} />}
      {open === 'palette' && (
        <Palette shown={shown} inputs={inputs} input={input} metric={metric} onClose={() => setOpen(null)} />
      )}
      <MenuHost />
      <ToastHost />
    </div>
  );
}
