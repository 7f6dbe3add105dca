// Answers that come late, or not at all, when something else is wanted already; and what other inputs change.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, example, view, type Page } from '../../web/test/harness';

const folder = mkdtempSync(join(tmpdir(), 'assay-late-'));

after(async () => {
  await closeBrowser();
  rmSync(folder, { recursive: true, force: true });
});

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const value = (page: Page, key: string): string | null =>
  new URLSearchParams(new URL(page.url()).hash.split('?')[1] ?? '').get(key);
const rows = (page: Page) => page.locator('.vbody .vrow').allTextContents();
const row = (page: Page, name: string) =>
  page
    .locator('.vbody .vrow')
    .filter({ has: page.locator('.vcell:first-child', { hasText: new RegExp(`^${name}$`) }) });

/**
 * The first request that matches waits: asked says when it was sent, go lets it go on, and is done when its answer was
 * there for a moment.
 */
async function holdFirst(page: Page, pattern: RegExp): Promise<{ asked: Promise<void>; go: () => Promise<void> }> {
  let tell = (): void => undefined;
  let release = (): void => undefined;
  let done = (): void => undefined;
  const asked = new Promise<void>((resolve, reject) => {
    tell = resolve;
    setTimeout(() => reject(new Error(`nothing asked for ${pattern}`)), 10000).unref();
  });
  const released = new Promise<void>((resolve) => (release = resolve));
  const answered = new Promise<void>((resolve) => (done = resolve));
  let isFirst = true;
  await page.route(pattern, async (route) => {
    if (!isFirst) return route.continue();
    isFirst = false;
    tell();
    await released;
    await route.continue().catch(() => undefined); // the page may have given it up
    done();
  });
  return {
    asked,
    go: async () => {
      release();
      await answered;
      await page.waitForTimeout(300);
    },
  };
}

test('Tree: children that come when another metric is shown are none of its rows', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      await row(page, 'exchange_halo').waitFor();
      await page.getByRole('button', { name: 'Close all' }).click();
      await page.waitForFunction(() => document.querySelectorAll('.vbody .vrow').length === 1);
      await page.reload();
      await row(page, 'main').waitFor();
      const { asked, go } = await holdFirst(page, /api\/tree\?.*node=0/);
      await row(page, 'main').locator('.twist').click();
      await asked;
      await page.keyboard.press('m');
      await page.waitForURL(/[?&]m=/);
      await page.waitForFunction(() => !document.querySelector('.tree-screen.old'));
      const [before, address] = [await rows(page), page.url()];
      await go();
      assert.deepEqual([await rows(page), page.url()], [before, address]);
    },
    { hash: '#tree' },
  ));

test('Tree: of two metrics the one that was chosen last is shown, whichever comes last', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      await row(page, 'main').waitFor();
      const first = await rows(page);
      const { asked, go } = await holdFirst(page, /api\/tree\?/);
      await page.keyboard.press('m');
      await asked;
      await page.keyboard.press('M');
      await page.waitForFunction(() => !document.querySelector('.tree-screen.old'));
      await go();
      assert.deepEqual(await rows(page), first);
    },
    { hash: '#tree' },
  ));

test('Time line: a click that is answered after the next one, or on another screen, chooses nothing', (t) =>
  view(
    t,
    [example('heat-hpctoolkit'), example('heat.cubex')],
    async ({ page }) => {
      await page.locator('.tl-legend').getByText('stencil').waitFor();
      const box = (await page.getByRole('img', { name: /^Time lines of/ }).boundingBox())!;
      const click = (part: number) => page.mouse.click(box.x + box.width * part, box.y + 60);
      const first = await holdFirst(page, /api\/timeline_depths\?/);
      await click(0.02);
      await first.asked;
      await click(0.5);
      await page.waitForURL(/[?&]sel=/);
      const chosen = value(page, 'sel');
      await first.go();
      assert.equal(value(page, 'sel'), chosen);
      await page.unroute(/api\/timeline_depths\?/);
      const second = await holdFirst(page, /api\/timeline_depths\?/);
      await click(0.98);
      await second.asked;
      await page.getByRole('button', { name: 'heat.cubex' }).click();
      await page.waitForURL(/[?&]d=1/);
      await second.go();
      assert.equal(value(page, 'sel'), null);
    },
    { hash: '#timeline' },
  ));

