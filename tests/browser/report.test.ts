// Reports: the page with its answers inside, opened from a file, under the policy that a report has.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { canonical, type Params } from '../../web/src/api';
import { ReportBackend } from '../../web/src/reportbackend';
import { closeBrowser, example, page as open, type PageOptions } from '../../web/test/harness';

const assay = process.env['ASSAY'] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'assay-report-'));

after(async () => {
  await closeBrowser();
  rmSync(folder, { recursive: true });
});

/** Writes a report; gives its path and what was said. */
function report(args: readonly string[], name: string): { file: string; said: string } {
  const file = join(folder, `${name}.html`);
  const made = spawnSync(assay, ['report', ...args, '-o', file], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return { file, said: made.stderr };
}

function answersOf(file: string): Record<string, unknown> {
  const data = /id="assay-data">([^<]*)</.exec(readFileSync(file, 'utf8'));
  return JSON.parse(gunzipSync(Buffer.from(data![1]!, 'base64')).toString()) as Record<string, unknown>;
}

const openFile = (file: string, use: Parameters<typeof open>[1], options: PageOptions = {}) =>
  open(pathToFileURL(file).href, use, options);

/** The viewer's own answers. */
async function withServer(
  path: string | readonly string[],
  use: (get: (path: string, params: Params) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const server = spawn(assay, ['view', '--no-open', ...[path].flat()], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const url = await new Promise<string>((resolve) =>
      server.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())),
    );
    await use(async (path, params) => {
      const answer = await fetch(`${url}api/${canonical(path, params)}`);
      assert.equal(answer.status, 200, canonical(path, params));
      return answer.json();
    });
  } finally {
    server.kill('SIGINT');
  }
}

type Tree = { by: string | null; rows: { node: number[] }; hot: number[] };

