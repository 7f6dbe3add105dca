// The left rail: the inputs, which of them is chosen, what is wrong with them, and where more can be added.
import { useRef } from 'preact/hooks';
import { isReport, type Input, type Inputs } from './api';
import type { Dropped } from './drop';
import { plural } from './format';
import { Icon } from './icons';
import { Cut } from './picker';
import { select } from './state';

export interface RailProps {
  inputs: Inputs | null;
  chosen: number;
  /** On the screen Compare: what is A, and what is B. */
  sides: readonly number[];
  onFiles: (files: Dropped[]) => void;
  /** Of one that could not be read: it was seen. */
  onDismiss: (input: Input) => void;
}

function InputEntry({
  input,
  chosen,
  side,
  onDismiss,
}: {
  input: Input;
  chosen: boolean;
  side: string;
  onDismiss: () => void;
}) {
  const problems = input.problems ?? 0;
  return (
    <li>
      <button
        class={`input-entry${chosen ? ' chosen' : ''}${input.error ? ' broken' : ''}`}
        aria-current={chosen}
        title={input.error ? input.error.message : input.path}
        onClick={() => select({ dataset: input.id })}
      >
        <span class="input-name">
          <Cut text={input.name} />
          <span class="grow" />
          {side && <span class="badge">{side}</span>}
          {input.error && <span class="badge bad">error</span>}
          {!input.error && problems > 0 && (
            <span class="badge warn" title={plural(problems, 'problem')}>
              {problems}
            </span>
          )}
        </span>
        <span class="hint ellipsis">
          {input.error ? input.error.message : (input.format_title ?? input.format ?? '')}
        </span>
      </button>
      {input.error && !isReport() && (
        <button class="quiet dismiss" title="Dismiss" aria-label={`Dismiss ${input.name}`} onClick={onDismiss}>
          ✕
        </button>
      )}
    </li>
  );
}

export function Rail({ inputs, chosen, sides, onFiles, onDismiss }: RailProps) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <aside class="rail" aria-label="Inputs">
      <div class="brand">
        <span class="brand-mark" aria-hidden="true" />
        assay
        {inputs && <span class="hint">{inputs.version}</span>}
      </div>
      <ul class="inputs">
        {inputs?.inputs.map((input) => (
          <InputEntry
            key={input.id}
            input={input}
            onDismiss={() => onDismiss(input)}
            chosen={input.id === chosen}
            side={['A', 'B'].filter((_, i) => sides[i] === input.id).join(' ')}
          />
        ))}
      </ul>
      {!isReport() && (
        <div class="rail-foot">
          <button class="add" onClick={() => field.current?.click()}>
            <Icon name="add" /> Add files …
          </button>
          <p class="hint">or drop files and folders anywhere</p>
          <input
            ref={field}
            class="off-screen"
            type="file"
            multiple
            tabIndex={-1}
            aria-label="Add files"
            onChange={(event) => {
              const files = [...(event.currentTarget.files ?? [])].map((file) => ({ name: file.name, file }));
              event.currentTarget.value = '';
              onFiles(files);
            }}
          />
        </div>
      )}
    </aside>
  );
}
