// One model: its function to copy, how well it fits, why there is doubt, and which functions were tried.
import { useData, type Params } from '../../api';
import { Failed } from '../../boundary';
import { exactValue, formatValue, real, type Num } from '../../format';
import { openMenu } from '../../menu';
import { copyText } from '../../toast';
import { Formula } from './formula';
import { FLAGS, severity, toC, type ModelAnswer, type WhyAnswer } from './model';

function digits(n: Num, most: number): string {
  const value = real(n);
  if (!Number.isFinite(value)) return '–';
  const isPlain = value === 0 || (Math.abs(value) < 1e6 && Math.abs(value) >= 1e-4);
  return isPlain ? String(Number(value.toPrecision(most))) : value.toExponential(most - 1);
}

function copyMenu(event: MouseEvent, model: ModelAnswer, parameters: readonly string[]): void {
  const c = toC(model.python, parameters);
  const item = (label: string, text: string) => ({
    label,
    hint: text.length > 40 ? `${text.slice(0, 40)}…` : text,
    run: () => void copyText(text, `Copied as ${label}`),
  });
  openMenu(event, [
    item('plain text', model.function),
    item('LaTeX', model.latex),
    item('Python', model.python),
    ...(c === null ? [] : [item('C', c)]),
  ]);
}

function Why({ params, context, parameters }: { params: Params; context: number; parameters: readonly string[] }) {
  const { data, error } = useData<WhyAnswer>('why', { ...params, context });
  if (error) return <Failed failure={error} />;
  if (!data) return null;
  const hasParameter = data.hypotheses.some((h) => h.parameter);
  const shown = data.hypotheses.slice(0, 60);
  return (
    <div class="why" tabIndex={0} role="region" aria-label="Functions that were tried">
      <table>
        <thead>
          <tr>
            {hasParameter && <th>for</th>}
            <th>function</th>
            <th class="right">SMAPE %</th>
            <th class="right">adj. R²</th>
            <th>verdict</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((h) => (
            <tr key={h.order} class={h.verdict === 'chosen' ? 'chosen' : undefined}>
              {hasParameter && <td>{h.parameter ?? 'all'}</td>}
              <td title={h.function}>
                <Formula
                  text={h.function
                    .replace(/\d+\.\d{5,}(e[+-]?\d+)?/g, (n) => digits(Number(n), 4))
                    .replace(/\^\(1\)/g, '')}
                  parameters={parameters}
                />
              </td>
              <td class="right" title={String(h.SMAPE)}>
                {digits(h.SMAPE, 4)}
              </td>
              <td class="right" title={String(h.AR2)}>
                {Number.isFinite(real(h.AR2)) ? real(h.AR2).toFixed(4) : '–'}
              </td>
              <td>{h.verdict}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.hypotheses.length > shown.length && (
        <p class="hint">{data.hypotheses.length - shown.length} more; assay model --why lists all</p>
      )}
    </div>
  );
}

export interface DetailsProps {
  model: ModelAnswer;
  /** Those of api/scale, without point and order. */
  params: Params;
  parameters: readonly string[];
  unit: string | null;
  isStored: boolean;
  value: number;
  low: number;
  high: number;
  point: string;
  why: boolean;
  onWhy: (why: boolean) => void;
}

export function Details({
  model,
  params,
  parameters,
  unit,
  isStored,
  value,
  low,
  high,
  point,
  why,
  onWhy,
}: DetailsProps) {
  return (
    <section class="scale-details" aria-label={`Model of ${model.callpath}`}>
      <div class="scale-function">
        <div class="grow">
          <div class="ellipsis hint" title={model.callpath}>
            {model.callpath}
          </div>
          <div class="function-text" title={model.function}>
            <Formula text={model.text} parameters={parameters} />
          </div>
        </div>
        <button onClick={(event) => copyMenu(event, model, parameters)}>Copy…</button>
        {!isStored && (
          <button
            aria-pressed={why}
            aria-expanded={why}
            title="Functions that were tried (w)"
            onClick={() => onWhy(!why)}
          >
            Why this?
          </button>
        )}
      </div>
      <div class="scale-facts">
        <span>
          <b>{point}</b>{' '}
          <span title={exactValue(unit, value)}>{Number.isNaN(value) ? '' : formatValue(unit, value)}</span>
          {!Number.isNaN(low) && (
            <span
              class="hint"
              title={`${exactValue(unit, low)} to ${exactValue(unit, high)}`}
            >{` 95 %: ${formatValue(unit, low)} – ${formatValue(unit, high)}`}</span>
          )}
        </span>
        <span class={`growth grow-${severity(model.order)}`}>{model.order}</span>
        <span title={String(model.AR2)}>
          adj. R² {Number.isFinite(real(model.AR2)) ? real(model.AR2).toFixed(4) : '–'}
        </span>
        <span title={String(model.SMAPE)}>SMAPE {digits(model.SMAPE, 3)} %</span>
        <span title={String(model.RSS)}>RSS {digits(model.RSS, 3)}</span>
        {Number.isFinite(real(model.noise)) && (
          <span title="How much repetitions differ: root mean square of std / mean">
            noise {(100 * real(model.noise)).toFixed(1)} %
          </span>
        )}
        {model.flags.map((flag) => (
          <span
            key={flag}
            class="badge warn"
            title={flag === 'tie' && model.rival ? `${model.rival} explains the measurements as well` : FLAGS[flag]}
          >
            {FLAGS[flag] ?? flag}
          </span>
        ))}
      </div>
      {why && !isStored && <Why params={params} context={model.context} parameters={parameters} />}
    </section>
  );
}