for (const name of [
  'heat.cubex',
  'heat-hpctoolkit',
  'kernels.txt',
  'simulation.afperf',
  'waves-extra-prof',
  'gpu/filter.sqlite',
]) {
  test(`the answers inside a report of ${name} are those of the server`, async () => {
    const path = example(name);
    const { file } = report([path], `same-${name.replace(/\W/g, '-')}`);
    const inside = new ReportBackend(answersOf(file));
    await withServer(path, async (get) => {
      const same = async (path: string, params: Params) =>
        assert.deepEqual(await inside.get(path, params), await get(path, params), canonical(path, params));
      const { inputs } = (await inside.get('inputs', {})) as {
        inputs: { metrics: { name: string; id: number; is_main: boolean }[] }[];
      };
      const metrics = inputs[0]!.metrics;
      for (const view of ['top-down', 'bottom-up', 'flat'].map((v) => (v === 'top-down' ? {} : { view: v }))) {
        await same('tree', { d: 0, ...view });
        const first = (await get('tree', view)) as Tree;
        const nodes = first.rows.node;
        await same('tree', { d: 0, ...view, node: nodes.slice(0, 4) });
        await same('tree', { ...view, node: nodes[0], levels: 3 });
        await same('tree', { ...view, node: -1, offset: 1, limit: 2 });
        // What has no name has one for people, which the page sorts by
        const sorts =
          first.by === 'scope' ? ['inclusive', 'exclusive', 'source'] : ['inclusive', 'exclusive', 'name', 'source'];
        for (const sort of sorts)
          for (const order of ['ascending', 'descending'])
            await same('tree', { ...view, sort, order, node: [-1, nodes[0]!] });
        for (const metric of metrics.filter((m) => !m.is_main)) await same('tree', { ...view, metric: metric.name });
        if (metrics.length > 1)
          await same('tree', { ...view, metrics: `${metrics[1]!.id},${metrics[0]!.id}`, sort_metric: 1 });
        for (const match of ['a', 'MPI', '/^s.*e/', 'no such name']) {
          await same('tree', { ...view, match });
          await same('tree', { ...view, match, filter: 1 });
          for (const find of ['next', 'previous'])
            for (const from of [undefined, nodes[0], nodes[nodes.length - 1]])
              await same('tree', { ...view, match, find, from });
        }
        await same('tree', { ...view, reveal: nodes[nodes.length - 1] });
        await same('tree', { ...view, hot: nodes[0] });
      }
      for (const by of ['region', 'file', 'module', 'kind']) await same('tree', { view: 'flat', by });
      for (const path of ['overview', 'findings'])
        for (const metric of metrics) await same(path, metric.is_main ? { d: 0 } : { d: 0, metric: metric.name });
      await same('node', { d: 0, context: ((await get('tree', {})) as Tree).hot.at(-1) ?? 0 });
      // Of other metrics, what the tree says: who calls and is called, exactly
      type Node = {
        calls: number;
        callers: object;
        callees: object;
        path: object;
        source: object | null;
        attributes: object;
        lacks?: string[];
      };
      const all = ((await get('tree', { levels: 20 })) as Tree).rows.node;
      for (const context of all.slice(0, 40)) {
        for (const metric of metrics.filter((m) => !m.is_main)) {
          const [a, b] = (await Promise.all(
            [inside, { get }].map((of) => of.get('node', { context, metric: metric.name })),
          )) as [Node, Node];
          const of = ({ calls, callers, callees, path, source, attributes }: Node) => ({
            path,
            source,
            attributes,
            ...(a.lacks?.includes('callers and callees') ? {} : { calls, callers, callees }),
          });
          assert.deepEqual(of(a), of(b), `${context} ${metric.name}`);
        }
      }
    });
  });

  test(`rows of functions, files and callers in a report of ${name} have their own details`, async () => {
    const path = example(name);
    const { file } = report([path], `rows-${name.replace(/\W/g, '-')}`);
    const inside = new ReportBackend(answersOf(file));
    type Value = { id: number; inclusive?: number; exclusive?: number };
    type Node = Record<string, unknown> & { values: Value[]; lacks: string[]; metrics: { id: number }[] };
    await withServer(path, async (get) => {
      const { inputs } = (await inside.get('inputs', {})) as {
        inputs: { metrics: { name: string; is_main: boolean }[] }[];
      };
      const others = inputs[0]!.metrics.filter((m) => !m.is_main).slice(0, 1);
      for (const view of [
        { view: 'flat' },
        { view: 'bottom-up' },
        ...['region', 'file', 'module', 'kind'].map((by) => ({ view: 'flat', by })),
      ]) {
        for (const shown of [{}, ...others.map((m) => ({ metric: m.name }))]) {
          // Rows have the numbers of the view of all metrics, which the report is of; of the same metrics the server
          // has the same
          const all = (
            inside as unknown as { about: { inputs: { metrics: number[] }[] } }
          ).about.inputs[0]!.metrics.join(',');
          const nodes = ((await get('tree', { ...view, metrics: all, levels: 4 })) as Tree).rows.node.slice(0, 40);
          for (const node of nodes) {
            const words = `${JSON.stringify({ ...view, ...shown })} row ${node}`;
            const row = (await inside.get('node', { d: 0, ...view, ...shown, node })) as Node;
            const told = (await get('node', { ...view, metrics: all, node })) as Node;
            for (const key of ['context', 'name', 'kind', 'module', 'file', 'line', 'path', 'below'])
              assert.deepEqual(row[key], told[key], `${words}: ${key}`);
            for (const value of row.values) {
              const same = told.values.find((v) => v.id === value.id);
              assert.deepEqual(
                [value.inclusive ?? null, value.exclusive ?? null],
                [same?.inclusive ?? null, same?.exclusive ?? null],
                `${words}: metric ${value.id}`,
              );
            }
            if (!row.lacks.includes('callers and callees')) {
              // Of which metric: the one that is looked at
              const main = (await get('node', {
                ...view,
                metrics: [row.metrics[0]!.id, ...all.split(',').filter((id) => Number(id) !== row.metrics[0]!.id)].join(
                  ',',
                ),
                node,
              })) as Node;
              assert.deepEqual(
                { calls: row['calls'], callers: row['callers'], callees: row['callees'] },
                { calls: main['calls'], callers: main['callers'], callees: main['callees'] },
                words,
              );
            }
            if (!row.lacks.includes('lines of the source')) assert.deepEqual(row['source'], told['source'], words);
            if (!row.lacks.includes('attributes')) assert.deepEqual(row['attributes'], told['attributes'], words);
            for (const kind of [null, 'exclusive']) {
              const { view: shownView, by } = view as { view: string; by?: string };
              const places = await inside
                .get('locations', { view: shownView, tree: by, node, kind, ...shown })
                .catch(() => null);
              if (places)
                assert.deepEqual(
                  places,
                  await get('locations', { view: shownView, tree: by, metrics: all, node, kind, ...shown }),
                  words,
                );
            }
          }
        }
      }
    });
  });
}

