// What is open of a call tree, and what a search means.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  matchIn,
  matchOption,
  packOpen,
  placeText,
  plainName,
  TreeModel,
  unpackOpen,
  wholeName,
  type TreeAnswer,
} from '../src/screens/tree-data';

/** Lists of [node, all there are, offset, [child, how many it has] …]. */
function answer(...lists: [number, number, number, [number, number | null][]][]): TreeAnswer {
  const rows = lists.flatMap(([, , , children]) => children);
  return {
    view: 'top-down',
    by: null,
    sort: 'inclusive',
    run: '',
    location: '',
    items: 9,
    has_scopes: false,
    metrics: [],
    found: null,
    at: null,
    hot: [],
    lists: lists.map(([node, n, offset, children]) => ({ node, n, offset, rows: children.length })),
    rows: {
      node: rows.map(([node]) => node),
      depth: rows.map(() => 0),
      name: rows.map(([node]) => `f${node}`),
      context: rows.map(([node]) => node),
      children: rows.map(([, n]) => n),
      flags: rows.map(() => 0),
    },
    inclusive: [rows.map(([node]) => node)],
    exclusive: [rows.map(() => null)],
  };
}

const shown = (model: TreeModel): string[] =>
  model.entries().map(({ row, more }) => (row ? row.name : `${more.left} more below ${more.node}`));

test('children come below their parents, and what is not here yet is told', () => {
  const model = new TreeModel();
  model.take(
    answer(
      [
        -1,
        2,
        0,
        [
          [0, 3],
          [7, 0],
        ],
      ],
      [
        0,
        3,
        0,
        [
          [1, 0],
          [4, null],
        ],
      ],
    ),
  );
  assert.deepEqual(shown(model), ['f0', 'f1', 'f4', '1 more below 0', 'f7']);
  model.take(answer([0, 3, 2, [[5, 0]]]));
  assert.deepEqual(shown(model), ['f0', 'f1', 'f4', 'f5', 'f7']);
  assert.deepEqual(
    model.path(4).map((r) => r.name),
    ['f0', 'f4'],
  );
  assert.equal(model.heaviest(0)?.name, 'f5');
  model.open.delete(0);
  assert.deepEqual(shown(model), ['f0', 'f7']);
  assert.equal(model.isExpandable(model.rows.get(7)!), false);
  assert.equal(model.isExpandable(model.rows.get(4)!), true);
  model.take(answer([4, 0, 0, []]));
  assert.equal(model.isExpandable(model.rows.get(4)!), false);
});

test('ten thousand levels', () => {
  const model = new TreeModel();
  model.take(
    answer(
      ...Array.from({ length: 10000 }, (_, i): [number, number, number, [number, number][]] => [i - 1, 1, 0, [[i, 1]]]),
    ),
  );
  assert.equal(model.entries().length, 10000);
});

test('a search becomes what --match takes', () => {
  assert.equal(matchOption('/^MPI_(Send|Recv)$/'), '^MPI_(Send|Recv)$');
  assert.equal(matchOption('MPI_'), 'MPI_');
  assert.equal(matchOption('a.b'), '[aA]\\.[bB]');
  assert.deepEqual(matchIn('MPI_Send', 'mpi_'), [0, 4]);
  assert.equal(matchIn('MPI_Send', 'Mpi'), null);
  assert.equal(matchIn('MPI_Send', '/S/'), null);
});

test('whole names', () => {
  assert.equal(wholeName('f(int*)'), '/^f\\(int\\*\\)$/');
  assert.equal(matchOption(wholeName('f(int*)')), '^f\\(int\\*\\)$');
  assert.equal(plainName(wholeName('a.b[0] {x}')), 'a.b[0] {x}');
  assert.equal(plainName('MPI_'), 'MPI_');
  // Patterns are lines of the address: one that has two is one line all the same
  assert.equal(wholeName('a\nb'), '/^a\\nb$/');
  assert.equal(plainName(wholeName('a\nb')), 'a b');
  assert.equal(plainName(wholeName('a\\nb')), 'a\\nb');
});

test('open nodes go into the address and come back', () => {
  assert.equal(packOpen(new Set([40, 3, 4])), '3.1.10');
  assert.deepEqual(unpackOpen('3.1.10'), [3, 4, 40]);
  assert.equal(packOpen([]), '-');
  assert.deepEqual(unpackOpen('-'), []);
  const large = [2 ** 40 + 7, 5 * 2 ** 32 + 1, 2 ** 53 - 1];
  assert.deepEqual(
    unpackOpen(packOpen(large)),
    [...large].sort((a, b) => a - b),
  );
  assert.deepEqual(unpackOpen('1.x!.zzzzzzzzzzzz.2'), [1, 3]);
});

test('of very many open nodes the first ones stay', () => {
  const nodes = Array.from({ length: 3000 }, (_, i) => (i * 7919 * 104729) % 2 ** 40);
  const text = packOpen(nodes);
  assert.ok(text.length > 1000 && text.length <= 1500);
  const back = unpackOpen(text);
  assert.deepEqual(new Set(back), new Set(nodes.slice(0, back.length)));
});

test('places are without folders', () => {
  assert.equal(placeText('src/dir/heat.c', 12), 'heat.c:12');
  assert.equal(placeText('heat.c', null), 'heat.c');
  assert.equal(placeText(null, 3), '');
});
