// Which points to measure next, for a budget.
import { useState } from 'preact/hooks';
import { useData, type Params } from '../../api';
import { Failed } from '../../boundary';
import { Dialog } from '../../dialog';
import { formatValue, real, type Num } from '../../format';
import { copyText } from '../../toast';
import { parameterText, shortNumber } from './model';

interface SuggestAnswer {
  mode: string;
  reason: string;
  used: Num;
  suggested: Num;
  suggestions: {
    point: Record<string, Num>;
    repetitions: number;
    runtime: Num;
    low: Num;
    high: Num;
    cost: Num;
    total: Num;
    fits: boolean;
    brings: string;
  }[];
  nothing: string | null;
  notes: string[];
}

const hours = (n: Num): string => (Number.isFinite(real(n)) ? shortNumber(Number(real(n).toPrecision(4))) : '–');
const pointOf = (point: Record<string, Num>): string =>
  Object.entries(point)
    .map(([k, v]) => `${k} = ${parameterText(real(v))}`)
    .join(', ');

/**
 * hasProcesses: a parameter counts them; else all runs count as one process. command: what prints the same, without the
 * budget.
 */
export function Suggestions({
  params,
  hasProcesses,
  command,
  onClose,
}: {
  params: Params;
  hasProcesses: boolean;
  command: (options: Record<string, string | number | undefined>) => string;
  onClose: () => void;
}) {
  const processes = hasProcesses ? {} : { processes: 1 };
  // Nothing can be had for next to nothing: the answer says what was used so far
  const first = useData<SuggestAnswer>('suggest', { ...params, ...processes, budget: 1e-12 });
  const [typed, setTyped] = useState('');
  const usual = first.data ? Math.min(Number((2 * real(first.data.used)).toPrecision(3)), Number.MAX_VALUE) : NaN;
  const budget = Number(typed) > 0 ? Number(typed) : usual;
  const { data, error } = useData<SuggestAnswer>(budget > 0 ? 'suggest' : null, { ...params, ...processes, budget });
  const failed = first.error ?? error;
  return (
    <Dialog title="What to measure next" onClose={onClose}>
      <div class="suggest">
        <label class="choice">
          <span>Budget in core hours, what was used included</span>
          <input
            class="slider-value"
            inputMode="decimal"
            aria-label="Budget in core hours"
            placeholder={Number.isFinite(usual) ? String(usual) : ''}
            value={typed}
            onInput={(event) => setTyped((event.target as HTMLInputElement).value)}
          />
          {first.data && <span class="hint">{hours(first.data.used)} used so far</span>}
          <span class="grow" />
          <button
            onClick={() =>
              void copyText(command({ budget: budget > 0 ? budget : undefined, ...processes }), 'Command copied')
            }
          >
            Copy as command
          </button>
        </label>
        {failed && <Failed failure={failed} title="No advice" />}
        {data && !failed && (
          <>
            <p class="hint">{data.nothing ?? data.reason}</p>
            {data.suggestions.length > 0 && (
              <div class="why">
                <table>
                  <thead>
                    <tr>
                      <th>point</th>
                      <th class="right">times</th>
                      <th class="right">each takes</th>
                      <th class="right">core hours</th>
                      <th class="right">in all</th>
                      <th>brings</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.suggestions.map((s, i) => (
                      <tr key={i} class={s.fits ? undefined : 'hint'}>
                        <td>{pointOf(s.point)}</td>
                        <td class="right">{s.repetitions}</td>
                        <td
                          class="right"
                          title={`95 %: ${formatValue('s', real(s.low))} to ${formatValue('s', real(s.high))}`}
                        >
                          {formatValue('s', real(s.runtime))}
                        </td>
                        <td class="right">{hours(s.cost)}</td>
                        <td class="right">{hours(s.total)}</td>
                        <td>{s.fits ? s.brings : 'beyond the budget'}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            {data.notes.map((note) => (
              <p key={note} class="hint">
                {note}
              </p>
            ))}
          </>
        )}
      </div>
    </Dialog>
  );
}
