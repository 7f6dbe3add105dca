// The flame graph: zoom by click or Enter, search, details at the pointer, keys. Frames are in pre-order; their places are read from the picture itself.
const plot = svg.querySelector('.frames');
const LEFT = +plot.dataset.left;
const grows = plot.dataset.grows === 'up' ? -1 : 1; // which way children lie
const ROW = +plot.dataset.row;
const WHOLE = +plot.dataset.width;
const frames = [];

(function read() {
  const open = []; // the last frame of each level
  for (const group of [...plot.children]) { // a copy: the list itself is counted anew after each change
    const rect = group.querySelector('rect');
    const title = group.querySelector('title');
    const y = +rect.getAttribute('y');
    const depth = Math.round(Math.abs(y - +plot.dataset.root) / ROW);
    const [name, ...facts] = title.textContent.split('\n');
    const frame = {
      group, rect, text: group.querySelector('text'), name, facts, y, depth, i: frames.length, end: 0, children: [],
      x: (+rect.getAttribute('x') - LEFT) / WHOLE, w: +rect.getAttribute('width') / WHOLE, parent: open[depth - 1] || null,
    };
    title.remove(); // the box says the same, at once
    if (frame.parent) frame.parent.children.push(frame);
    open.length = depth;
    open[depth] = frame;
    group.frame = frame;
    frames.push(frame);
  }
  for (let i = frames.length - 1; i >= 0; i--) {
    const last = frames[i].children[frames[i].children.length - 1];
    frames[i].end = last ? last.end : i;
  }
})();

let zoomed = frames[0];
let current = null; // has the keyboard
let query = '';
let isTyping = false;
let heedsCase = null; // null: where the query has capitals, as in an editor

// ---- drawing

function put(frame, x, width) {
  frame.group.style.display = '';
  frame.rect.setAttribute('x', LEFT + x);
  frame.rect.setAttribute('width', Math.max(0.2, width - (width > 3 ? 0.6 : 0)));
  const text = cut(frame.name, Math.floor((width - 7) / LETTER));
  if (text && !frame.text) frame.text = make(frame.group, 'text', {y: frame.y + 12.5});
  if (!frame.text) return;
  frame.text.textContent = text;
  frame.text.setAttribute('x', LEFT + x + 4);
}

function draw() {
  const page = pageWidth();
  const width = page - 2 * LEFT;
  setPageWidth(page);
  const above = new Set();
  for (let up = zoomed.parent; up; up = up.parent) above.add(up);
  for (const frame of frames) {
    const isAbove = above.has(frame);
    frame.group.classList.toggle('above', isAbove);
    if (isAbove) {
      put(frame, 0, width);
      continue;
    }
    const w = frame.i >= zoomed.i && frame.i <= zoomed.end ? frame.w / zoomed.w * width : 0;
    if (w < 0.04) frame.group.style.display = 'none';
    else put(frame, (frame.x - zoomed.x) / zoomed.w * width, w);
  }
  reset.style.display = zoomed === frames[0] ? 'none' : '';
  const right = placeButtons([reset, find], page);
  matched.setAttribute('x', right);
}

function zoom(frame) {
  zoomed = frame;
  tip.hide();
  draw();
  search();
}

// ---- searching

function pattern() {
  const flags = heedsCase ?? /\p{Lu}/u.test(query) ? 'u' : 'iu';
  try {
    return new RegExp(query, flags);
  } catch {
    return new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), flags);
  }
}

// Marks what matches, and says how much of what is shown lies in it: frames within others count once.
function search() {
  const wanted = query ? pattern() : null;
  let hits = 0;
  let share = 0;
  let within = -1; // the end of the outermost match
  for (const frame of frames) {
    const isHit = !!wanted && frame.i > 0 && wanted.test(frame.name);
    frame.group.classList.toggle('hit', isHit);
    if (!isHit || frame.i < zoomed.i || frame.i > zoomed.end) continue;
    hits++;
    if (frame.i > within) {
      share += frame.w / zoomed.w;
      within = frame.end;
    }
  }
  plot.classList.toggle('searched', !!wanted);
  if (!isTyping) keepAddress({frame: zoomed.i || null, search: query, case: query && heedsCase !== null ? +heedsCase : null});
  const caret = isTyping ? '▏' : '';
  matched.textContent = !query && !isTyping ? '' : `/${query}${caret}${heedsCase === null ? '' : heedsCase ? '  Aa' : '  aa'}` +
    (wanted ? `  ${(100 * share).toFixed(1)} % in ${hits.toLocaleString('en')} frame${hits === 1 ? '' : 's'}` : '  a regular expression');
}