test('calls inside others are part of them, in a report as on the server', async () => {
  const path = join(folder, 'inside.folded');
  const functions = Array.from({ length: 40 }, (_, i) => `main;a${i};b${i};a${i};b${i} ${i + 1}\nmain;a${i};b${i} 100`);
  writeFileSync(path, functions.join('\n'));
  const inside = new ReportBackend(answersOf(report([path], 'inside').file));
  const node = { view: 'flat', by: 'region' };
  await withServer(path, async (get) => {
    const rows = ((await get('tree', node)) as Tree).rows.node;
    type Node = Record<'callers' | 'callees', { rows: { name: string; value: number }[] }>;
    let n = 0;
    for (const one of rows) {
      const [a, b] = (await Promise.all([inside, { get }].map((of) => of.get('node', { ...node, node: one })))) as [
        Node,
        Node,
      ];
      assert.deepEqual([a.callers, a.callees], [b.callers, b.callees]);
      const outer = a.callers.rows.find(({ name }) => name.startsWith('a'));
      if (!outer) continue;
      assert.equal(outer.value, 100 + Number(outer.name.slice(1)) + 1);
      n++;
    }
    assert.equal(n, 40);
  });
});

const FORMATS: [string, string[]][] = [
  ['heat.cubex', ['Overview', 'Tree', 'Flame', 'Locations']],
  ['heat-hpctoolkit', ['Overview', 'Tree', 'Flame', 'Locations', 'Time line']],
  ['kernels.txt', ['Overview', 'Tree', 'Flame', 'Locations', 'Scale']],
  ['waves-extra-prof', ['Overview', 'Tree', 'Flame', 'Locations', 'Scale']],
  ['simulation.afperf', ['Overview', 'Tree', 'Flame', 'Locations', 'Time line']],
  ['gpu/filter.sqlite', ['Overview', 'Tree', 'Flame', 'Locations', 'Time line']],
  ['sort-1.perf', ['Overview', 'Tree', 'Flame', 'Scale']],
];

for (const [name, screens] of FORMATS) {
  test(`a report of ${name} opens from a file, and shows all its screens`, async () => {
    const { file, said } = report([example(name)], name.replace(/\W/g, '-'));
    assert.equal(said, '');
    await openFile(file, async ({ page, shot }) => {
      await page.getByRole('heading', { name: 'On the command line' }).waitFor();
      assert.deepEqual(await page.getByRole('tab').allTextContents(), screens);
      assert.equal(await page.getByText('Add files').count(), 0);
      for (const screen of screens) {
        await page.getByRole('tab', { name: screen }).click();
        await page.waitForTimeout(250);
        assert.equal(await page.getByText('Not in this report').count(), 0, screen);
        assert.equal(await page.locator('.message.error, .toast').count(), 0, screen);
        await shot(`report-${name.replace(/\W/g, '-')}-${screen.replace(' ', '-')}`);
      }
      // Another metric, where there is one
      await page.getByRole('tab', { name: 'Tree' }).click();
      await page.keyboard.press('m');
      await page.waitForTimeout(200);
      assert.equal(await page.locator('.message, .toast').count(), 0);
    });
  });
}

type Json = null | string | number | boolean | Json[] | { [key: string]: Json };

/**
 * All of b in a: the same texts and the same numbers, but for the last digits; of intervals (low, high) that far apart.
 * Not what the page has no use for.
 */
function alike(a: Json | undefined, b: Json | undefined, at: string, apart: number): void {
  if (typeof a === 'number' && typeof b === 'number') {
    const most = /\b(low|high)\b/.test(at) ? apart : 1e-11;
    if (apart > 0.1 && /\blow\b/.test(at)) return; // near 0 there is nothing to be alike
    assert.ok(Math.abs(a - b) <= most * Math.max(Math.abs(a), Math.abs(b)), `${at}: ${a}, not ${b}`);
  } else if (typeof a === 'object' && typeof b === 'object' && a && b) {
    for (const key of Object.keys(b).filter((key) => !/^(base|extrapolat|efficiency)/.test(key)))
      alike((a as Record<string, Json>)[key], (b as Record<string, Json>)[key], `${at}.${key}`, apart);
  } else assert.ok(a === b || (Number.isNaN(a) && b === null), `${at}: ${a}, not ${b}`);
}

