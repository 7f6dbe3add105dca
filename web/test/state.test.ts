import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  address,
  followAddress,
  formatHash,
  navigate,
  parseHash,
  readScreen,
  select,
  selectionOf,
  selectionPatch,
  writeScreen,
} from '../src/state';

const steps: string[] = [];
Object.assign(globalThis, {
  location: { hash: '#tree?d=2&m=time&sel=17' },
  history: {
    pushState: (_: unknown, __: string, hash: string) => steps.push(`push ${hash}`),
    replaceState: (_: unknown, __: string, hash: string) => steps.push(`replace ${hash}`),
  },
  addEventListener: () => undefined,
});

beforeEach(() => {
  steps.length = 0;
  followAddress();
});

test('an address is read and written', () => {
  const parsed = parseHash('#flame?q=a%26b%3D%20c&flame.depth=3');
  assert.equal(parsed.screen, 'flame');
  assert.equal(parsed.values.get('q'), 'a&b= c');
  assert.equal(formatHash(parsed), '#flame?flame.depth=3&q=a%26b%3D%20c');
  assert.deepEqual(parseHash(''), { screen: '', values: new Map() });
  assert.equal(formatHash(parseHash('#tree')), '#tree');
});

test('the selection is typed, and what is no number is not taken for one', () => {
  const selection = selectionOf(parseHash('#tree?d=1&r=-3&pt=1e3&sel=99999999999999999&x=exclusive&loc=process%200'));
  assert.deepEqual(selection, {
    dataset: 1,
    metric: null,
    sides: 'exclusive',
    run: null,
    point: null,
    locations: 'process 0',
    node: null,
    search: '',
  });
});

test('another dataset drops what belongs to this one', () => {
  const gone = selectionPatch({ dataset: 0 });
  assert.ok(Object.values(gone).every((value) => value === null));
  for (const key of [
    'd',
    'r',
    'pt',
    'loc',
    'sel',
    'tree.open',
    'tree.root',
    'tree.row',
    'tree.metrics',
    'flame.root',
    'timeline.row',
    'timeline.from',
    'scale.pins',
    'system.at',
  ])
    assert.ok(key in gone, key);
  for (const key of ['m', 'x', 'q', 'tree.view', 'tree.hide']) assert.ok(!(key in gone), key);
  select({ dataset: 3, node: 5 });
  assert.deepEqual(steps, ['push #tree?d=3&m=time&sel=5']);
});

test('steps are pushed or replaced, and none where nothing changes', () => {
  select({ metric: 'time' });
  assert.deepEqual(steps, []);
  select({ search: 'main' }, 'replace');
  navigate({}, 'push', 'flame');
  assert.deepEqual(steps, ['replace #tree?d=2&m=time&q=main&sel=17', 'push #flame?d=2&m=time&q=main&sel=17']);
});

test('a screen has typed values of its own', () => {
  const defaults = { order: 'value', depth: 3, inverted: false };
  assert.deepEqual(readScreen('tree', defaults), defaults);
  writeScreen('tree', defaults, { depth: 5, inverted: true, order: 'value' });
  assert.deepEqual(readScreen('tree', defaults), { order: 'value', depth: 5, inverted: true });
  assert.equal(formatHash(address()), '#tree?d=2&m=time&sel=17&tree.depth=5&tree.inverted=1');
  assert.deepEqual(readScreen('tree', defaults, parseHash('#tree?tree.depth=many')), defaults);
  writeScreen('tree', defaults, { depth: 3, inverted: false });
  assert.equal(formatHash(address()), '#tree?d=2&m=time&sel=17');
});
