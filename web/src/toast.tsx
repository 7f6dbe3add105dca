// Short messages at the lower edge: toast('Copied'). Errors stay until they are closed.
import { useEffect, useState } from 'preact/hooks';
import { failure } from './api';

interface Toast {
  id: number;
  text: string;
  isError: boolean;
}

const SHOWN_MS = 2500;
let toasts: Toast[] = [];
let next = 1;
let redrawHost: () => void = () => undefined;

function close(id: number): void {
  toasts = toasts.filter((t) => t.id !== id);
  redrawHost();
}

/** Not closed before `until` is settled. */
export function toast(text: string, isError = false, until?: Promise<unknown>): void {
  const id = next++;
  toasts = [...toasts.filter((t) => t.text !== text), { id, text, isError }].slice(-4);
  redrawHost();
  if (!isError)
    void Promise.allSettled([until, new Promise((resolve) => setTimeout(resolve, SHOWN_MS))]).then(() => close(id));
}

/** What went wrong, with the place where there is one: "profile.cubex:12: …". */
export function errorText(error: unknown): string {
  const { file, line, message } = failure(error);
  return `${file ? `${file}${line ? `:${line}` : ''}: ` : ''}${message}`;
}

export const toastError = (error: unknown): void => toast(errorText(error), true);

export async function copyText(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No permission, or no clipboard for pages of files: the old way
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'off-screen';
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    if (!done) return toast('The browser does not let this page copy.', true);
  }
  toast(what);
}

export function ToastHost() {
  const [, redraw] = useState(0);
  useEffect(() => {
    redrawHost = () => redraw((n) => n + 1);
    redrawHost();
    return () => {
      redrawHost = () => undefined;
    };
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map((t) => (
        <div key={t.id} class={t.isError ? 'toast error' : 'toast'} role={t.isError ? 'alert' : undefined}>
          <span>{t.text}</span>
          <button class="quiet" aria-label="Close message" onClick={() => close(t.id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
