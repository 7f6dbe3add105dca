// Metrics of formulas: all of them are in the address, and every request has them (api.ts).
import { useRef, useState } from 'preact/hooks';
import { failure, get, type Inputs, type Opened } from './api';
import { Dialog } from './dialog';
import { navigate, type Address } from './state';

export const formulasIn = ({ values }: Address): string[] => (values.get('derive') ?? '').split('\n').filter(Boolean);

/** As a formula names a metric. */
const quoted = (name: string): string => (/^[A-Za-z_][\w:]*$/.test(name) ? name : `'${name.replace(/'/g, "''")}'`);

const nameOf = (formula: string): string => /^\s*(['"`]?)(.*?)\1\s*(\[[^[]*\]\s*)?=/.exec(formula)?.[2]?.trim() ?? '';

/** Those of a command that shows these metrics: theirs, and those that they are made of. */
export function formulasFor(input: Opened, names: readonly (string | null | undefined)[]): string[] {
  const needed: string[] = [];
  for (const m of [...input.metrics].reverse())
    if (m.derive && (names.includes(m.name) || needed.some((f) => f.includes(m.name)))) needed.unshift(m.derive);
  return needed;
}

/** d: the input that is looked at. */
export function FormulaDialog({
  input,
  formulas,
  onClose,
}: {
  input: Opened;
  formulas: readonly string[];
  onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [old, setOld] = useState('');
  const [error, setError] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const write = (next: readonly string[], more: Record<string, string | null> = {}) =>
    navigate({ derive: next.join('\n') || null, ...more });
  const take = async (event: Event) => {
    event.preventDefault();
    const formula = text.trim();
    if (!formula) return;
    const next = old
      ? formulas.map((f) => (f === old ? formula : f))
      : [...formulas.filter((f) => f !== formula), formula];
    try {
      const answer = await get<Inputs>('inputs', { derive: next });
      const wrong = answer.derives?.find((d) => d.text === formula)?.error;
      if (!wrong) {
        write(next, { m: nameOf(formula) });
        return onClose();
      }
      setError(wrong);
      const column = Number(/column (\d+)/.exec(wrong)?.[1]) - 1;
      if (column >= 0) field.current?.setSelectionRange(column, column);
    } catch (failed) {
      setError(failure(failed).message);
    }
    field.current?.focus();
  };
  const insert = (name: string) => {
    const at = field.current?.selectionStart ?? text.length;
    setText(`${text.slice(0, at)}${quoted(name)}${text.slice(at)}`);
    field.current?.focus();
  };
  return (
    <Dialog title="Metrics of formulas" onClose={onClose}>
      <form class="suggest formula" onSubmit={(event) => void take(event)}>
        {formulas.map((f) => (
          <div key={f} class="chip">
            <button
              type="button"
              class="quiet ellipsis grow"
              title="Change it"
              onClick={() => [setText(f), setOld(f), setError(''), field.current?.focus()]}
            >
              {f}
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`Remove ${f}`}
              onClick={() => write(formulas.filter((other) => other !== f))}
            >
              ✕
            </button>
          </div>
        ))}
        <div class="choice">
          <input
            ref={field}
            class="grow mono"
            aria-label="Formula"
            aria-invalid={error !== ''}
            spellcheck={false}
            autofocus
            placeholder="ipc=instructions/cycles"
            value={text}
            onInput={(event) => [setText(event.currentTarget.value), setError('')]}
          />
          <select aria-label="Insert a metric" value="" onChange={(event) => insert(event.currentTarget.value)}>
            <option value="">metric …</option>
            {input.metrics.map((m) => (
              <option key={m.id} value={m.name}>
                {m.name}
              </option>
            ))}
          </select>
          <button>{old ? 'Change' : 'Add'}</button>
        </div>
        {error && (
          <p role="alert" class="bad">
            {error}
          </p>
        )}
        <p class="hint">
          NAME=EXPRESSION, or NAME [UNIT]=EXPRESSION, of metrics and numbers: + - * / ^, sqrt min max sum avg round …,
          @metric is that of the whole program.
        </p>
      </form>
    </Dialog>
  );
}
