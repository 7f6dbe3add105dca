import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReportTimeline } from '../src/reporttimeline';
import type { PictureAnswer, TimelineAnswer } from '../src/screens/timeline-data';

const picture = (
  from: number,
  to: number,
  columns: number,
  pieces: number[][],
  name: string[],
  time: number[] = [],
): PictureAnswer => ({
  from,
  to,
  columns,
  depth: 2,
  exact: true,
  time: 0,
  count: 7,
  longest_gap: 0,
  rows: pieces.map((_, i) => i),
  pieces,
  n_bins: 1,
  bins: [],
  procedures: {
    name,
    context: name.map((_, i) => i),
    kind: name.map((n) => (n === 'idle' ? 'idle' : 'function')),
    time: name.map((_, i) => time[i] ?? 0),
    count: name.map(() => 1),
  },
});
const named = ({ pieces, procedures }: PictureAnswer) =>
  pieces.map((row) => row.map((v, i) => (i % 2 ? (procedures.name[v] ?? v) : v)));

const WHOLE = picture(
  0,
  8,
  4,
  [
    [2, 0, 2, 1],
    [4, -1],
  ],
  ['a', 'b'],
  [5, 3],
);

test('all that happened, cut into columns', () => {
  // Ticks of a second: a 3, b 1, a 1, nothing 3; the other row nothing but b from 6 on
  const lines = new ReportTimeline([
    [{ columns: '1000' }, WHOLE],
    [
      { exact: '1' },
      picture(
        0,
        8,
        8,
        [
          [3, 0, 1, 1, 1, 0, 3, -1],
          [6, -1, 2, 1],
        ],
        ['a', 'b'],
      ),
    ],
  ]);
  const seen = lines.picture({ from: '2', to: '6', columns: '2', bins: '2' })!;
  // 2 to 4: a second each, the first wins; 4 to 6: a second of a
  assert.deepEqual(named(seen), [
    [2, 'a'],
    [2, -1],
  ]);
  assert.deepEqual(seen.procedures.time, [2, 1]);
  assert.deepEqual(seen.bins, [
    [0.5, 1],
    [0.5, 0],
  ]);
  assert.deepEqual([seen.exact, seen.count, seen.detail], [true, null, undefined]);
  assert.deepEqual(named(lines.picture({ from: '3', to: '4', columns: '3', rows: '0' })!), [[3, 'b']]);
  // Of the whole run the times are those the server told
  assert.deepEqual(lines.picture({ columns: '4' })!.procedures.time, [5, 3]);
  assert.equal(lines.picture({ depth: '1' }), undefined);
  assert.deepEqual(
    lines.intervals({ row: '0', from: '3.5', to: '3.5' })!.list.map((i) => [i.name, i.start, i.end]),
    [['b', 3, 4]],
  );
  assert.deepEqual(lines.intervals({ row: '1', from: '3.5', to: '3.5' })!.list, []);
});

test('parts have procedures of their own, and what is finer than they are is said', () => {
  const parts = [
    picture(
      0,
      4,
      4,
      [
        [1, 1, 3, 0],
        [4, -1],
      ],
      ['a', 'c'],
    ),
    picture(
      4,
      8,
      4,
      [
        [4, 0],
        [4, -1],
      ],
      ['c'],
    ),
  ].map((p) => [{ from: String(p.from), to: String(p.to) }, p] as const);
  parts[1]![1].procedures.context[0] = 1;
  const lines = new ReportTimeline([[{ columns: '1000' }, WHOLE], ...parts]);
  assert.deepEqual(named(lines.picture({ from: '2', to: '6', columns: '4', rows: '0' })!), [[2, 'a', 2, 'c']]);
  assert.equal(lines.picture({ from: '2', to: '6', columns: '4' })!.detail, undefined);
  assert.equal(lines.picture({ from: '2', to: '3', columns: '4' })!.detail, 1);
  // Where a part is missing the whole run stands for it
  const some = new ReportTimeline([[{ columns: '1000' }, WHOLE], parts[0]!]);
  assert.deepEqual(named(some.picture({ from: '3', to: '6', columns: '3', rows: '0' })!), [[1, 'a', 2, 'b']]);
});

test('rows of several answers are one time line, and rows that are missing are not listed', () => {
  const more = {
    ...picture(
      0,
      8,
      4,
      [
        [1, 0, 3, 1],
        [4, 1],
      ],
      ['b', 'c'],
      [3, 4],
    ),
    rows: [2, 3],
  };
  const exact = {
    ...picture(
      0,
      8,
      8,
      [
        [2, 1, 6, 0],
        [8, 0],
      ],
      ['c', 'b'],
    ),
    rows: [2, 3],
  };
  for (const p of [more, exact]) p.procedures.context = p.procedures.name.map((n) => 'abc'.indexOf(n));
  const lines = new ReportTimeline([
    [{ rows: '2-3', columns: '1000' }, more],
    [{ columns: '1000' }, WHOLE],
    [{ rows: '2-3', exact: '1' }, exact],
  ]);
  assert.deepEqual(named(lines.picture({ from: '0', to: '4', columns: '2', rows: '0,2-3' })!), [
    [2, 'a'],
    [1, 'b', 1, 'c'],
    [2, 'c'],
  ]);
  // All four rows: a 4 s, b 2 s, c 2 s and 4 s
  const { procedures } = lines.picture({ from: '0', to: '4', columns: '2', rows: 'none' })!;
  assert.deepEqual(
    [procedures.name, procedures.time],
    [
      ['c', 'a', 'b'],
      [6, 4, 2],
    ],
  );
  assert.deepEqual(
    lines.intervals({ row: '2', from: '1', to: '1' })!.list.map((i) => [i.name, i.end]),
    [['b', 2]],
  );
  assert.equal(lines.intervals({ row: '0', from: '1', to: '1' }), undefined);

  const numbers = [0, 1, 2, 3, 4, 5];
  const all: TimelineAnswer = {
    counted: 'intervals',
    count: 9,
    from: 0,
    to: 8,
    ticks_per_second: 1,
    depth: 2,
    deepest: 2,
    n_runs: 1,
    pauses: 0,
    hidden: 0,
    n_rows: 6,
    rows: {
      label: numbers.map((n) => `rank ${n}`),
      track: numbers.map(() => 'region'),
      location: numbers,
      run: numbers,
      gpu: numbers,
      below: numbers,
      n: numbers,
    },
    groups: [0, 3, 5].map((first) => ({ first, location: null, label: null, run: 0 })),
  };
  const { n_rows, of_rows, rows, groups } = lines.lines(all);
  assert.deepEqual(
    [n_rows, of_rows, rows.label, rows.n, groups.map((g) => g.first)],
    [4, 6, ['rank 0', 'rank 1', 'rank 2', 'rank 3'], [0, 1, 2, 3], [0, 3]],
  );
  assert.equal(lines.lines({ ...all, n_rows: 4 }).of_rows, undefined);
});

test('inactivity counts against all the rest together', () => {
  const lines = new ReportTimeline([
    [{}, WHOLE],
    [{ exact: '1' }, picture(0, 8, 8, [[3, 0, 2, 1, 3, 2]], ['a', 'b', 'idle'])],
  ]);
  assert.deepEqual(named(lines.picture({ from: '0', to: '8', columns: '1' })!), [[1, 'a']]);
  assert.deepEqual(named(lines.picture({ from: '4', to: '8', columns: '1' })!), [[1, 'idle']]);
});