/** An experiment with so many parameters: two call paths that grow, one that does not. */
function experiment(parameters: readonly string[]): string {
  const points = parameters.reduce<number[][]>(
    (all) => all.flatMap((point) => [4, 8, 16, 32, 64].map((v) => [...point, v])),
    [[]],
  );
  const value = (region: string, point: readonly number[]) =>
    region === 'main'
      ? 3
      : region === 'grow'
        ? 0.5 + 0.02 * point.reduce((all, v) => all * v, 1)
        : 1 + 0.3 * point[0]! ** 1.5 + 0.1 * Math.log2(point.at(-1)!);
  const text = [
    `PARAMETER ${parameters.join('\nPARAMETER ')}`,
    `POINTS ${points.map((point) => `(${point.join(' ')})`).join(' ')}`,
  ];
  for (const region of ['main', 'main->grow', 'main->mix']) {
    text.push(`REGION ${region}`, 'METRIC time');
    points.forEach((point, i) =>
      text.push(
        `DATA ${[0.99, 1.01, 1 + (i % 3) / 100].map((noise) => value(region.replace('main->', ''), point) * noise).join(' ')}`,
      ),
    );
  }
  const file = join(folder, `experiment-${parameters.length}.txt`);
  writeFileSync(file, `${text.join('\n')}\n`);
  return file;
}

const EXPERIMENTS: [string, () => string][] = [
  ['kernels.txt', () => example('kernels.txt')],
  ['waves-extra-prof', () => example('waves-extra-prof')],
  ['two parameters', () => experiment(['p', 'n'])],
  ['three parameters', () => experiment(['p', 'n', 'k'])],
];

for (const [name, path] of EXPERIMENTS) {
  test(`a report of ${name} predicts anywhere as the server does`, async () => {
    const { file, said } = report([path()], `scale-${name.replace(/\W/g, '-')}`);
    assert.equal(said, '');
    const inside = new ReportBackend(answersOf(file));
    type Scale = {
      parameters: { name: string; values: number[] }[];
      metrics: { name: string }[];
      metric: string;
      rows: { context: number[] };
    };
    await withServer(path(), async (get) => {
      // Intervals are exact at the steps of one slider, else between those of some places
      const same = async (path: string, params: Params, apart: number) =>
        alike(
          (await inside.get(path, params)) as Json,
          (await get(path, params)) as Json,
          canonical(path, params),
          apart,
        );
      const first = (await inside.get('scale', {})) as Scale;
      const { parameters } = first;
      const [exact, rough] = [1e-3, 0.3];
      const at = (of: (values: number[]) => number) => parameters.map((p) => `${p.name}=${of(p.values)}`).join();
      for (const metric of first.metrics.map((m) => (m.name === first.metric ? undefined : m.name))) {
        for (const sort of [undefined, 'share', 'now', 'change', 'error', 'name', 'tree']) {
          await same('scale', { metric, sort }, exact);
          await same('scale', { metric, sort, at: at((values) => values.at(-1)! * 64), reverse: 1 }, exact);
        }
        for (const of of [(v: number[]) => v[0]!, (v: number[]) => v[2]!])
          await same('scale', { metric, at: at(of) }, exact);
        for (const of of [(v: number[]) => v[0]! * 1.37, (v: number[]) => v.at(-1)! * 777])
          await same('scale', { metric, at: at(of), match: '^main' }, rough);
        const context = ((await inside.get('scale', { metric })) as Scale).rows.context.slice(0, 3).join();
        await same('curve', { metric, context }, rough);
        await same(
          'curve',
          {
            metric,
            context,
            to: parameters.at(-1)!.values.at(-1)! * 16,
            log: 0,
            over: parameters.at(-1)!.name,
            at: at((v) => v.at(-1)!),
          },
          rough,
        );
        if (parameters.length > 1)
          await same('surface', { metric, context: context.split(',')[1], at: at((v) => v.at(-1)! * 3) }, 0);
        if (parameters.length > 1)
          await same(
            'surface',
            { metric, context: context.split(',')[0], over: `${parameters[1]!.name},${parameters[0]!.name}`, log: 0 },
            0,
          );
      }
    });
    await openFile(file, async ({ page, shot }) => {
      await page.getByRole('tab', { name: 'Scale' }).click();
      const whole = page.locator('.whole');
      for (const slider of await page.getByRole('slider').all()) {
        const before = await whole.innerText();
        await slider.fill('1');
        await page.waitForFunction((text) => document.querySelector<HTMLElement>('.whole')?.innerText !== text, before);
      }
      assert.match(await whole.innerText(), /95 %/);
      await page.keyboard.press('Escape');
      for (const button of ['log x', 'speed-up', 'efficiency', 'residuals', 'map']) {
        if ((await page.getByRole('button', { name: button, exact: true }).count()) > 0)
          await page.getByRole('button', { name: button, exact: true }).click();
        await page.waitForTimeout(50);
        assert.equal(await page.locator('.message, .toast, .note[role=alert]').count(), 0, button);
      }
      await shot(`report-slider-${name.replace(/\W/g, '-')}`);
    });
  });
}

