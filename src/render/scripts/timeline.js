// Time lines: a cross at the pointer with what is there, zoom by dragging, + and -, arrows to go along; a name of the list shows where it is.
const plot = svg.querySelector('.plot');
const rows = plot.querySelector('.rows');
const axis = svg.querySelector('.axis');
const COLUMNS = +plot.dataset.columns;
const ROW = +plot.dataset.row;
const FROM = +plot.dataset.from;
const TO = +plot.dataset.to;
const LEFT = +plot.getAttribute('x');
const TOP = +plot.getAttribute('y');
const HEIGHT = +plot.getAttribute('height');

// The runs of each row, from the paths that draw them.
const lanes = [...rows.children].map(group => {
  const label = group.querySelector('title');
  const lane = {label: label.textContent, runs: []};
  label.remove();
  for (const path of group.querySelectorAll('path')) {
    const title = path.querySelector('title');
    for (const [, x, width] of path.getAttribute('d').matchAll(/M(\d+) 0h(\d+)/g)) lane.runs.push({name: title.textContent, x: +x, end: +x + +width});
    title.remove();
  }
  lane.runs.sort((a, b) => a.x - b.x);
  return lane;
});

let first = 0; // what is shown, in columns
let last = COLUMNS;
let pressed = null; // where dragging began
let width = +plot.getAttribute('width');

const UNITS = [['h', 3600], ['min', 60], ['s', 1], ['ms', 1e-3], ['µs', 1e-6], ['ns', 1e-9]];
const timeAt = column => FROM + (TO - FROM) * column / COLUMNS;

// A time to about four digits more than the step that can be told apart.
function say(seconds, step) {
  const size = Math.max(Math.abs(seconds), step);
  const [unit, factor] = UNITS.find(([name, one]) => size >= one && (name !== 'min' && name !== 'h')) || UNITS[5];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / factor))));
  return `${(seconds / factor).toFixed(digits)} ${unit}`;
}

// ---- drawing

function drawAxis() {
  const span = timeAt(last) - timeAt(first);
  const unit = UNITS.find(([name, one]) => timeAt(last) >= one && name !== 'min' && name !== 'h') || UNITS[5];
  const least = span / Math.max(2, width / 110) / unit[1];
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= least) || power * 10;
  const digits = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
  axis.replaceChildren();
  if (!(span > 0)) return;
  for (let n = Math.ceil(timeAt(first) / unit[1] / step - 1e-9); n * step <= timeAt(last) / unit[1] + 1e-9 * step; n++) {
    const column = columnOf(n * step * unit[1]);
    const x = LEFT + (column - first) / (last - first) * width;
    make(axis, 'path', {class: 'rule', d: `M${x} ${TOP + HEIGHT}v5`});
    make(axis, 'text', {class: 'tick', x, y: TOP + HEIGHT + 17}, (n * step).toFixed(digits));
  }
  make(axis, 'text', {class: 'label', x: LEFT - 20, y: TOP + HEIGHT + 17}, `[${unit[0]}]`);
}

function draw() {
  const page = pageWidth();
  setPageWidth(page);
  if (isAlone) width = Math.max(200, page - LEFT - 20);
  plot.setAttribute('width', width);
  const scale = width / (last - first);
  rows.setAttribute('transform', `translate(${-first * scale} 0) scale(${scale} 1)`);
  drawAxis();
  reset.style.display = first > 0 || last < COLUMNS ? '' : 'none';
  placeButtons([reset], page);
}

// Not closer than two columns: there is nothing more to be seen.
function show(from, to) {
  const size = Math.min(COLUMNS, Math.max(2, to - from));
  first = Math.max(0, Math.min(from, COLUMNS - size));
  last = first + size;
  hideCross();
  draw();
  const isAll = first === 0 && last === COLUMNS;
  keepAddress({from: isAll ? null : timeAt(first), to: isAll ? null : timeAt(last)});
}

const columnOf = time => (time - FROM) / (TO - FROM) * COLUMNS;

// From … to, in seconds; where they say nothing it is all.
function restore() {
  const [from, to] = ['from', 'to'].map(name => columnOf(parseFloat(addressed().get(name))));
  if (to > from) show(from, to);
  else show(0, COLUMNS);
}

// ---- the cross

const cross = make(svg, 'path', {class: 'cross'});
const chosen = make(svg, 'rect', {class: 'chosen', y: TOP, height: HEIGHT});

function hideCross() {
  cross.setAttribute('d', '');
  tip.hide();
}

const columnAt = x => Math.max(first, Math.min(last, first + (x - LEFT) / width * (last - first)));

function point(event) {
  const [x, y] = pointerAt(event);
  const column = columnAt(x);
  const lane = lanes[Math.floor((y - TOP) / ROW)];
  const step = (TO - FROM) / COLUMNS;
  cross.setAttribute('d', `M${x} ${TOP}v${HEIGHT}`);
  if (pressed !== null) {
    const [a, b] = [Math.min(pressed, column), Math.max(pressed, column)];
    chosen.setAttribute('x', LEFT + (a - first) / (last - first) * width);
    chosen.setAttribute('width', (b - a) / (last - first) * width);
    tip.show(`${say(timeAt(a), step)} … ${say(timeAt(b), step)}`, [say(timeAt(b) - timeAt(a), step)], x, y);
    return;
  }
  const run = lane && lane.runs.find(one => one.x <= column && column < one.end);
  const at = `at ${say(timeAt(column), step)}`;
  if (run) tip.show(run.name, [lane.label, `${at}, for ${say((run.end - run.x) * step, step)}`], x, y);
  else tip.show(at, lane ? [lane.label] : [], x, y);
}

plot.addEventListener('mousemove', point);
plot.addEventListener('mouseleave', () => pressed === null && hideCross());
plot.addEventListener('mousedown', event => {
  event.preventDefault();
  pressed = columnAt(pointerAt(event)[0]);
});
document.addEventListener('mousemove', event => pressed !== null && point(event));
document.addEventListener('mouseup', event => {
  if (pressed === null) return;
  const end = columnAt(pointerAt(event)[0]);
  const begin = pressed;
  pressed = null;
  chosen.setAttribute('width', 0);
  if (Math.abs(end - begin) / (last - first) * width > 4) show(Math.min(begin, end), Math.max(begin, end));
});

// ---- the list

for (const key of svg.querySelectorAll('.keys[data-p]')) {
  key.addEventListener('mouseenter', () => {
    svg.classList.add('listing');
    for (const path of rows.querySelectorAll(`path[data-p="${key.dataset.p}"]`)) path.classList.add('on');
  });
  key.addEventListener('mouseleave', () => {
    svg.classList.remove('listing');
    for (const path of rows.querySelectorAll('path.on')) path.classList.remove('on');
  });
}

// ---- keys

document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const size = last - first;
  const middle = (first + last) / 2;
  const keys = {
    Escape: () => show(0, COLUMNS), r: () => show(0, COLUMNS), Home: () => show(0, size), End: () => show(COLUMNS - size, COLUMNS),
    '+': () => show(middle - size / 4, middle + size / 4), '=': () => show(middle - size / 4, middle + size / 4), '-': () => show(middle - size, middle + size),
    ArrowLeft: () => show(first - size / 4, last - size / 4), ArrowRight: () => show(first + size / 4, last + size / 4),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

const reset = button('Reset zoom', 'Reset zoom (Esc)', () => show(0, COLUMNS));
window.addEventListener('resize', draw);
window.addEventListener('hashchange', restore);
restore();