function toggleCase() {
  heedsCase = !(heedsCase ?? /\p{Lu}/u.test(query));
  search();
}

function type(on) {
  isTyping = on;
  search();
}

// ---- details

function describe(frame, x, y) {
  const facts = [...frame.facts];
  if (zoomed !== frames[0] && frame.i > zoomed.i && frame.i <= zoomed.end) facts.push(`${(100 * frame.w / zoomed.w).toFixed(1)} % of ${cut(zoomed.name, 40)}`);
  tip.show(frame.name, facts, x, y);
}

function frameOf(event) {
  const group = event.target.closest && event.target.closest('.frames > g');
  return group ? group.frame : null;
}

// ---- keys

function go(frame) {
  if (!frame) return;
  if (current) current.group.removeAttribute('tabindex');
  current = frame;
  frame.group.setAttribute('tabindex', 0);
  frame.group.setAttribute('aria-label', [frame.name, ...frame.facts].join(', '));
  frame.group.focus();
}

const isShown = frame => frame && frame.group.style.display !== 'none';

function besides(frame, step) {
  const all = frame.parent ? frame.parent.children.filter(isShown) : [frame];
  return all[all.indexOf(frame) + step];
}

function typed(event) {
  if (event.key === 'Escape') forget();
  if (event.key === 'Escape' || event.key === 'Enter') return type(false);
  if (event.key === 'Backspace') query = [...query].slice(0, -1).join('');
  else if ([...event.key].length === 1) query += event.key;
  search();
}

function forget() {
  query = '';
  heedsCase = null;
}

function escape() {
  if (query) {
    forget();
    search();
  } else zoom(frames[0]);
}

document.addEventListener('keydown', event => {
  const isFind = (event.ctrlKey || event.metaKey) && event.key === 'f';
  if (event.ctrlKey && event.key === 'i' && (query || isTyping)) {
    event.preventDefault();
    return toggleCase();
  }
  if ((event.ctrlKey || event.metaKey || event.altKey) && (!isFind || isTyping)) return; // the second time the browser's own
  if (isTyping && event.key === 'Tab') return type(false);
  const keys = {
    '/': () => type(true), f: () => type(true), Escape: escape, r: () => zoom(frames[0]), Home: () => zoom(frames[0]),
    Backspace: () => zoomed.parent && zoom(zoomed.parent),
    Enter: () => current && zoom(current), ' ': () => current && zoom(current),
    ArrowLeft: () => go(current ? besides(current, -1) : zoomed), ArrowRight: () => go(current ? besides(current, 1) : zoomed),
    ArrowUp: () => go(!current ? zoomed : grows > 0 ? current.parent : current.children.find(isShown)),
    ArrowDown: () => go(!current ? zoomed : grows > 0 ? current.children.find(isShown) : current.parent),
  };
  const act = isTyping ? () => typed(event) : keys[event.key];
  if (!act || (event.key === 'f' && !isFind && !isTyping)) return;
  event.preventDefault();
  act();
});

document.addEventListener('paste', event => {
  if (!isTyping) return;
  query += event.clipboardData.getData('text').replace(/\s+/g, ' ').trim();
  search();
});

// ---- beginning

function restore() {
  const at = addressed();
  isTyping = false;
  query = at.get('search') || '';
  heedsCase = at.has('case') ? at.get('case') === '1' : null;
  zoom(frames[+at.get('frame')] || frames[0]);
}

const reset = button('Reset zoom', 'Reset zoom (Esc)', () => zoom(frames[0]));
const find = button('Search', 'Search (/ or Ctrl-F)', () => type(!isTyping));
const matched = make(svg, 'text', {class: 'matched', y: 25, 'text-anchor': 'end', 'aria-live': 'polite'});

plot.addEventListener('click', event => {
  const frame = frameOf(event);
  if (frame) zoom(frame);
});
plot.addEventListener('mousemove', event => {
  const frame = frameOf(event);
  if (frame) describe(frame, ...pointerAt(event));
});
plot.addEventListener('mouseleave', () => tip.hide());
plot.addEventListener('focusin', event => {
  const frame = frameOf(event);
  if (frame) describe(frame, +frame.rect.getAttribute('x'), frame.y);
});
plot.addEventListener('focusout', () => tip.hide());
if (frames.length) {
  frames[0].group.setAttribute('tabindex', 0);
  current = null;
  window.addEventListener('resize', draw);
  window.addEventListener('hashchange', restore);
  restore();
}
