import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clampSpan,
  layLines,
  lengthText,
  momentText,
  pieceAt,
  rowRanges,
  ticksOf,
  zoomSpan,
  type PictureAnswer,
  type TimelineAnswer,
} from '../src/screens/timeline-data';
import { drawShares, type Paint } from '../src/screens/timeline-draw';

test('rows as ranges', () => {
  assert.equal(rowRanges([3, 1, 2, 9, 1]), '1-3,9');
  assert.equal(rowRanges([]), 'none');
  assert.equal(rowRanges([7]), '7');
});

test('pieces by column', () => {
  const pieces = [2, 5, 3, -1, 1, 0];
  assert.deepEqual(
    [0, 1, 2, 4, 5].map((c) => pieceAt(pieces, c).procedure),
    [5, 5, -1, -1, 0],
  );
  assert.deepEqual(pieceAt(pieces, 3), { procedure: -1, first: 2, end: 5 });
  assert.equal(pieceAt(pieces, 6).procedure, -1);
});

test('windows stay inside', () => {
  const whole = { from: 0, to: 10 };
  assert.deepEqual(clampSpan({ from: -5, to: 15 }, whole, 1e9), whole);
  assert.deepEqual(clampSpan({ from: -1, to: 3 }, whole, 1e9), { from: 0, to: 4 });
  assert.deepEqual(clampSpan({ from: 8, to: 12 }, whole, 1e9), { from: 6, to: 10 });
  const tiny = clampSpan({ from: 5, to: 5 }, whole, 1e9);
  assert.ok(tiny.to - tiny.from >= 1.9e-7 && tiny.from <= 5 && tiny.to >= 5);
  assert.deepEqual(zoomSpan({ from: 0, to: 10 }, 2, 0.5), { from: 1, to: 6 });
});

test('times in words', () => {
  assert.deepEqual([0, 1.5, 0.0123456, 4.5e-7, 2e-9, 123.456].map(lengthText), [
    '0 s',
    '1.500 s',
    '12.35 ms',
    '450.0 ns',
    '2.000 ns',
    '123.5 s',
  ]);
  assert.equal(momentText(1.3000005, 1e-7), '1.300\u2009000\u20095 s');
  assert.equal(momentText(0.0005, 1e-6), '500 µs');
});

test('ticks are round, few, and told apart', () => {
  for (const span of [
    { from: 0, to: 1 },
    { from: 0.0019, to: 1.315 },
    { from: 1.3, to: 1.300002 },
    { from: 86400.5, to: 86400.500001 },
    { from: 0, to: 3.1e-8 },
    { from: -2, to: 5000 },
  ]) {
    const ticks = ticksOf(span, 8);
    assert.ok(ticks.at.length >= 3 && ticks.at.length <= 9, `${ticks.at.length} ticks`);
    assert.ok(ticks.at.every((t) => t >= span.from - ticks.step * 1e-3 && t <= span.to + ticks.step * 1e-3));
    assert.equal(new Set(ticks.labels).size, ticks.labels.length, ticks.labels.join());
    assert.ok(
      ticks.labels.every((l) => l.length <= 12),
      ticks.labels.join(),
    );
  }
  assert.deepEqual(ticksOf({ from: 0, to: 1 }, 5).labels, ['0.0 s', '0.2 s', '0.4 s', '0.6 s', '0.8 s', '1.0 s']);
});

const answer: TimelineAnswer = {
  counted: 'intervals',
  count: 9,
  from: 0,
  to: 1,
  ticks_per_second: 1e9,
  depth: 1,
  deepest: 2,
  n_runs: 1,
  pauses: 0,
  hidden: 0,
  n_rows: 5,
  rows: {
    label: ['thread 0', 'ranges', 'thread 1', 'stream 7', 'stream 8'],
    track: ['region', 'range', 'region', 'region', 'region'],
    location: [1, 1, 2, 4, 5],
    run: [0, 0, 0, 0, 0],
    gpu: [0, 0, 0, 1, 1],
    below: [0, 1, 0, 0, 0],
    n: [1, 1, 1, 1, 1],
  },
  groups: [
    { first: 0, location: 0, label: 'process 1', run: 0 },
    { first: 3, location: 3, label: 'device 0', run: 0 },
  ],
};

test('lines: groups, what hangs below, what is closed', () => {
  const labels = (closed: string[]) =>
    layLines(answer, new Set(closed), () => 20).map((l) => `${' '.repeat(l.indent)}${l.label}`);
  assert.deepEqual(labels([]), [
    'process 1',
    ' thread 0',
    '  ranges',
    ' thread 1',
    'device 0',
    ' stream 7',
    ' stream 8',
  ]);
  assert.deepEqual(labels(['r0']), ['process 1', ' thread 0', ' thread 1', 'device 0', ' stream 7', ' stream 8']);
  assert.deepEqual(labels(['g0']), ['process 1', 'device 0', ' stream 7', ' stream 8']);
  const lines = layLines(answer, new Set(['g3']), () => 20);
  assert.deepEqual(
    lines.map((l) => l.y),
    [0, 22, 42, 62, 82],
  );
});

test('shares of time have no seams between their parts', () => {
  Object.assign(globalThis, { document: {}, getComputedStyle: () => ({ getPropertyValue: () => '' }) });
  const picture = { from: 0, to: 1, n_bins: 100, bins: [Array<number>(100).fill(1)] } as unknown as PictureAnswer;
  for (const ratio of [1, 1.25, 2]) {
    const drawn: [x: number, width: number][] = [];
    const pen = {
      fillRect: (x: number, _: number, width: number) => drawn.push([x, width]),
      getTransform: () => ({ a: ratio }),
    } as unknown as CanvasRenderingContext2D;
    drawShares(
      pen,
      { width: 568, height: 60 },
      picture,
      [{ fill: 'blue', isQuiet: false, isDimmed: false } as Paint],
      { from: 0, to: 1 },
      null,
    );
    const edges = drawn.slice(0, 100).flatMap(([x, width]) => [x * ratio, (x + width) * ratio]);
    assert.deepEqual([edges[0], Math.round(edges[199]!)], [0, 568 * ratio]);
    edges.forEach((edge, i) =>
      assert.ok(
        Math.abs(edge - Math.round(edge)) < 1e-9 &&
          (i % 2 === 0 || i === 199 || Math.round(edge) === Math.round(edges[i + 1]!)),
        `${ratio}: ${edge}`,
      ),
    );
  }
});