test('the list of inputs that is asked for last is the one that counts', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      await row(page, 'main').waitFor();
      const { asked, go } = await holdFirst(page, /api\/inputs\?/);
      await page.reload();
      await asked;
      await page.evaluate(() => void (location.hash = '#tree?m=twice&derive=twice%3Dtime*2'));
      await page.getByRole('button', { name: 'Metric: twice' }).waitFor();
      await go();
      assert.equal(await page.getByRole('button', { name: 'Metric: twice' }).count(), 1);
    },
    { hash: '#tree' },
  ));

test('a file that is added is part of what was asked for before', (t) => {
  const point = (p: number) =>
    written(`part.p${p}.txt`, `PARAMETER p\nPOINTS (${p})\nMETRIC time\nREGION main\nDATA ${2 * p}\n`);
  return view(
    t,
    [4, 8, 16, 32].map(point),
    async ({ page }) => {
      await page.getByText('1 call path, 4 points').waitFor();
      await page.getByLabel('Add files', { exact: true }).setInputFiles(point(64));
      await page.getByText('1 call path, 5 points').waitFor();
    },
    { hash: '#scale' },
  );
});

test('rows are drawn as they are: as many as before, but others are open', (t) =>
  view(
    t,
    [written('alike.folded', 'main;a;a1 5\nmain;a;a2 4\nmain;b;b1 3\nmain;b;b2 2\n')],
    async ({ page }) => {
      const marks = () =>
        page
          .locator('.vbody .vrow')
          .evaluateAll((all) =>
            all.map(
              (e) =>
                `${e.querySelector('.tree-cell')?.textContent} ${e.querySelector<HTMLElement>('.tree-cell')?.style.getPropertyValue('--level')} ${e.querySelector('.twist')?.className}`,
            ),
          );
      await row(page, 'a1').waitFor();
      for (const [name, n] of [
        ['b', 7],
        ['a', 5],
        ['b', 3],
        ['a', 5],
      ] as const) {
        if ((await page.locator('.vbody .vrow').count()) === n) continue;
        await row(page, name).locator('.twist').click();
        await page.waitForFunction((wanted) => document.querySelectorAll('.vbody .vrow').length === wanted, n);
      }
      const withA = await marks();
      await page.evaluate(() => history.go(-2));
      await row(page, 'b1').waitFor();
      assert.deepEqual(
        await marks(),
        ['main 0 twist open', 'a 1 twist', 'b 1 twist open', 'b1 2 twist none', 'b2 2 twist none'],
        withA.join('\n'),
      );
    },
    { hash: '#tree' },
  ));

test('Scale: a metric that fails leaves no models of the one before', (t) => {
  const text = ['time', 'bytes']
    .map((metric) => `METRIC ${metric}\nREGION main\n${[4, 8, 16, 32, 64].map((p) => `DATA ${p}\n`).join('')}`)
    .join('');
  return view(
    t,
    [written('two-metrics.txt', `PARAMETER p\nPOINTS (4) (8) (16) (32) (64)\n${text}`)],
    async ({ page, complaints }) => {
      await row(page, 'main').waitFor();
      await page.route(/api\/scale\?.*metric=bytes/, (route) =>
        route.fulfill({ status: 422, contentType: 'application/json', body: '{"error":"none of these for once"}' }),
      );
      await page.keyboard.press('m');
      await page.getByText('none of these for once').waitFor();
      assert.equal(await page.getByRole('grid', { name: 'Models' }).count(), 0);
      complaints.length = 0; // the browser's own word on 422
      await page.keyboard.press('M');
      await row(page, 'main').waitFor();
    },
    { hash: '#scale' },
  );
});
