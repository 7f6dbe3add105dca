// What is modelled and how, and where it is predicted.
import { useMemo, useState } from 'preact/hooks';
import { formatValue, real } from '../../format';
import { nearestStep, shortNumber, sliderSteps, type Parameter, type ScaleAnswer } from './model';

export function Choice({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: string;
  choices: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}) {
  return (
    <label class="choice">
      <span class="picker-label">{label}</span>
      <select
        aria-label={label}
        value={value}
        onChange={(event) => onChange((event.target as HTMLSelectElement).value)}
      >
        {choices.map(([id, text]) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Slider({
  parameter,
  value,
  isMain,
  onChange,
}: {
  parameter: Parameter;
  value: number;
  isMain: boolean;
  onChange: (value: number, isLast: boolean) => void;
}) {
  const steps = useMemo(() => sliderSteps(parameter.values), [parameter]);
  const [typed, setTyped] = useState<string | null>(null);
  const at = nearestStep(steps, value);
  const last = parameter.values[parameter.values.length - 1] ?? NaN;
  const first = parameter.values[0] ?? NaN;
  const far = value > last && last > 0 ? value / last : value < first && value > 0 ? first / value : 1;
  const end = nearestStep(steps, last);
  const commit = () => {
    const number = typed === null ? NaN : Number(typed);
    if (typed !== null && typed.trim() !== '' && Number.isFinite(number)) onChange(number, true);
    setTyped(null);
  };
  return (
    <div class="slider">
      <label class="slider-name" for={`at-${parameter.name}`}>
        <i>{parameter.name}</i>
      </label>
      <input
        type="range"
        min={0}
        max={steps.length - 1}
        step={1}
        disabled={steps.length < 2}
        value={at}
        aria-label={`Predict at ${parameter.name}`}
        aria-valuetext={`${parameter.name} = ${value}`}
        data-main={isMain ? '1' : undefined}
        style={{ '--measured': `${((100 * end) / Math.max(1, steps.length - 1)).toFixed(2)}%` }}
        onInput={(event) => onChange(steps[Number((event.target as HTMLInputElement).value)]!, false)}
      />
      <input
        id={`at-${parameter.name}`}
        class="slider-value"
        inputMode="decimal"
        aria-label={`Value of ${parameter.name}`}
        value={typed ?? String(Number(value.toPrecision(12)))}
        onInput={(event) => setTyped((event.target as HTMLInputElement).value)}
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
      />
      <span
        class={far > 16 ? 'badge bad' : far > 4 ? 'badge warn' : 'hint'}
        title={
          far > 1
            ? far <= 4
              ? 'an estimate'
              : far <= 16
                ? 'a rough estimate'
                : 'an order of magnitude'
            : `measured from ${first} to ${last}`
        }
      >
        {far > 1 ? `${shortNumber(Number(far.toPrecision(3)))}× beyond` : 'measured'}
      </span>
    </div>
  );
}

export function Sliders({
  answer,
  at,
  main,
  onAt,
}: {
  answer: ScaleAnswer;
  at: readonly number[];
  main: string;
  onAt: (values: number[], isLast: boolean) => void;
}) {
  const { total, unit } = answer;
  return (
    <div class="sliders">
      {answer.parameters.map((p, i) => (
        <Slider
          key={p.name}
          parameter={p}
          value={at[i]!}
          isMain={p.name === main}
          onChange={(value, isLast) =>
            onAt(
              at.map((v, k) => (k === i ? value : v)),
              isLast,
            )
          }
        />
      ))}
      <span class="whole">
        <span class="hint">whole program</span>{' '}
        {Number.isFinite(real(total.value)) ? formatValue(unit, real(total.value)) : 'unknown'}
        {Number.isFinite(real(total.low)) && (
          <span class="hint">{` 95 %: ${formatValue(unit, real(total.low))} – ${formatValue(unit, real(total.high))}`}</span>
        )}
        {Number.isFinite(real(total.now)) && <span class="hint">{`, now ${formatValue(unit, real(total.now))}`}</span>}
      </span>
    </div>
  );
}
