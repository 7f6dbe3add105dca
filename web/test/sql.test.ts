import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cellText,
  compareCells,
  errorRange,
  guessChart,
  makeChart,
  resultJson,
  sortRows,
  sqlName,
  sqlText,
  type Result,
} from '../src/screens/sql-data';

const result: Result = {
  columns: ['name', 'n', 'n'],
  types: ['text', 'integer', 'real'],
  rows: [
    ['b', '9007199254740993', 1.5],
    ['a', 9007199254740992, null],
    ['c', -3, 0.1 + 0.2],
  ],
  n: 3,
  more: false,
  seconds: 0,
};

test('names and texts as a statement writes them', () => {
  assert.deepEqual(['metric', 'set', 'a b', 'x"y', '1st', 'coeffs:b0'].map(sqlName), [
    'metric',
    '"set"',
    '"a b"',
    '"x""y"',
    '"1st"',
    '"coeffs:b0"',
  ]);
  assert.equal(sqlText("it's"), "'it''s'");
});

test('the place of an error', () => {
  assert.deepEqual(errorRange('select nme from x', { message: '', line: 1, column: 8 }), [7, 10]);
  assert.deepEqual(errorRange("select '😀',\n  nme", { message: '', line: 2, column: 3 }), [15, 18]);
  assert.deepEqual(errorRange("select '😀', nme", { message: '', line: 1, column: 13 }), [13, 16]);
  assert.equal(errorRange('x', { message: '' }), null);
  assert.equal(errorRange('x', { message: '', line: 5, column: 1 }), null);
});

test('cells: exact integers, NULL last', () => {
  assert.deepEqual([null, 'NULL', 12345678901, 0.1 + 0.2, 1e300].map(cellText), [
    'NULL',
    'NULL',
    '12345678901',
    '0.3',
    '1e+300',
  ]);
  assert.deepEqual(
    sortRows(result, 1, false).map((r) => r[0]),
    ['c', 'a', 'b'],
  );
  assert.deepEqual(
    sortRows(result, 2, true).map((r) => r[0]),
    ['b', 'c', 'a'],
  );
  assert.deepEqual(
    sortRows(result, 2, false).map((r) => r[0]),
    ['c', 'b', 'a'],
  );
  assert.ok(compareCells('inf', 1, 'real', false) > 0 && compareCells('-inf', 1, 'real', false) < 0);
});

test('JSON keeps columns of one name apart', () => {
  assert.deepEqual(Object.keys((JSON.parse(resultJson(result)) as object[])[0]!), ['name', 'n', 'n:1']);
});

test('charts: categories, groups, gaps', () => {
  const data: Result = {
    columns: ['p', 'path', 'mean'],
    types: ['integer', 'text', 'real'],
    rows: [
      [2, 'main', 3],
      [1, 'main', 4],
      [1, 'solve', 1],
      [4, 'main', null],
      [4, 'solve', 5],
    ],
    n: 5,
    more: false,
    seconds: 0,
  };
  assert.deepEqual(guessChart(data), { x: 'p', y: 'mean', group: 'path', kind: 'line' });
  assert.deepEqual(makeChart(data, 'p', 'mean', 'path'), {
    labels: null,
    x: [1, 2, 4],
    series: [
      { name: 'main', y: [4, 3, null] },
      { name: 'solve', y: [1, null, 5] },
    ],
    left: 0,
  });
  const named = makeChart(data, 'path', 'mean', '');
  assert.deepEqual(named?.labels, ['main', 'solve']);
  assert.deepEqual(named?.x, [0, 0, 1, 1]);
  assert.equal(makeChart(data, 'p', 'absent', ''), null);
  assert.equal(guessChart({ ...data, rows: [] }), null);
});
