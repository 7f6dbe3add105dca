// Locations: heat map, curve, histogram and tree of every format that has places or runs; brushing filters all screens.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, example, view, type Page } from '../../web/test/harness';

const heat = (page: Page) => page.locator('.heat-box canvas');
const hash = (page: Page) => decodeURIComponent(new URL(page.url()).hash);

after(closeBrowser);

test('a picture of each format', async (t) => {
  for (const [name, file] of [
    ['cube', 'heat.cubex'],
    ['hpctoolkit', 'heat-hpctoolkit'],
    ['nsight', 'gpu/filter.sqlite'],
    ['extra-prof', 'waves-extra-prof'],
    ['extra-p', 'kernels.txt'],
  ] as const) {
    await view(
      t,
      [example(file)],
      async ({ page, shot }) => {
        await page.locator('dl.stats').getByText('imbalance').waitFor();
        await heat(page).waitFor();
        await shot(`locations-${name}`);
      },
      { hash: '#locations' },
    );
  }
});

test('hovering, a brush on the heat map, the chip, and the way back', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page, shot }) => {
      // context 12 is main->solve->stencil: assay stat says 8.580 s in all, 1.300 at rank 3
      await page.locator('.path b').getByText('main->solve->stencil').waitFor();
      await page.locator('dl.stats').getByText('1.300 s at 3').waitFor();
      await page.locator('dl.stats').getByText('21.2 %').waitFor();
      const box = (await heat(page).boundingBox())!;
      // two nodes of four ranks: cells of 110 x 56 behind labels of 64 and 8
      const cell = (row: number, column: number) =>
        [box.x + 64 + (column + 0.5) * 110, box.y + 8 + (row + 0.5) * 56] as const;
      await page.mouse.move(...cell(0, 3));
      await page.locator('.tooltip').getByText('1.300 s').waitFor();
      await page.locator('.tooltip').getByText('MPI Rank 3, Master thread').waitFor();
      await shot('locations-tooltip');
      await page.mouse.move(...cell(0, 0));
      await page.mouse.down();
      await page.mouse.move(...cell(0, 2), { steps: 4 });
      await page.mouse.up();
      await page.getByText('3 locations chosen').waitFor();
      assert.match(hash(page), /loc=rank=0-2/);
      await shot('locations-brushed');
      await page.keyboard.down('Shift');
      await page.mouse.click(...cell(1, 3));
      await page.keyboard.up('Shift');
      await page.waitForFunction(() => decodeURIComponent(location.hash).includes('loc=rank=0-2|7'));
      await page.getByRole('tab', { name: 'Flame' }).click();
      await page.locator('.flame-view canvas').waitFor();
      assert.match(hash(page), /loc=rank=/);
      await page.getByRole('tab', { name: 'Locations' }).click();
      await heat(page).waitFor();
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !location.hash.includes('loc='));
    },
    { hash: '#locations?sel=12' },
  ));

test('keys, curve and histogram', (t) =>
  view(
    t,
    [example('heat-hpctoolkit')],
    async ({ page, shot }) => {
      await heat(page).waitFor();
      await heat(page).focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowDown');
      await page
        .locator('.heat-legend [role=status]')
        .getByText(/^thread 1\.0: /)
        .waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('1 location chosen').waitFor();
      assert.match(hash(page), /loc=rank=1,thread=0/);
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !location.hash.includes('loc='));
      const plot = (await page.locator('.heat-plot canvas').first().boundingBox())!;
      await page.mouse.move(plot.x + plot.width - 20, plot.y + 40);
      await page.mouse.down();
      await page.mouse.move(plot.x + plot.width - 60, plot.y + 40, { steps: 4 });
      await page.mouse.up();
      await page.getByText(/locations? chosen/).waitFor();
      await shot('locations-curve');
    },
    { hash: '#locations', colorScheme: 'dark' },
  ));

test('the tree of locations', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page, shot }) => {
      await heat(page).waitFor();
      await page.keyboard.press('2');
      const grid = page.getByRole('treegrid', { name: 'Locations' });
      await grid.getByText('node2').waitFor();
      await shot('locations-tree');
      await grid.getByRole('row').filter({ hasText: 'MPI Rank 5' }).dblclick();
      await page.waitForFunction(() => decodeURIComponent(location.hash).includes('loc=rank=5'));
    },
    { hash: '#locations' },
  ));

test('one value has no scale of others around it; what a drag does is said in whole', (t) =>
  view(
    t,
    [example('waves-extra-prof'), example('heat-hpctoolkit')],
    async ({ page }) => {
      await page.locator('.path').getByText('1 run,').waitFor();
      const value = await page.locator('dl.stats > div', { hasText: 'mean' }).locator('dd').innerText();
      await page.locator('.heat-legend').getByText(`all ${value}`, { exact: true }).waitFor();
      await page.locator('.heat-scale').waitFor({ state: 'detached' });
      // From 0 there is a scale, which ends at the value
      await page.keyboard.press('z');
      await page.locator('.heat-scale').waitFor();
      await page.locator('.heat-legend').getByText(value, { exact: true }).waitFor();
      await page.goto(page.url().replace(/#.*/, '#locations?d=1'));
      const hint = page.locator('.heat-legend [role=status]');
      await hint.getByText('Esc takes it back.').waitFor();
      await page.setViewportSize({ width: 1024, height: 640 });
      assert.ok(await hint.evaluate((e) => e.scrollWidth <= e.clientWidth), 'the hint is cut');
    },
    { hash: '#locations' },
  ));

test('the scale has no seams at 125 %', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      await page.locator('.heat-scale canvas').waitFor();
      const faint = await page.locator('.heat-scale canvas').evaluate((e) => {
        const canvas = e as HTMLCanvasElement;
        const { data } = canvas.getContext('2d')!.getImageData(0, 2, canvas.width, 1);
        return data.filter((v, i) => i % 4 === 3 && v < 255).length;
      });
      assert.equal(faint, 0);
    },
    { hash: '#locations', viewport: { width: 1024, height: 640 }, deviceScaleFactor: 1.25 },
  ));

test('runs of a point', (t) =>
  view(
    t,
    [example('kernels.txt')],
    async ({ page }) => {
      await page.locator('.path').getByText('5 runs').waitFor();
      await page.locator('dl.stats').getByText('median').waitFor();
    },
    { hash: '#locations' },
  ));
