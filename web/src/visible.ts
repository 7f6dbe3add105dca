// Characters in names from files that reorder or hide what stands around them (U+202E, U+2066 …): people see escapes in
// their place, as on a terminal (src/render/display.c). What is copied or sent has them as they are.
import { options } from 'preact';

const HARMFUL = /[\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff]/g;

export const visible = (text: string): string =>
  text.replace(HARMFUL, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** From now on, in every text and tooltip of the page and on every canvas: no screen can forget it. */
export function showHarmful(): void {
  const before = options.vnode;
  options.vnode = (node) => {
    const props = node.props as unknown;
    if (typeof props === 'string') (node as { props: unknown }).props = visible(props);
    else if (typeof node.type === 'string')
      for (const key of ['title', 'aria-label']) {
        const text = (props as Record<string, unknown>)[key];
        if (typeof text === 'string') (props as Record<string, unknown>)[key] = visible(text);
      }
    before?.(node);
  };
  const canvas = CanvasRenderingContext2D.prototype;
  const { fillText, measureText } = canvas;
  canvas.fillText = function (text, ...place) {
    fillText.call(this, visible(text), ...place);
  };
  canvas.measureText = function (text) {
    return measureText.call(this, visible(text));
  };
}