test('what does not add up has no flame graph, and the report says so as the server does', async () => {
  const { file, said } = report([example('heat.cubex'), '--derive', 'each=time/visits'], 'ratio');
  assert.equal(said, '');
  await openFile(file, async ({ page, shot }) => {
    await page.goto(`${pathToFileURL(file).href}#flame?m=each`);
    await page.getByText("the values of 'each' do not add up").waitFor();
    await page.getByRole('tab', { name: 'Tree' }).click();
    await page.getByText('8.829e-04').waitFor(); // 13.49 s of 15,281 visits
    assert.equal(await page.locator('.message, .toast').count(), 0);
    await shot('report-ratio');
  });
});

test('a comparison inside a report is sorted and searched as the server does it', async () => {
  const paths = [example('heat.cubex'), example('heat-2.cubex')];
  const { file, said } = report(paths, 'compared');
  assert.equal(said, '');
  const inside = new ReportBackend(answersOf(file));
  type Compared = {
    lists: { node: number }[];
    rows: { node: number[]; children: number[]; name: string[]; flags: number[] };
    found: number | null;
  };
  await withServer(paths, async (get) => {
    const both = async (params: Params) =>
      (await Promise.all([inside.get('compare', params), get('compare', params)])) as [Compared, Compared];
    for (const metric of [undefined, 'visits']) {
      const top = (await get('compare', { metric, all: 1 })) as Compared;
      const nodes = [-1, ...top.rows.node.filter((_, i) => top.rows.children[i]! > 0)];
      for (const sort of [undefined, 'change', 'increase', 'relative', 'base', 'target', 'self', 'name', 'source']) {
        for (const order of [undefined, 'ascending', 'descending']) {
          for (const node of nodes) {
            const [a, b] = await both({ metric, sort, order, node });
            assert.deepEqual(a.rows, b.rows, canonical('compare', { metric, sort, order, node }));
          }
          const [a, b] = await both({ metric, sort, order, view: 'flat' });
          assert.deepEqual(a.rows, b.rows, canonical('compare', { metric, sort, order, view: 'flat' }));
        }
      }
      for (const match of ['MPI', '/^s.*e/', 'no such name']) {
        const [a, b] = await both({ metric, match });
        assert.deepEqual([a.found, new Set(a.rows.name)], [b.found, new Set(b.rows.name)], match);
        assert.deepEqual(
          new Set(a.rows.node.map((node, i) => `${node} ${a.rows.flags[i]}`)),
          new Set(b.rows.node.map((node, i) => `${node} ${b.rows.flags[i]}`)),
          match,
        );
      }
      for (const kind of ['inclusive', undefined])
        assert.deepEqual(
          await inside.get('compare_scatter', { metric, kind }),
          await get('compare_scatter', { metric, kind }),
        );
    }
  });
  await openFile(file, async ({ page, shot }) => {
    await page.getByRole('tab', { name: 'Compare' }).click();
    for (const head of [/^A/, /^B/, /^Δ %/, /^Call path/])
      await page.getByRole('columnheader', { name: head }).first().click();
    await page.keyboard.press('/');
    await page.keyboard.type('MPI');
    await page.keyboard.press('Enter');
    await page.getByText('MPI_').first().waitFor();
    await page.getByRole('button', { name: 'Flame' }).first().click();
    const picture = page.locator('.flame-box canvas').last();
    await picture.focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('button', { name: 'Whole picture' }).waitFor();
    await page.waitForTimeout(400);
    const width = (await picture.boundingBox())!.width;
    const zoomed = await picture.evaluate((c: HTMLCanvasElement) => c.toDataURL());
    await page.getByRole('button', { name: 'Whole picture' }).click();
    await page.waitForTimeout(400);
    assert.ok(width > 0 && zoomed !== (await picture.evaluate((c: HTMLCanvasElement) => c.toDataURL())), 'it zooms');
    assert.equal(await page.locator('.message, .toast').count(), 0);
    await shot('report-compare-searched');
  });
});

