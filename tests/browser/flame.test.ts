// The flame graph: on every format with a call tree, with clicks and keys.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { closeBrowser, example, page as open, view, type Page } from '../../web/test/harness';

const canvas = (page: Page) => page.locator('.flame-view canvas');
const status = (page: Page) => page.locator('.statusbar [role=status]');
const hash = (page: Page) => new URL(page.url()).hash;
const ROW = 19;

after(closeBrowser);

test('a picture of each format', async (t) => {
  for (const [name, file] of [
    ['cube', 'heat.cubex'],
    ['hpctoolkit', 'heat-hpctoolkit'],
    ['nsight', 'gpu/filter.sqlite'],
    ['afperf', 'simulation.afperf'],
    ['perun', 'sort-1.perf'],
    ['extra-prof', 'waves-extra-prof'],
    ['extra-p', 'kernels.txt'],
  ] as const) {
    await view(
      t,
      [example(file)],
      async ({ page, shot }) => {
        await canvas(page).waitFor();
        await page.getByText(/ in [\d,]+ frames?$/).waitFor();
        await shot(`flame-${name}`);
      },
      { hash: '#flame' },
    );
  }
});

test('a chain of more levels than there is room for is drawn as far as there is, says so, and goes on', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-flame-'));
  const path = join(folder, 'chain.folded');
  writeFileSync(path, `${Array.from({ length: 30000 }, (_, i) => `f${i}`).join(';')} 5\n`);
  try {
    await view(
      t,
      [path],
      async ({ page, shot }) => {
        await page.getByText('only the first 19,998 levels').waitFor();
        await shot('flame-chain');
        const box = page.locator('.flame-box');
        await box.evaluate((element) => (element.scrollTop = element.scrollHeight));
        const lowest = async () => ({ position: { x: 100, y: (await canvas(page).boundingBox())!.height - ROW / 2 } });
        await canvas(page).hover(await lowest());
        await page.locator('.tooltip').getByText('… 1 more').waitFor();
        await shot('flame-chain-end');
        await canvas(page).click(await lowest());
        await page.locator('.crumbs').getByText('f19997', { exact: true }).waitFor();
        await page.getByText('only the first').waitFor({ state: 'detached' });
        await box.evaluate((element) => (element.scrollTop = element.scrollHeight));
        await canvas(page).hover(await lowest());
        await page.locator('.tooltip .tip-title').getByText('f29999').waitFor();
      },
      { hash: '#flame' },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('colours by module where there are modules, else by name; the list of keys closes before anything else', (t) =>
  view(
    t,
    [example('kernels.txt'), example('heat.cubex')],
    async ({ page, shot }) => {
      const by = (name: string) =>
        page.getByRole('group', { name: 'Colours' }).getByRole('button', { name, pressed: true });
      await by('Name').waitFor();
      await shot('flame-without-modules');
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('c');
      await by('Module').waitFor();
      await page.goto(page.url().replace(/#.*/, '#flame?d=1'));
      await by('Module').waitFor();
    },
    { hash: '#flame' },
  ));

test('zoom by click and by keys, breadcrumbs, and the way back', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page, shot }) => {
      await canvas(page).waitFor();
      const box = (await canvas(page).boundingBox())!;
      // all, main, solve: the largest child is at the left
      await page.mouse.move(box.x + 200, box.y + 2.5 * ROW);
      await page.locator('.tooltip').getByText('solve', { exact: true }).waitFor();
      await page.locator('.tooltip').getByText('11.85 s').waitFor();
      await shot('flame-tooltip');
      await page.mouse.click(box.x + 200, box.y + 2.5 * ROW);
      await page.getByRole('navigation', { name: 'Where the picture begins' }).getByText('solve').waitFor();
      assert.match(hash(page), /flame\.root=6/);
      assert.match(await status(page).innerText(), /^solve: 11\.85 s, 87\.8 % of all$/);
      await page.waitForTimeout(400); // until the picture has come to rest
      await shot('flame-zoomed');
      await canvas(page).focus();
      await page.keyboard.press('ArrowDown');
      await status(page)
        .getByText(/^stencil: 8\.580 s/)
        .waitFor();
      await page.keyboard.press('ArrowRight');
      await status(page)
        .getByText(/^residual/)
        .waitFor();
      await page.keyboard.press('Enter');
      await page.locator('.crumbs b').getByText('residual').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.crumbs b').getByText('solve').waitFor();
      await page
        .getByRole('navigation', { name: 'Where the picture begins' })
        .getByRole('button', { name: 'all' })
        .click();
      await page.waitForFunction(() => !location.hash.includes('flame.root'));
      await page.goBack();
      await page.locator('.crumbs b').getByText('solve').waitFor();
    },
    { hash: '#flame' },
  ));

test('the wheel zooms at the pointer, what is in sight stays there, Escape takes it back', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      await canvas(page).waitFor();
      const box = (await canvas(page).boundingBox())!;
      const tip = page.locator('.tooltip .tip-title');
      // exchange_halo has 5.3 % of the width, behind stencil and residual with 82.5 %
      const [x, y] = [box.x + box.width * 0.85, box.y + 3.5 * ROW];
      await page.mouse.move(x, y);
      await tip.getByText('exchange_halo').waitFor();
      await page.mouse.move(x - 100, y);
      await tip.getByText('residual').waitFor();
      await page.mouse.move(x, y);
      await page.keyboard.down('Control');
      for (let i = 0; i < 8; i++) await page.mouse.wheel(0, -100);
      await page.keyboard.up('Control');
      await page.waitForTimeout(800); // more detail has come
      await page.mouse.move(x - 100, y);
      await tip.getByText('exchange_halo').waitFor();
      await page.keyboard.press('Escape');
      await page.waitForTimeout(400);
      await page.mouse.move(x - 101, y);
      await tip.getByText('residual').waitFor();
    },
    { hash: '#flame' },
  ));

