import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areProcesses, type LocationsAnswer } from '../src/screens/locations-data';
import { rangesOf, termOf, wordsFor, type NamedPlace } from '../src/screens/locations-words';

test('ranges of numbers', () => {
  assert.equal(rangesOf([3, 0, 1, 2, 8]), '0-3|8');
  assert.equal(rangesOf([5]), '5');
  assert.equal(rangesOf([1, 3, 3, 5]), '1|3|5');
});

test('names that are patterns mean themselves', () => {
  assert.equal(termOf([{ kind: 'node', number: null, name: 'nid*[1]' }]), 'node=nid\\*\\[1\\]');
  assert.equal(
    termOf([
      { kind: 'thread', number: null, name: 'a,b' },
      { kind: 'thread', number: null, name: 'c' },
    ]),
    'thread=a?b|c',
  );
  assert.equal(termOf([{ kind: 'thread', number: null, name: null }]), null);
  assert.equal(
    termOf([
      { kind: 'thread', number: 1, name: null },
      { kind: 'stream', number: 1, name: null },
    ]),
    null,
  );
});

const place = (rank: number, thread: number, kind = 'thread'): NamedPlace => ({
  kind,
  number: thread,
  name: `${kind} ${thread}`,
  process: { kind: 'process', number: rank, name: `rank ${rank}` },
});

test('places of processes and threads', () => {
  const all = [0, 1, 2].flatMap((rank) => [0, 1].map((thread) => place(rank, thread)));
  assert.equal(wordsFor(all, all), '');
  assert.equal(wordsFor([], all), null);
  assert.equal(wordsFor([place(0, 0), place(0, 1)], all), 'rank=0');
  assert.equal(wordsFor([place(0, 1), place(1, 1), place(2, 1)], all), 'thread=1');
  assert.equal(wordsFor([place(1, 0), place(2, 0)], all), 'rank=1-2,thread=0');
});

test('processes with one thread each are called by their rank', () => {
  const all = [0, 1, 2, 3].map((rank) => place(rank, 0));
  assert.equal(wordsFor([place(1, 0), place(3, 0)], all), 'rank=1|3');
});

test('streams beside threads', () => {
  const all = [place(0, 0), place(0, 1), place(0, 0, 'gpustream')];
  assert.equal(wordsFor([place(0, 0, 'gpustream')], all), 'gpustream=0');
  assert.equal(wordsFor([place(0, 1)], all), 'thread=1');
});

test('places without a process', () => {
  const alone = (n: number): NamedPlace => ({ ...place(0, n), process: null });
  assert.equal(wordsFor([alone(2), alone(3)], [0, 1, 2, 3].map(alone)), 'thread=2-3');
});

test('as many places as there is above them are processes where that is one: a stream of a GPU beside a thread is none', () => {
  const answer = (kinds: string[]) =>
    ({
      n: 2,
      n_processes: 2,
      kinds,
      processes: { id: [1, 0], kind: [0, 1], number: [1, 0], name: [null, null] },
    }) as unknown as LocationsAnswer;
  assert.ok(areProcesses(answer(['process', 'rank'])));
  assert.ok(!areProcesses(answer(['gpucontext', 'node'])));
});