test('a comparison that has no room has fewer rows, and says so', async () => {
  const write = (name: string, times: number) => {
    const lines = Array.from(
      { length: 30000 },
      (_, i) =>
        `main;f${i % 40};g${i % 1500};leaf_${(i * 7919) % 30013} ${(i < 40 ? 100000 : 1 + (i % 9)) * (i % 3 ? 1 : times)}`,
    );
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
    return join(folder, name);
  };
  const { file, said } = report(
    [write('before.folded', 1), write('after.folded', 3), '--max-size', '800kB'],
    'compared-many',
  );
  assert.ok(readFileSync(file).length <= 800000);
  assert.match(said, /left out: of the comparison: \d+ of 33041 call paths\n.*\d+ of 31541 functions/);
  await openFile(file, async ({ page, shot }) => {
    await page.getByRole('tab', { name: 'Compare' }).click();
    const grid = page.getByRole('treegrid');
    await grid.press('End');
    for (let i = 0; i < 6; i++) await grid.press(i % 2 ? 'ArrowDown' : 'ArrowRight');
    await page
      .getByText(/smaller, not in this report/)
      .first()
      .waitFor({ timeout: 5000 });
    assert.equal(await page.locator('.message, .toast').count(), 0);
    await shot('report-compare-pruned');
  });
});

/** The time lines of so many ranks, each with 20 intervals below the outermost one. */
function ranks(n: number): string {
  const frames = Array.from({ length: 12 }, (_, i) => ({ name: i === 0 ? 'main' : `work_${i}` }));
  const profiles = Array.from({ length: n }, (_, r) => {
    const events = Array.from({ length: 20 }, (_, k) =>
      ['O', 'C'].map((type, end) => ({ type, frame: 1 + ((r * 7 + k * 3) % 11), at: 10 * k + (end ? 9 : r % 5) })),
    ).flat();
    return {
      type: 'evented',
      name: `rank ${r}`,
      unit: 'milliseconds',
      startValue: 0,
      endValue: 200,
      events: [{ type: 'O', frame: 0, at: 0 }, ...events, { type: 'C', frame: 0, at: 200 }],
    };
  });
  const file = join(folder, `ranks-${n}.speedscope.json`);
  writeFileSync(
    file,
    JSON.stringify({ $schema: 'https://www.speedscope.app/file-format-schema.json', shared: { frames }, profiles }),
  );
  return file;
}

test('a time line of many rows has all of them, as the server does', async () => {
  const path = ranks(450);
  const { file, said } = report([path], 'rows');
  assert.equal(said, '');
  const inside = new ReportBackend(answersOf(file));
  await withServer(path, async (get) => {
    assert.deepEqual(await inside.get('timeline', { d: 0 }), await get('timeline', {}));
    type Seen = { rows: number[]; pieces: number[][]; procedures: { name: string[]; time: number[] } };
    const told = ({ rows, pieces, procedures }: Seen) => ({
      rows,
      pieces: pieces.map((row) => row.map((v, i) => (i % 2 ? procedures.name[v] : v))),
      times: new Map(procedures.name.map((name, i) => [name, Math.round(procedures.time[i]! * 1e9)])),
    });
    for (const window of [{}, { from: 0.05, to: 0.06 }, { from: 0.1, to: 0.2 }]) {
      const params = { ...window, columns: 40, rows: '0-3,199-201,399-402,449' }; // no column has two equal parts
      assert.deepEqual(
        told((await inside.get('timeline_picture', params)) as Seen),
        told((await get('timeline_picture', params)) as Seen),
        JSON.stringify(window),
      );
    }
  });
});