test('search says how much of all it is, also of what cannot be seen', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page, shot }) => {
      await canvas(page).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('MPI');
      // assay flame --folded: the stacks with MPI have 3.7660866 of 13.4910579 s
      await page.locator('.flame-found').getByText('27.9 %').waitFor();
      await page.locator('.flame-found').getByText('3.766 s in 8 frames').waitFor();
      await shot('flame-search');
    },
    { hash: '#flame' },
  ));

test('upside down, inverted, in order, other colours; the selection is that of the tree', (t) =>
  view(
    t,
    [example('heat-hpctoolkit')],
    async ({ page, shot }) => {
      await canvas(page).waitFor();
      await page.keyboard.press('i');
      await page.getByRole('button', { name: 'Flame', pressed: true }).waitFor();
      await shot('flame-upward');
      await page.keyboard.press('b');
      await page.getByRole('button', { name: 'Inverted', pressed: true }).waitFor();
      await page.keyboard.press('i');
      await page.keyboard.press('c');
      await page.keyboard.press('o');
      await page.waitForFunction(() => location.hash.includes('flame.order=source'));
      await shot('flame-inverted');
      const box = (await canvas(page).boundingBox())!;
      await page.mouse.click(box.x + 60, box.y + 1.5 * ROW, { button: 'right' });
      await page.getByRole('menuitem', { name: 'Show in the tree' }).click();
      await page.waitForFunction(() => location.hash.startsWith('#tree') && location.hash.includes('sel='));
    },
    { hash: '#flame', colorScheme: 'dark' },
  ));

test('a report has the picture, zooms in it and searches in it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-flame-'));
  try {
    const file = join(folder, 'report.html');
    const made = spawnSync(process.env['ASSAY'] ?? '', ['report', example('heat.cubex'), '-o', file]);
    assert.equal(made.status, 0, String(made.stderr));
    await open(
      pathToFileURL(file).href,
      async ({ page }) => {
        await canvas(page).waitFor();
        const box = (await canvas(page).boundingBox())!;
        await page.mouse.click(box.x + 200, box.y + 2.5 * ROW);
        await status(page).getByText('solve: 11.85 s, 87.8 % of all').waitFor();
        await page.keyboard.press('/');
        await page.keyboard.type('MPI');
        await page.locator('.flame-found').getByText('27.9 %').waitFor();
        await page.keyboard.press('Escape');
        await page.keyboard.press('g');
        await page.keyboard.press('l');
        await page.locator('.path b').getByText('main->solve').waitFor();
      },
      { hash: '#flame' },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the legend shows whole names, as many as there is room for', (t) =>
  view(
    t,
    [example('heat-hpctoolkit')],
    async ({ page }) => {
      await page.locator('.legend > span').first().waitFor({ state: 'attached' });
      const { names, box } = await page.locator('.legend').evaluate((e) => {
        const sides = ({ left, right, top, bottom }: DOMRect) => ({ left, right, top, bottom });
        return {
          box: sides(e.getBoundingClientRect()),
          names: [...e.children].map((c) => sides(c.getBoundingClientRect())),
        };
      });
      const seen = names.filter((n) => n.top < box.bottom);
      assert.ok(seen.length > 0 && seen.length < names.length, `${seen.length} of ${names.length}`);
      assert.ok(seen.every((n) => n.left >= box.left && n.right <= box.right && n.bottom <= box.bottom + 1));
    },
    { hash: '#flame', viewport: { width: 560, height: 600 } },
  ));
