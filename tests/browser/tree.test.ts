// Overview and tree of every format, with real data.
import assert from 'node:assert/strict';
import { writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, source, view, type Page } from '../../web/test/harness';

const example = (name: string): string => join(source, 'examples', name);
const HEAT = example('heat.cubex');
const DATABASE = example('heat-hpctoolkit');
const FORMATS: [string, string][] = [
  ['cube', HEAT],
  ['hpctoolkit', DATABASE],
  ['nsight', example('gpu/filter.sqlite')],
  ['extrap', example('kernels.txt')],
  ['afperf', example('simulation.afperf')],
  ['perun', example('sort-1.perf')],
  ['extra-prof', example('waves-extra-prof')],
];

after(closeBrowser);

const grid = (page: Page) => page.getByRole('treegrid', { name: 'Call tree' });
const names = (page: Page) => page.locator('.vbody .vrow .vcell:first-child').allTextContents();

test('overview and tree of every format', async (t) => {
  await view(t, FORMATS.map(([, path]) => path), async ({ page, shot }) => {
    for (const [i, [format]] of FORMATS.entries()) {
      await page.evaluate((d) => void (location.hash = `#overview?d=${d}`), i);
      await page.getByRole('heading', { name: 'Functions' }).waitFor();
      await page.getByRole('heading', { name: 'Totals' }).waitFor();
      await shot(`overview-${format}`);
      for (const kind of ['top-down', 'bottom-up', 'flat']) {
        await page.evaluate(([d, v]) => void (location.hash = `#tree?d=${d}&tree.view=${v}`), [i, kind] as const);
        await page.getByRole('button', { name: kind, exact: false, pressed: true }).waitFor();
        await page.locator('.vbody .vrow').first().waitFor();
        assert.ok((await names(page)).length > 0);
      }
      await page.evaluate((d) => void (location.hash = `#tree?d=${d}`), i);
      await page.getByRole('button', { name: 'Top-down', pressed: true }).waitFor();
      await page.locator('.vbody .vrow').first().click();
      await page.getByRole('complementary', { name: 'Details' }).getByRole('heading', { level: 2 }).waitFor();
      await shot(`tree-${format}`);
    }
  });
});

test('keys open, close, jump and change the view', async (t) => {
  await view(t, [HEAT], async ({ page, shot }) => {
    await grid(page).waitFor();
    assert.deepEqual(await names(page), ['main', 'solve', 'stencil', 'residual', 'exchange_halo', 'init', 'MPI_Finalize', 'write_output']);
    await grid(page).focus();
    await page.keyboard.press('Home');
    await page.waitForURL(/sel=0/);
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => document.querySelectorAll('.vbody .vrow').length === 1);
    await page.keyboard.press('h');
    await page.waitForURL(/sel=12/);
    assert.equal(await page.locator('.vrow.selected .vcell').first().textContent(), 'stencil');
    assert.equal(await page.locator('.vrow.selected').getAttribute('aria-level'), '3');
    await page.keyboard.press('Home');
    await page.keyboard.press('l');
    await page.waitForURL(/sel=6/);
    await page.keyboard.press('*');
    await page.getByText('MPI_Allreduce').first().waitFor();
    await shot('tree-opened');
    await page.keyboard.press('2');
    await page.getByRole('button', { name: 'Bottom-up', pressed: true }).waitFor();
    await page.waitForFunction(() => document.querySelector('.vbody .vrow .vcell')?.textContent === 'stencil');
    await shot('tree-bottom-up');
    await page.keyboard.press('3');
    await page.waitForFunction(() => document.querySelectorAll('.vbody .vrow').length === 19);
    await page.getByRole('combobox').selectOption('file');
    await page.waitForFunction(() => document.querySelector('.vbody .vrow .vcell')?.textContent === 'solve.c');
    await shot('tree-files');
    await page.keyboard.press('u');
    await page.waitForFunction(() => document.querySelectorAll('.vbody .vrow').length === 19);
  }, { hash: '#tree' });
});