test('a time line that has no room for all rows says how many it has', async () => {
  const { file, said } = report([ranks(1500), '--max-size', '395kB'], 'few-rows');
  const [, left] = /left out: the last (\d+) of the 1500 rows of the time line of ranks-1500/.exec(said)!;
  const n = 1500 - Number(left);
  assert.ok(n >= 200 && n < 1500 && n % 200 === 0, said);
  await openFile(file, async ({ page, shot }) => {
    await page.getByRole('tab', { name: 'Time line' }).click();
    await page.getByText(`This report has the first ${n.toLocaleString('en')} of 1,500 rows.`).waitFor();
    await page.getByText('all 1,500 rows').waitFor();
    await page.locator('.tl-scroll').evaluate((element) => element.scrollTo(0, 1e6));
    await page.getByText(`rank ${n - 1}`, { exact: true }).waitFor();
    assert.equal(await page.getByText(`rank ${n}`, { exact: true }).count(), 0);
    await page.keyboard.press('w');
    await page.getByText(`the first ${n.toLocaleString('en')} rows`, { exact: true }).waitFor();
    await shot('report-few-rows');
  });
});

const HOSTILE =
  '</script><script>document.title="taken"</script><img src=x onerror=document.title="taken">-->]]>\u2028"\'&lt;';

