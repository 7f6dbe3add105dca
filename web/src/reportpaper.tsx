// A report on paper: all that it shows of its inputs, one after the other.
import { options, render } from 'preact';
import { opened, useData, type Inputs, type Opened } from './api';
import { Boundary, Failed } from './boundary';
import { screens } from './screens/index';
import type { Screen } from './screens/screen';
import { metricOf } from './shell';
import { address, OnPaper, selectionOf, type Address } from './state';

/** Screens that have several pictures, with what the address says of each; of others there is one. */
const PICTURES: Record<string, [string, Record<string, string>][]> = {
  tree: [
    ['Call tree', {}],
    ['Functions', { 'tree.view': 'flat', 'tree.by': 'region' }],
  ],
  compare: [
    ['Compared', {}],
    ['Compared: flame graph', { 'compare.tab': 'flame' }],
    ['Compared: A against B', { 'compare.tab': 'scatter' }],
  ],
};
/** About several inputs. */
const isOfAll = (screen: Screen) => screen.id === 'compare';

interface SheetProps {
  inputs: Inputs;
  input: Opened;
  screen: Screen;
}

/** A screen, as it is at first, of the metric that is chosen. */
function Sheets({ inputs, input, screen }: SheetProps) {
  const [metric, sides] = [address().values.get('m'), address().values.get('x')];
  return (
    <>
      {(PICTURES[screen.id] ?? [[screen.title, {}]]).map(([title, values]) => {
        const at: Address = {
          screen: screen.id,
          values: new Map(
            Object.entries({
              d: String(input.id),
              ...(metric ? { m: metric } : {}),
              ...(sides ? { x: sides } : {}),
              ...values,
            }),
          ),
        };
        const props = { inputs, input, metric: metricOf(input, metric ?? null), selection: selectionOf(at) };
        return (
          <section key={title} class={`sheet sheet-${screen.id}`}>
            {screen.id !== 'overview' && (
              <h2>
                {title} <span class="hint">{props.metric?.display_name || props.metric?.name}</span>
              </h2>
            )}
            <OnPaper.Provider value={at}>
              <Boundary name={title}>
                <screen.component {...props} />
              </Boundary>
            </OnPaper.Provider>
          </section>
        );
      })}
    </>
  );
}

function Paper() {
  const { data } = useData<Inputs>('inputs');
  const readable = (data?.inputs ?? []).flatMap((input) => opened(input) ?? []);
  const sheets = (input: Opened, ofAll: boolean) =>
    screens
      .filter((s) => isOfAll(s) === ofAll && s.available(data!, input))
      .map((screen) => <Sheets key={screen.id} inputs={data!} input={input} screen={screen} />);
  return (
    <>
      <h1>{document.title}</h1>
      {data?.inputs.map((one) => {
        const input = opened(one);
        return (
          <article key={one.id}>
            {data.inputs.length > 1 && <h1>{one.name}</h1>}
            {one.error && <Failed failure={one.error} />}
            {input && sheets(input, false)}
          </article>
        );
      })}
      {readable[0] && sheets(readable[0], true)}
    </>
  );
}

/**
 * The sheets are made when the page is about to be printed. Nothing may wait for a frame then: effects follow at once,
 * and answers are there.
 */
export function followPrinting(): void {
  const paper = document.createElement('div');
  paper.className = 'paper';
  addEventListener('beforeprint', () => {
    options.requestAnimationFrame = (run) => void Promise.resolve().then(run);
    document.body.append(paper);
    render(<Paper />, paper);
  });
  addEventListener('afterprint', () => {
    render(null, paper);
    paper.remove();
    delete options.requestAnimationFrame;
  });
}