test('columns sort, and the same comes out of the command', async (t) => {
  await view(t, [HEAT], async ({ page }) => {
    await grid(page).waitFor();
    await page.getByRole('columnheader', { name: 'Exclusive' }).getByRole('button').click();
    await page.waitForURL(/tree\.sort=x0/);
    await page.waitForFunction(() => document.querySelectorAll('.vbody .vrow .vcell')[0]?.textContent === 'main');
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await page.waitForFunction(() => [...document.querySelectorAll('.vbody .vrow .vcell:first-child')][1]?.textContent === 'MPI_Finalize');
    await page.keyboard.press('y');
    await page.getByText('Command copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `assay tree ${HEAT} --sort name`);
  }, { hash: '#tree' });
});

test('columns are dragged to other places, and hidden', async (t) => {
  await view(t, [HEAT], async ({ page }) => {
    await grid(page).waitFor();
    const heads = () => page.getByRole('columnheader').locator('.head > .ellipsis').allTextContents();
    assert.deepEqual(await heads(), ['Name', 'Inclusive', '%', 'Exclusive', '%', 'Visits', 'Source']);
    await page.getByRole('columnheader', { name: 'Visits' }).dragTo(page.getByRole('columnheader', { name: 'Inclusive' }));
    await page.waitForURL(/tree\.columns=/);
    assert.deepEqual(await heads(), ['Name', 'Visits', 'Inclusive', '%', 'Exclusive', '%', 'Source']);
    await page.getByRole('button', { name: 'Columns and copying' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Source' }).click();
    await page.waitForURL(/tree\.hidden=/);
    assert.deepEqual(await heads(), ['Name', 'Visits', 'Inclusive', '%', 'Exclusive', '%']);
  }, { hash: '#tree' });
});

test('a search counts, marks, goes from match to match, and filters', async (t) => {
  await view(t, [HEAT], async ({ page, shot }) => {
    await grid(page).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('mpi_');
    await page.getByText(/^8 matches/).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.waitForFunction(() => document.querySelector('.vrow.selected mark')?.textContent === 'MPI_');
    await shot('tree-search');
    await page.keyboard.press('i');
    await page.waitForURL(/tree\.filter=1/);
    await page.waitForFunction(() => ![...document.querySelectorAll('.vbody .vcell:first-child')].some((c) => c.textContent === 'stencil'));
    await shot('tree-filter');
  }, { hash: '#tree' });
});

test('focus on a subtree, with a chip that takes it back', async (t) => {
  await view(t, [DATABASE], async ({ page, shot }) => {
    await grid(page).waitFor();
    await page.getByText('stencil').first().click();
    await page.getByRole('complementary', { name: 'Details' }).getByText('static void stencil').waitFor();
    await shot('tree-source');
    await page.keyboard.press('f');
    await page.getByText('only below').waitFor();
    assert.equal((await names(page))[0], 'stencil');
    await page.getByRole('button', { name: 'Focus no more' }).click();
    await page.getByText('only below').waitFor({ state: 'detached' });
  }, { hash: '#tree' });
});

test('dark, at 125 %, and in a small window', async (t) => {
  await view(t, [HEAT, example('gpu/filter.sqlite')], async ({ page, shot }) => {
    await page.getByRole('heading', { name: 'Functions' }).waitFor();
    await page.getByRole('heading', { name: 'Imbalance' }).waitFor();
    await shot('overview-dark');
    await page.evaluate(() => void (location.hash = '#tree?sel=12'));
    await page.getByRole('complementary', { name: 'Details' }).getByRole('heading', { level: 2, name: 'stencil' }).waitFor();
    await shot('tree-dark');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  }, { colorScheme: 'dark', viewport: { width: 1024, height: 576 }, deviceScaleFactor: 1.25 });
});

test('names from files are only text', async (t) => {
  const name = '<img src=x onerror=alert(1)>';
  const file = join(mkdtempSync(join(tmpdir(), 'assay-tree-')), 'p.txt');
  writeFileSync(file, `PARAMETER p\nPOINTS 1 2\nREGION ${name}\nMETRIC ${name}\nDATA 1\nDATA 2\n`);
  await view(t, [file], async ({ page }) => {
    await page.getByRole('heading', { name: 'Functions' }).waitFor();
    await page.evaluate(() => void (location.hash = '#tree?sel=0'));
    await page.getByRole('complementary', { name: 'Details' }).getByRole('heading', { name }).waitFor();
    assert.equal(await page.locator('img').count(), 0);
  });
});
