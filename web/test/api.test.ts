import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { canonical, Client, RequestError, type Backend, type Params } from '../src/api';
import { openBackend, ReportBackend } from '../src/reportbackend';

class SlowBackend implements Backend {
  asked: string[] = [];
  aborted: string[] = [];
  private answers: (() => void)[] = [];

  get(path: string, params: Params, signal?: AbortSignal): Promise<unknown> {
    const name = canonical(path, params);
    this.asked.push(name);
    return new Promise((resolve, reject) => {
      this.answers.push(() => resolve({ name }));
      signal?.addEventListener('abort', () => {
        this.aborted.push(name);
        reject(new DOMException('Aborted', 'AbortError'));
      });
    });
  }
  post(): Promise<unknown> {
    return Promise.resolve(null);
  }
  answer(): void {
    for (const f of this.answers.splice(0)) f();
  }
}

test('requests have one name', () => {
  assert.equal(
    canonical('tree', { b: 'x y&z', a: 1, c: undefined, d: null, e: [1, 2] }),
    'tree?a=1&b=x%20y%26z&e=1&e=2',
  );
  assert.equal(canonical('inputs'), 'inputs?');
});

test('what several ask for is asked once, and kept', async () => {
  const backend = new SlowBackend();
  const client = new Client(backend);
  const both = Promise.all([client.get('tree', { a: 1, b: 2 }), client.get('tree', { b: 2, a: 1 })]);
  backend.answer();
  assert.deepEqual(await both, [{ name: 'tree?a=1&b=2' }, { name: 'tree?a=1&b=2' }]);
  await client.get('tree', { a: 1, b: 2 });
  assert.deepEqual(backend.asked, ['tree?a=1&b=2']);
  client.forget();
  const again = client.get('tree', { a: 1, b: 2 });
  backend.answer();
  await again;
  assert.equal(backend.asked.length, 2);
});

test('a request ends when the last who waits has left', async () => {
  const backend = new SlowBackend();
  const client = new Client(backend);
  const [one, two] = [new AbortController(), new AbortController()];
  const first = client.get('tree', {}, one.signal);
  const second = client.get('tree', {}, two.signal);
  one.abort();
  await assert.rejects(first, { name: 'AbortError' });
  assert.deepEqual(backend.aborted, []);
  two.abort();
  await assert.rejects(second, { name: 'AbortError' });
  assert.deepEqual(backend.aborted, ['tree?']);
  const third = client.get('tree');
  backend.answer();
  assert.deepEqual(await third, { name: 'tree?' });
});

test('only so many answers are kept', async () => {
  const backend = new SlowBackend();
  const client = new Client(backend);
  for (let i = 0; i < 101; i++) {
    const answer = client.get('tree', { i });
    backend.answer();
    await answer;
  }
  assert.equal(client.peek('tree', { i: 0 }), undefined);
  assert.deepEqual(client.peek('tree', { i: 1 }), { name: 'tree?i=1' });
});

function page(type: string, text: string): Document {
  const element = { textContent: text, getAttribute: () => type };
  return { getElementById: (id: string) => (id === 'assay-data' ? element : null) } as unknown as Document;
}

test('a report answers from its data, packed or not', async () => {
  const answers = { 'inputs?': { version: '1' }, 'overview?d=1': ['é', '</script>'] };
  const packed = gzipSync(JSON.stringify(answers))
    .toString('base64')
    .replace(/(.{60})/g, '$1\n');
  for (const data of [page('application/json', JSON.stringify(answers)), page('application/gzip', packed)]) {
    const backend = await openBackend(data);
    assert.deepEqual(await backend.get('overview', { d: 1 }), ['é', '</script>']);
    await assert.rejects(
      backend.get('overview', { d: 2 }),
      (error) => error instanceof RequestError && error.failure.rule === 'not-in-report',
    );
  }
});

test('names of objects are no answers', async () => {
  await assert.rejects(new ReportBackend({}).get('constructor', {}), RequestError);
});
