// Menus: openMenu(event, items) at the pointer or below the button that was pressed. <MenuHost/> shows them; the shell
// has one.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface MenuItem {
  label: string;
  hint?: string;
  /** Shown with a mark; the menu stays open. */
  checked?: boolean;
  disabled?: boolean;
  run: () => void;
}

export type MenuEntry = MenuItem | 'line';

interface Open {
  x: number;
  y: number;
  items: () => MenuEntry[];
}

let show: (menu: Open | null) => void = () => undefined;

/** items is a function where marks change while the menu is open. */
export function openMenu(event: MouseEvent | KeyboardEvent, items: MenuEntry[] | (() => MenuEntry[])): void {
  event.preventDefault();
  event.stopPropagation();
  const make = typeof items === 'function' ? items : () => items;
  const isPointer =
    event instanceof MouseEvent && event.type === 'contextmenu' && (event.clientX !== 0 || event.clientY !== 0);
  const box = ((event.currentTarget ?? event.target) as HTMLElement).getBoundingClientRect();
  show(
    isPointer ? { x: event.clientX, y: event.clientY, items: make } : { x: box.left, y: box.bottom + 2, items: make },
  );
}

export const closeMenu = (): void => show(null);

export function MenuHost() {
  const [open, setOpen] = useState<Open | null>(null);
  const [, redraw] = useState(0);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    show = setOpen;
    return () => {
      show = () => undefined;
    };
  }, []);
  useLayoutEffect(() => {
    const element = menu.current;
    if (!open || !element) return undefined;
    const before = document.activeElement;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(open.x, innerWidth - width - 4))}px`;
    element.style.top = `${Math.max(4, Math.min(open.y, innerHeight - height - 4))}px`;
    element.querySelector<HTMLElement>('button:not(:disabled)')?.focus();
    const away = (event: Event) => {
      if (!element.contains(event.target as Node)) setOpen(null);
    };
    addEventListener('pointerdown', away, true);
    addEventListener('blur', closeMenu);
    return () => {
      removeEventListener('pointerdown', away, true);
      removeEventListener('blur', closeMenu);
      if (before instanceof HTMLElement) before.focus();
    };
  }, [open]);
  if (!open) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...(menu.current?.querySelectorAll<HTMLElement>('button:not(:disabled)') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'ArrowDown') buttons[(at + 1) % buttons.length]?.focus();
    else if (event.key === 'ArrowUp') buttons[(at - 1 + buttons.length) % buttons.length]?.focus();
    else if (event.key === 'Home') buttons[0]?.focus();
    else if (event.key === 'End') buttons[buttons.length - 1]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') setOpen(null);
    else if (event.key !== 'Enter' && event.key !== ' ') return event.stopPropagation();
    else return event.stopPropagation();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" role="menu" ref={menu} onKeyDown={onKeyDown}>
      {open.items().map((item, i) =>
        item === 'line' ? (
          <hr key={i} />
        ) : (
          <button
            key={i}
            role={item.checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
            aria-checked={item.checked}
            disabled={item.disabled}
            onClick={() => {
              if (item.checked === undefined) setOpen(null);
              item.run();
              redraw((n) => n + 1);
            }}
          >
            <span class="mark">{item.checked ? '✓' : ''}</span>
            <span class="grow">{item.label}</span>
            {item.hint && <span class="hint">{item.hint}</span>}
          </button>
        ),
      )}
    </div>
  );
}
