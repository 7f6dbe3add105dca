// What is this: the file, what it has, its metrics.
import { formatCount, plural } from '../format';
import { select } from '../state';
import { commandLine, type Screen, type ScreenProps } from './screen';

function facts({ input }: ScreenProps): [string, string][] {
  const { has, runs, points } = input;
  const all: [string, string | false][] = [
    ['Format', `${input.format_title ?? input.format ?? 'unknown'}${input.format_version ? ` ${input.format_version}` : ''}`],
    ['File', input.path],
    ['Parameters', has.parameters.length > 0 && has.parameters.join(', ')],
    ['Points', points.length > 1 && formatCount(points.length)],
    ['Runs', runs.length > 1 && formatCount(runs.length)],
    ['Locations', has.locations > 0 && formatCount(has.locations)],
    ['Time line', has.events && 'yes'],
    ['Records', has.records > 0 && formatCount(has.records)],
    ['Models', has.models > 0 && formatCount(has.models)],
    ['Problems', input.problems !== undefined && (input.problems === 0 ? 'none found' : plural(input.problems, 'problem'))],
  ];
  return all.filter((fact): fact is [string, string] => fact[1] !== false);
}

function Overview(props: ScreenProps) {
  const { input, metric } = props;
  return (
    <div class="page">
      <section class="card">
        <h2>{input.name}</h2>
        <dl class="facts">
          {facts(props).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section class="card">
        <h2>Metrics</h2>
        <ul class="plain-list">
          {input.metrics.map((m) => (
            <li key={m.id}>
              <button class={m === metric ? 'row chosen' : 'row'} onClick={() => select({ metric: m.name })}>
                <span class="grow ellipsis">{m.display_name || m.name}</span>
                <span class="hint">{m.unit ?? ''}</span>
              </button>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

export const overview: Screen = {
  id: 'overview',
  title: 'Overview',
  key: 'o',
  available: () => true,
  component: Overview,
  command: ({ input }) => commandLine('info', [input.path]),
};
