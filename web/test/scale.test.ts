// The arithmetic of the screen Scale; expected values are worked out by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contour,
  drawnUntil,
  formulaPieces,
  levelsOf,
  mapUntil,
  nearestStep,
  parameterTicks,
  parsePoint,
  pointText,
  severity,
  shortNumber,
  shownValue,
  sliderSteps,
  snapped,
  ticksOf,
  toC,
  type Parameter,
} from '../src/screens/scale/model';

const p: Parameter = { name: 'p', is_processes: true, values: [4, 8, 16] };
const n: Parameter = { name: 'n', is_processes: false, values: [10, 20] };

test('points are written and read', () => {
  assert.equal(pointText([p, n], [64, 0.5]), 'p=64,n=0.5');
  assert.deepEqual(parsePoint([p, n], 'n=0.5,p=64'), [64, 0.5]);
  assert.equal(parsePoint([p, n], 'p=64'), null);
  assert.equal(parsePoint([p, n], 'p=64,n=x'), null);
  assert.equal(parsePoint([p, n], ''), null);
});

test('sliders have the measured values, and go on', () => {
  const steps = sliderSteps(p.values);
  assert.equal(steps[0], 4);
  assert.equal(steps[steps.length - 1], 16 * 1024);
  for (const value of [4, 8, 16, 32, 4096]) assert.ok(steps.includes(value), String(value));
  assert.ok(steps.every((v, i) => Number.isInteger(v) && (i === 0 || v > steps[i - 1]!)));
  assert.equal(steps[nearestStep(steps, 4100)], 4096);
  assert.equal(sliderSteps([0, 10])[0], 0);
});

test('what is pointed at becomes a short number, or a measured one', () => {
  assert.equal(snapped(p.values, 8.4), 8);
  assert.equal(snapped(p.values, 10.27), 10);
  assert.equal(snapped(p.values, 123456), 123000);
  assert.equal(snapped([0.5, 1.5], 0.8123), 0.812);
});

test('pictures go on by factors of four', () => {
  assert.equal(drawnUntil(128, 64), 512);
  assert.equal(drawnUntil(128, 512), 512);
  assert.equal(drawnUntil(128, 513), 2048);
  assert.equal(drawnUntil(0, 7), 7);
  const three: Parameter[] = [
    { name: 'n', is_processes: false, values: [1, 10] },
    { name: 'p', is_processes: true, values: [2, 8] },
    { name: 'm', is_processes: false, values: [5, 6] },
  ];
  assert.deepEqual(mapUntil(three, ['n', 'p'], [3, 3, 5.5]), [10, 32, 5.5]);
  assert.deepEqual(mapUntil(three, ['n', 'm'], [11, 3, 60]), [40, 3, 96]);
});

test('ticks', () => {
  assert.deepEqual(ticksOf(0, 10, false, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticksOf(-0.3, 0.3, false, 3), [-0.2, 0, 0.2]);
  assert.deepEqual(ticksOf(1, 100, true, 7), [1, 2, 5, 10, 20, 50, 100]);
  assert.deepEqual(ticksOf(1, 1e6, true, 4), [1, 100, 10000, 1e6]);
  assert.deepEqual(parameterTicks([4, 8, 16], 4, 128, true, 10), [4, 8, 16, 32, 64, 128]);
  assert.deepEqual(parameterTicks([4, 8, 16], 4, 128, true, 3), [4, 16, 64]);
  assert.deepEqual(parameterTicks([10, 20, 30], 10, 30, false, 4), [10, 15, 20, 25, 30]);
  assert.deepEqual(ticksOf(3, 3, false, 4), [3]);
});

test('short numbers', () => {
  assert.deepEqual([0, 4096, 65536, 1e6, 0.025, 1e-7, 2.5e20, -1500].map(shortNumber), [
    '0',
    '4096',
    '65.5k',
    '1M',
    '0.025',
    '1e-7',
    '2.5e20',
    '-1500',
  ]);
});

test('contours of a plane are straight', () => {
  // z = x on a grid of 3 x 3: the line z = 0.5 is x = 0.5
  assert.deepEqual(contour([0, 1, 2, 0, 1, 2, 0, 1, 2], 3, 3, 0.5), [0.5, 0, 0.5, 1, 0.5, 1, 0.5, 2]);
  assert.deepEqual(contour([0, 1, NaN, 1], 2, 2, 0.5), []);
  assert.deepEqual(levelsOf(0, 10, false), [2, 4, 6, 8]);
});

test('functions are typeset', () => {
  assert.deepEqual(formulaPieces('12.3 - 0.25 * p^(3/2) * log2(p)^2', ['p']), [
    { kind: 'text', text: '12.3 − 0.25 · ' },
    { kind: 'var', text: 'p' },
    { kind: 'sup', text: '3/2' },
    { kind: 'text', text: ' · log' },
    { kind: 'sub', text: '2' },
    { kind: 'text', text: '(' },
    { kind: 'var', text: 'p' },
    { kind: 'text', text: ')' },
    { kind: 'sup', text: '2' },
  ]);
  assert.deepEqual(formulaPieces('1.8e-11 * n', ['n']), [
    { kind: 'text', text: '1.8×10' },
    { kind: 'sup', text: '−11' },
    { kind: 'text', text: ' · ' },
    { kind: 'var', text: 'n' },
  ]);
  // Names are text, whatever they are
  assert.deepEqual(
    formulaPieces('2 * a.b+', ['a.b+'])
      .map((x) => x.text)
      .join(''),
    '2 · a.b+',
  );
});

test('functions in C', () => {
  assert.equal(toC('1.5+2.0*p**(1/2)*log2(p)**(1)', ['p']), '1.5+2.0*pow(p, 1.0/2.0)*log2(p)');
  assert.equal(toC('3*p**(2)*log2(q)**(2)', ['p', 'q']), '3*pow(p, 2.0)*pow(log2(q), 2.0)');
  assert.equal(toC('p if p<=6 else 2', ['p']), null);
  assert.equal(toC('2*my-p', ['my-p']), null);
});

test('speed-up and efficiency', () => {
  // Weak: 10 s at 4, 20 s at 8
  assert.equal(shownValue('speedup', false, 4, 10, 8, 20), 0.5);
  assert.equal(shownValue('efficiency', false, 4, 10, 8, 20), 0.5);
  // Strong: the work is 40 at 4 (10 s each) and 48 at 8 (6 s each)
  assert.equal(shownValue('speedup', true, 4, 40, 8, 48), 10 / 6);
  assert.equal(shownValue('efficiency', true, 4, 40, 8, 48), 10 / 12);
  assert.ok(Number.isNaN(shownValue('speedup', false, 4, 10, 8, -1)));
  assert.equal(shownValue('lines', true, 4, 40, 8, 48), 48);
});

test('how bad growth is', () => {
  assert.deepEqual(['constant', 'logarithmic', 'sublinear', 'linear', 'cubic'].map(severity), [0, 1, 2, 3, 4]);
});