test('names and titles that would be markup are text, with the script and without it', async () => {
  const path = join(folder, 'hostile<b>.folded');
  writeFileSync(
    path,
    Buffer.concat([
      Buffer.from(`main;${HOSTILE.replace(/;/g, ',')} 7\nmain;`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(' 3\n'),
    ]),
  );
  const { file } = report([path, '--title', HOSTILE], 'hostile');
  for (const javaScriptEnabled of [true, false]) {
    await openFile(
      file,
      async ({ page }) => {
        if (javaScriptEnabled) await page.locator('#app').getByText('onerror=document.title').first().waitFor();
        assert.match(await page.locator('body').innerText(), /<script>document\.title="taken/);
        assert.equal(await page.title(), HOSTILE.replace('\u2028', '\\u2028'));
        assert.equal(await page.locator('img').count(), 0);
        assert.match(await page.locator('body').innerText(), /hostile<b>\.folded/);
      },
      { javaScriptEnabled },
    );
  }
});

test('without its script a report is a summary that can be read', async () => {
  const { file } = report([example('heat.cubex')], 'static');
  await openFile(
    file,
    async ({ page, shot }) => {
      const text = await page.locator('body').innerText();
      assert.match(text, /call paths +19 {2}4 levels/);
      assert.match(text, /13\.49 100\.0 █+ +0\.00 +0\.0 +8 {2}▸ main/);
      assert.match(text, /8\.58 63\.6 .* stencil/);
      assert.ok((await page.locator('pre').first().boundingBox())!.y < 200, 'it is in sight');
      await shot('report-without-script');
    },
    { javaScriptEnabled: false },
  );
});

const PAPER: [string[], string[]][] = [
  [['heat.cubex'], ['Call tree', 'Functions', 'Flame', 'Locations']],
  [['kernels.txt'], ['Call tree', 'Functions', 'Flame', 'Locations', 'Scale']],
  [['gpu/filter.sqlite'], ['Call tree', 'Functions', 'Flame', 'Locations', 'Time line']],
  [
    ['heat.cubex', 'heat-2.cubex'],
    [
      'Call tree',
      'Functions',
      'Flame',
      'Locations',
      'Call tree',
      'Functions',
      'Flame',
      'Locations',
      'Compared',
      'Compared: flame graph',
      'Compared: A against B',
    ],
  ],
];

for (const [names, titles] of PAPER) {
  test(`a report of ${names.join(' and ')} on paper has all its screens, one after the other`, async () => {
    const name = `paper-${names.join('-').replace(/\W/g, '-')}`;
    const { file } = report([...names.map(example), '--title', 'Before <the> change'], name);
    await openFile(
      file,
      async ({ page, shot }) => {
        await page.getByRole('heading', { name: 'Before <the> change' }).waitFor();
        await page.getByRole('tab', { name: 'Flame' }).click(); // whatever is shown
        const before = await page.evaluate(() => location.href);
        await page.emulateMedia({ media: 'print' });
        await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
        const paper = page.locator('.paper');
        assert.equal(await page.locator('#app').isVisible(), false);
        assert.equal(await paper.locator('h1:visible').first().innerText(), 'Before <the> change');
        assert.deepEqual(
          await paper.locator('.sheet > h2').evaluateAll((all) => all.map((h) => h.firstChild!.textContent)),
          titles,
        );
        assert.equal(await paper.locator('.message, .toolbar:visible, .panel:visible, input:visible').count(), 0);
        assert.ok((await paper.getByText('Hot path', { exact: true }).count()) === names.length);
        // Nothing is cut off at the side or below, pictures are drawn, and it is light
        const found = await paper.evaluate((element) => {
          const width = element.getBoundingClientRect().right;
          const isDrawn = (canvas: HTMLCanvasElement) =>
            canvas
              .getContext('2d')!
              .getImageData(0, 0, canvas.width, canvas.height)
              .data.some((v) => v !== 0);
          return {
            wide: [...element.querySelectorAll('.vrow, .card, canvas')].filter(
              (e) => e.getBoundingClientRect().right > width + 1,
            ).length,
            cut: [...element.querySelectorAll('.vtable, .fill, .scale-details, .heat-side')].filter(
              (e) => e.scrollHeight > e.clientHeight + 1,
            ).length,
            blank: [...element.querySelectorAll('canvas')].filter((c) => c.checkVisibility() && !isDrawn(c)).length,
            drawn: element.querySelectorAll('canvas').length,
            ground: getComputedStyle(document.body).backgroundColor,
          };
        });
        assert.deepEqual(
          { ...found, drawn: found.drawn > 2 },
          { wide: 0, cut: 0, blank: 0, drawn: true, ground: 'rgb(255, 255, 255)' },
        );
        await shot(`report-${name}`);
        await page.evaluate(() => dispatchEvent(new Event('afterprint')));
        assert.equal(await paper.count(), 0);
        assert.equal(await page.evaluate(() => location.href), before);
        const pdf = await page.pdf({ format: 'A4' });
        assert.ok(pdf.toString('latin1').split(/\/Type\s*\/Page\b/).length - 1 >= 3, 'pages');
        writeFileSync(join(process.env['ASSAY_BUILD'] ?? 'build', 'screenshots', `report-${name}.pdf`), pdf);
      },
      { colorScheme: 'dark', viewport: { width: 794, height: 1123 } },
    );
  });
}

test('a browser that prints as soon as the page is loaded prints all of it', () => {
  const { file } = report([example('kernels.txt')], 'at-once');
  const pdf = join(folder, 'at-once.pdf');
  spawnSync(
    process.env['ASSAY_CHROMIUM'] ?? '/usr/bin/chromium',
    ['--headless', '--no-sandbox', '--disable-gpu', `--print-to-pdf=${pdf}`, pathToFileURL(file).href],
    { timeout: 60000 },
  );
  assert.ok(readFileSync(pdf, 'latin1').split(/\/Type\s*\/Page\b/).length - 1 >= 3, 'pages');
});

test('what a report leaves out is said, where it lacks and at the beginning', async () => {
  const path = join(folder, 'many.folded');
  const lines: string[] = [];
  for (let i = 0; i < 60000; i++)
    lines.push(`main;f${i % 40};g${i % 1500};leaf_${(i * 7919) % 60013} ${i < 40 ? 100000 : 1 + (i % 9)}`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  const { file, said } = report([path, '--max-size', '500kB'], 'many');
  assert.match(said, /left out: \d+ call paths of many\.folded that have less than 0\.0*[1-9]\d? % of the whole/);
  assert.ok(readFileSync(file).length <= 500000);
  const tree = (await new ReportBackend(answersOf(file)).get('tree', { levels: 4 })) as {
    lists: { missing?: number }[];
  };
  assert.ok(tree.lists.some((list) => (list.missing ?? 0) > 0));
  await openFile(file, async ({ page, shot }) => {
    await page.getByRole('heading', { name: 'Not in this report' }).waitFor();
    await page.getByText(/call paths of many\.folded that have less than/).waitFor();
    await page.getByRole('tab', { name: 'Tree' }).click();
    const grid = page.getByRole('treegrid');
    await grid.press('Home');
    await grid.press('*');
    await grid.press('End');
    await shot('report-pruned-tree');
  });
});
