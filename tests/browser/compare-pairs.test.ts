// What can be compared with what: pairs without a metric or a point in common, three inputs, narrow windows.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, example, view, type Page } from '../../web/test/harness';

const folder = mkdtempSync(join(tmpdir(), 'compare-pairs-'));
after(() => rmSync(folder, { recursive: true }));
after(closeBrowser);

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
const BYTES = write(
  'bytes.speedscope.json',
  JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    shared: { frames: [{ name: 'main' }] },
    profiles: [{ type: 'sampled', name: 'p', unit: 'bytes', startValue: 0, endValue: 7, samples: [[0]], weights: [7] }],
  }),
);

test('no metric in common: the page says so, and offers what there is', (t) =>
  view(
    t,
    [example('heat.cubex'), write('samples.folded', 'main;solve 3\nmain 4\n'), BYTES],
    async ({ page, shot }) => {
      // The harness fails on any refused request
      for (const tab of ['Flame', 'Scatter']) {
        await page.getByRole('button', { name: tab }).click();
        await page.getByText('The two have no metric in common. These can be compared').waitFor();
      }
      await shot('compare-no-metric');
      await page.getByRole('button', { name: /^visits → samples/ }).click();
      await page.getByText('visits / samples').waitFor();
      await page.getByRole('img', { name: /visits of A against that of B/ }).waitFor();
      await page.goto(page.url().replace(/#.*/, '#compare?compare.b=2&compare.tab=flame'));
      await page.getByText('No metric of A has the unit of one of B').waitFor();
    },
    { hash: '#compare' },
  ));

test('experiments of other parameters: the last point of each', (t) => {
  const runs = (name: string) =>
    write(`${name}.txt`, `PARAMETER ${name}\nPOINTS 2 4\nMETRIC time\nREGION main\nDATA 1 2\nDATA 10 20 60\n`);
  return view(
    t,
    [runs('n'), runs('p')],
    async ({ page }) => {
      await page.getByRole('button', { name: 'Run of A: n=4' }).waitFor();
      await page.getByRole('button', { name: 'Run of B: p=4' }).waitFor();
      await page.getByText('no change').first().waitFor();
      await page.keyboard.press('y');
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /--run-a n=4 --run-b p=4/);
    },
    { hash: '#compare' },
  );
});

test('three inputs: the rail tells A from B, keys choose and swap', (t) =>
  view(
    t,
    [example('heat.cubex'), example('heat-2.cubex'), example('heat-hpctoolkit')],
    async ({ page }) => {
      const badges = () => page.locator('.input-entry .badge').allTextContents();
      await page.getByRole('button', { name: 'B: heat-2.cubex' }).waitFor();
      assert.deepEqual(await badges(), ['A', 'B']);
      await page.keyboard.press('B');
      await page.getByRole('button', { name: 'B: heat-hpctoolkit' }).waitFor();
      assert.equal(await page.locator('.input-entry').nth(2).locator('.badge').textContent(), 'B');
      await page.keyboard.press('x');
      await page.getByRole('button', { name: 'A: heat-hpctoolkit' }).waitFor();
      await page.keyboard.press('A');
      await page.keyboard.press('A');
      await page.getByRole('button', { name: 'A: heat-2.cubex' }).waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('t');
      await page.waitForFunction(() => document.querySelectorAll('.input-entry .badge').length === 0);
    },
    { hash: '#compare' },
  ));

/** Where the names of all rows in sight are, and whether they are cut. */
const names = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.vbody .tree-cell > .ellipsis')].map((e) => ({
      text: e.textContent,
      isCut: e.scrollWidth > e.clientWidth,
      left: e.getBoundingClientRect().left,
      right: e.getBoundingClientRect().right,
    })),
  );

test('names stay readable, however narrow and deep', (t) => {
  const stack = (n: number) => Array.from({ length: n }, (_, i) => `level_${i}`).join(';');
  const [a, b] = [write('a.folded', `${stack(40)} 10\n`), write('b.folded', `${stack(40)} 20\n`)];
  return view(
    t,
    [a, b],
    async ({ page, shot }) => {
      await page.getByText('level_0').first().waitFor();
      for (const width of [1024, 800]) {
        await page.setViewportSize({ width, height: 1200 });
        await page.getByText('level_39').first().waitFor();
        const found = await names(page);
        assert.equal(found.length, 40);
        for (const { text, isCut, right } of found)
          assert.ok(!isCut && right <= width, `${width}: ${text} is cut, or ends at ${right}`);
        assert.ok(found[39]!.left > found[0]!.left + 60, 'deep ones are further in');
      }
      await shot('compare-deep');
      // To the side: names stay
      await page.setViewportSize({ width: 640, height: 600 });
      await page.locator('.vtable').evaluate((e) => (e.scrollLeft = 1000));
      assert.ok((await names(page))[0]!.left >= 100);
    },
    { hash: '#compare' },
  );
});

test('long names of inputs, metrics and runs: toolbars stay low, and names keep what tells them apart', (t) => {
  const runs = (name: string) =>
    write(
      `${name}.txt`,
      `PARAMETER processes\nPOINTS 2 4\nMETRIC a_metric_with_a_name_of_many_words_in_it\nREGION main\nDATA 1 2\nDATA 10 20 60\n`,
    );
  const long = 'measurement_of_the_weak_scaling_series_with_another_compiler_run';
  return view(
    t,
    [runs(`${long}_one`), runs(`${long}_two`)],
    async ({ page, shot }) => {
      await page.getByText('no change').first().waitFor();
      const one = page.getByRole('button', { name: `A: ${long}_one.txt` });
      assert.equal(await one.getAttribute('title'), `${long}_one.txt`);
      for (const [width, rows] of [
        [1280, 1],
        [1024, 2],
      ] as const) {
        await page.setViewportSize({ width, height: 768 });
        for (const tab of ['Tree', 'Scatter']) {
          await page.getByRole('button', { name: tab, exact: true }).click();
          const bars = await page.locator('main .toolbar').evaluateAll((all) =>
            all.slice(0, 2).map((e) => ({
              height: e.clientHeight,
              isWide: e.scrollWidth > e.clientWidth,
              cut: [...e.querySelectorAll('button')].some((b) => b.getBoundingClientRect().right > innerWidth),
            })),
          );
          assert.ok(
            bars.length === 2 &&
              bars.every(
                ({ height, isWide, cut }, i) => height <= 42 * (i && tab === 'Tree' ? 1 : rows) && !isWide && !cut,
              ),
            `${width}, ${tab}: ${JSON.stringify(bars)}`,
          );
        }
        for (const [label, end] of [
          ['A', '_one.txt'],
          ['B', '_two.txt'],
        ] as const) {
          const name = page.getByRole('button', { name: new RegExp(`^${label}: `) }).locator('.cut');
          assert.ok(
            await name.evaluate((e, text) => e.textContent!.endsWith(text) && e.scrollWidth <= e.clientWidth, end),
            `${width}: the end of ${label} is seen`,
          );
        }
      }
      await shot('compare-long-names');
      await page.getByRole('tab', { name: 'Overview' }).click();
      const heading = page.locator('.card h2').first();
      assert.ok(
        await heading.evaluate((e) => e.scrollWidth <= e.clientWidth),
        'the name of the file stays in its card',
      );
    },
    { hash: '#compare' },
  );
});
