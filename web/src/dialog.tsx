// A modal dialog: the browser's own, which keeps the focus and closes on Escape.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Without head: the title is only for those who hear it. */
  bare?: boolean;
}

export function Dialog({ title, onClose, children, bare }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!dialog.current?.open) return; // it has closed already, and keeps the focus, for a moment before onClose
    event.stopPropagation();
    if (event.key !== 'Escape') return;
    event.preventDefault(); // that moment may be long: who opens the next one within it would see it closed
    onClose();
  };
  return (
    <dialog
      ref={dialog}
      class={bare ? 'dialog bare' : 'dialog'}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={onKeyDown}
    >
      <div class="dialog-body">
        {!bare && (
          <header>
            <h2>{title}</h2>
            <button class="quiet" aria-label="Close" onClick={onClose}>
              ✕
            </button>
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
}
