// What the interactive pictures share: elements, text that fits, the box that follows the pointer, buttons. No library, no network; every text from a
// file goes through textContent.
const svg = document.currentScript ? document.currentScript.closest('svg') : document.documentElement;
const isAlone = document.documentElement === svg; // the picture is the document: it may take the width of the window
const LETTER = 6.62; // the width of a letter of the monospaced font, 11 pixels high
const MARGIN = 10;

function make(parent, name, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

// Letters beyond Latin and Greek may be twice as wide.
function columns(text) {
  let n = 0;
  for (const letter of text) n += letter.codePointAt(0) > 0x10ff ? 2 : 1;
  return n;
}

// The beginning of the text that fits into so many columns; '' where that would say nothing.
function cut(text, room) {
  if (columns(text) <= room) return text;
  if (room < 4) return '';
  let out = '';
  let used = 1;
  for (const letter of text) {
    used += columns(letter);
    if (used > room) break;
    out += letter;
  }
  return out && out + '…';
}

function lines(text, room) {
  const out = [];
  const letters = [...text];
  while (letters.length && out.length < 8) out.push(letters.splice(0, room).join(''));
  if (letters.length) out[out.length - 1] += '…';
  return out;
}

// As wide as the window, where the picture has one of its own.
function pageWidth() {
  return isAlone ? Math.max(480, window.innerWidth) : svg.viewBox.baseVal.width;
}

function setPageWidth(width) {
  const height = svg.viewBox.baseVal.height;
  if (isAlone) svg.setAttribute('width', width);
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
}

// What is shown stands in the address, where the picture has one of its own: a link and a reload show the same.
const addressed = () => new URLSearchParams(isAlone ? location.hash.slice(1) : '');

function keepAddress(values) {
  const words = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== ''));
  if (!isAlone || String(words) === String(addressed())) return;
  try {
    history.replaceState(null, '', String(words) ? `#${words}` : location.pathname + location.search);
  } catch {
    // Some browsers allow no change, or not so many: the picture is as well without it
  }
}

// ---- the box beside the pointer

const tip = {
  // first: set apart, the name; rest: lines below it. (x, y): a place of the picture.
  show(first, rest, x, y) {
    this.hide();
    this.group = make(svg, 'g', {class: 'tip', 'pointer-events': 'none'});
    const box = make(this.group, 'rect', {rx: 5});
    const head = lines(first, 76);
    const all = [...head, ...rest];
    all.forEach((line, i) => make(this.group, 'text', {x: 10, y: 18 + 16 * i, class: i < head.length ? 'name' : 'fact'}, line));
    const width = 20 + LETTER * Math.max(...all.map(columns));
    const height = 12 + 16 * all.length;
    box.setAttribute('width', width);
    box.setAttribute('height', height);
    const view = svg.viewBox.baseVal;
    const bottom = isAlone ? window.scrollY + window.innerHeight : view.height;
    const left = Math.max(4, Math.min(x + 14, view.width - width - 4));
    const top = y + 18 + height > bottom ? y - height - 10 : y + 18;
    this.group.setAttribute('transform', `translate(${left} ${Math.max(4, top)})`);
  },
  hide() {
    if (this.group) this.group.remove();
    this.group = null;
  },
};

// Where the pointer is, in the picture's own units.
function pointerAt(event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [at.x, at.y];
}

// ---- buttons, at the right of the head

function button(text, hint, act) {
  const group = make(svg, 'g', {class: 'button', role: 'button', tabindex: 0, 'aria-label': hint});
  make(group, 'rect', {width: 16 + LETTER * columns(text), height: 22, rx: 4});
  make(group, 'text', {x: 8, y: 15}, text);
  group.size = 16 + LETTER * columns(text);
  group.addEventListener('click', act);
  group.addEventListener('keydown', event => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  return group;
}

// Puts them side by side, the last at the margin; those that are hidden take no room.
function placeButtons(buttons, width) {
  let right = width - MARGIN;
  for (const one of [...buttons].reverse()) {
    if (one.style.display === 'none') continue;
    one.setAttribute('transform', `translate(${right - one.size} 10)`);
    right -= one.size + 8;
  }
  return right;
}
