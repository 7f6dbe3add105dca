// What is said beside the pointer: it stays inside the window.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** at: the pointer, as clientX and clientY. */
export function Tooltip({ at, children }: { at: { x: number; y: number }; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(at.x + 14, innerWidth - width - 8))}px`;
    element.style.top = `${at.y + 18 + height > innerHeight ? Math.max(4, at.y - height - 10) : at.y + 18}px`;
  });
  return (
    <div class="tooltip" ref={box}>
      {children}
    </div>
  );
}
