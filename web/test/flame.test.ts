import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  boxAround,
  boxAt,
  clampRange,
  layOut,
  neighbour,
  rangeInside,
  rangeOf,
  rangeOutside,
} from '../src/flamelayout';

// all 8: a 4 (c 1, d 2), b 2
const boxes = layOut([-1, 0, 1, 1, 0], [8, 4, 1, 2, 2]);

test('children lie side by side in their parent', () => {
  assert.deepEqual([...boxes.x], [0, 0, 0, 0.125, 0.5]);
  assert.deepEqual([...boxes.width], [1, 0.5, 0.125, 0.25, 0.25]);
  assert.deepEqual([...boxes.depth], [0, 1, 2, 2, 1]);
  assert.deepEqual(
    boxes.levels.map((l) => [...l]),
    [[0], [1, 4], [2, 3]],
  );
});

test('the box at a place', () => {
  assert.equal(boxAt(boxes, 1, 0.49), 1);
  assert.equal(boxAt(boxes, 1, 0.5), 4);
  assert.equal(boxAt(boxes, 1, 0.75), -1); // what all has itself
  assert.equal(boxAt(boxes, 2, 0.2), 3);
  assert.equal(boxAt(boxes, 7, 0.2), -1);
});

test('the box that has all of a range', () => {
  assert.equal(boxAround(boxes, 0.13, 0.3), 3);
  assert.equal(boxAround(boxes, 0.1, 0.3), 1);
  assert.equal(boxAround(boxes, 0.4, 0.6), 0);
});

test('keys lead to parents, the widest child and neighbours', () => {
  assert.equal(neighbour(boxes, 1, 'child'), 3);
  assert.equal(neighbour(boxes, 3, 'parent'), 1);
  assert.equal(neighbour(boxes, 1, 'next'), 4);
  assert.equal(neighbour(boxes, 4, 'next'), 4);
  assert.equal(neighbour(boxes, 3, 'previous'), 2);
  assert.equal(neighbour(boxes, 0, 'parent'), 0);
  assert.equal(neighbour(boxes, 2, 'child'), 2);
});

test('ranges from one picture to another and back', () => {
  const part = rangeOf(boxes, 4);
  assert.deepEqual(rangeInside(part, part), { from: 0, to: 1 });
  assert.deepEqual(rangeOutside({ from: 0, to: 1 }, part), part);
  assert.deepEqual(clampRange({ from: -1, to: 0.5 }), { from: 0, to: 1 });
  assert.deepEqual(clampRange({ from: 0.75, to: 1.25 }), { from: 0.5, to: 1 });
});

test('nothing, and values that are none', () => {
  assert.equal(layOut([], []).n, 0);
  assert.deepEqual([...layOut([-1, 0, 0], [0, NaN, -1]).width], [0, 0, 0]);
});
