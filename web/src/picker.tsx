// A button that shows what is chosen; pressed, a list that is searched by typing.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SearchList, type Choice } from './list';

export interface PickerProps {
  /** What is picked: "Metric". */
  label: string;
  /** What is chosen. */
  value: string;
  hint?: string;
  choices: readonly Choice[];
}

/**
 * A name that keeps its end where it is cut: names of runs begin alike. Plain letters only, as others can be composed,
 * or go from right to left.
 */
export const Cut = ({ text }: { text: string }) =>
  /^[ -~]{24,}$/.test(text) ? (
    <span class="cut">
      <span class="ellipsis">{text.slice(0, -10)}</span>
      {text.slice(-10)}
    </span>
  ) : (
    <span class="ellipsis">{text}</span>
  );

export function Picker({ label, value, hint, choices }: PickerProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    const away = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', away, true);
    return () => removeEventListener('pointerdown', away, true);
  }, [open]);
  useLayoutEffect(() => {
    const element = popup.current;
    if (element) element.style.marginLeft = `${Math.min(0, innerWidth - element.getBoundingClientRect().right - 8)}px`;
  }, [open]);
  return (
    <div class="picker" ref={box}>
      <button
        aria-haspopup="listbox"
        aria-expanded={open}
        aria-label={`${label}: ${value}`}
        title={value}
        onClick={() => setOpen(!open)}
      >
        <span class="picker-label">{label}</span>
        <Cut text={value} />
        {hint && <span class="hint">{hint}</span>}
        <span class="caret" aria-hidden="true" />
      </button>
      {open && (
        <div class="popup" ref={popup}>
          <SearchList
            choices={choices}
            placeholder="Find"
            onDone={() => {
              setOpen(false);
              box.current?.querySelector('button')?.focus();
            }}
          />
        </div>
      )}
    </div>
  );
}
