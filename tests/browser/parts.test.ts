// The parts that screens are made of: tables of any length, plots, canvases.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, page, type Opened } from '../../web/test/harness';
import { mock } from '../../web/test/mock';

const gallery = (use: (opened: Opened) => Promise<void>, options = {}) =>
  mock(
    () => undefined,
    (url) => page(url, use, options),
    'gallery.tsx',
  );

after(closeBrowser);

test('a table of a million rows is scrolled, and moved through by keys', () =>
  gallery(async ({ page, shot }) => {
    const table = page.getByRole('grid', { name: 'Long' });
    await table.getByText('row 0', { exact: true }).waitFor();
    assert.equal(await table.getAttribute('aria-rowcount'), '1000001');
    assert.ok((await table.getByRole('row').count()) < 60, 'only rows in sight are there');
    await shot('parts-light');
    await table.focus();
    await page.keyboard.press('End');
    await table.getByText('row 999999', { exact: true }).waitFor();
    const box = (await table.boundingBox())!;
    const row = (await table.locator('.vrow.selected').boundingBox())!;
    assert.ok(row.y >= box.y && row.y + row.height <= box.y + box.height + 1, 'the last row is in sight');
    await page.keyboard.press('PageUp');
    await page.keyboard.press('ArrowUp');
    assert.match((await table.locator('.vrow.selected').textContent()) ?? '', /^row 99998\d/);
    await page.mouse.move(box.x + 50, box.y + 100);
    await page.mouse.wheel(0, -240);
    await table.getByText('row 999970', { exact: true }).waitFor();
    await page.keyboard.press('Home');
    await table.getByText('row 0', { exact: true }).waitFor();
    // A wheel of ten rows moves ten rows, however long the table
    await page.mouse.wheel(0, 240);
    await page.waitForFunction(() => document.querySelector('[aria-rowindex="12"]')!.getBoundingClientRect().top < 60);
    assert.equal(
      await page.evaluate(() =>
        Math.round(document.querySelector('[aria-rowindex="12"]')!.getBoundingClientRect().top),
      ),
      24,
    );
  }));

test('columns are sorted, hidden and copied', () =>
  gallery(async ({ page }) => {
    const table = page.getByRole('grid', { name: 'Long' });
    await table.getByRole('button', { name: /Number/ }).click();
    await table.getByText('row 999999', { exact: true }).waitFor();
    assert.equal(await table.getByRole('columnheader', { name: /Number/ }).getAttribute('aria-sort'), 'descending');
    await table.getByRole('button', { name: 'Columns and copying' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Square' }).click();
    assert.equal(await table.getByRole('columnheader').count(), 2);
    await page.getByRole('menuitem', { name: 'Copy as CSV' }).click();
    await page.getByText('Copied 10,000 of 1,000,000 rows as CSV').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied.split('\n').slice(0, 2).join('\n'), 'Name,Number (occ)\nrow 999999,999999');
  }));

test('a tree opens and closes by keys', () =>
  gallery(async ({ page }) => {
    const tree = page.getByRole('treegrid', { name: 'Branches' });
    await tree.focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await tree.locator('.vrow.selected').textContent(), 'solve');
    assert.equal(await tree.locator('.vrow.selected').getAttribute('aria-level'), '2');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await tree.getByText('solve').waitFor({ state: 'detached' });
    assert.equal(await tree.locator('.vrow.selected').getAttribute('aria-expanded'), 'false');
    await tree.locator('.twist').click();
    await tree.getByText('solve').waitFor();
  }));

test('canvases and plots are drawn, sharp and in the dark as well', () =>
  gallery(
    async ({ page, shot }) => {
      await page.getByRole('img', { name: 'Lines' }).locator('canvas').waitFor();
      const canvas = page.locator('canvas[aria-label=Colours]');
      const drawn = () =>
        canvas.evaluate((c: HTMLCanvasElement) => ({
          width: c.width,
          colour: [...c.getContext('2d')!.getImageData(3, 3, 1, 1).data],
        }));
      await page.waitForFunction(
        () => (document.querySelector('canvas[aria-label=Colours]') as HTMLCanvasElement).width > 300,
      );
      const { width, colour } = await drawn();
      assert.equal(width, 2560);
      assert.equal(colour[3], 255);
      await shot('parts-dark');
    },
    { colorScheme: 'dark', deviceScaleFactor: 2 },
  ));
