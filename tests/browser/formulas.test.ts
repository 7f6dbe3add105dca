// Metrics of formulas: written on the page, in the address, in commands; mistakes where they are made.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, printed, source, view, type Page } from '../../web/test/harness';

const heat = join(source, 'examples', 'heat.cubex');
after(closeBrowser);

const picker = (page: Page, name: string) => page.getByRole('button', { name: `Metric: ${name}` });
const field = (page: Page) => page.getByRole('textbox', { name: 'Formula' });
/** The first value of a row. */
const value = async (page: Page, name: string): Promise<number> =>
  Number(
    (await page.getByRole('row').filter({ hasText: name }).first().getByRole('gridcell').nth(1).innerText()).replace(
      /,/g,
      '',
    ),
  );

async function copied(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Copy as command' }).click();
  await page.waitForFunction(async () => /^assay/.test(await navigator.clipboard.readText()));
  return page.evaluate(() => navigator.clipboard.readText());
}

test('a formula becomes a metric of all screens', (t) =>
  view(
    t,
    [heat],
    async ({ page, url, shot }) => {
      await page.getByRole('row').filter({ hasText: 'solve' }).first().waitFor();
      const time = await value(page, 'solve');
      await page.keyboard.press('=');
      await field(page).waitFor();
      assert.ok(await field(page).evaluate((e) => e === document.activeElement));
      // A mistake is told at the field, and the cursor stands there
      await field(page).fill('x=bytes_sent/tme');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: "there is no metric 'tme'; did you mean 'time'?" }).waitFor();
      assert.equal(await field(page).evaluate((e: HTMLInputElement) => e.selectionStart), 13);
      await shot('formula-mistake');
      await field(page).fill('double [s]=2*');
      await page.getByRole('combobox', { name: 'Insert a metric' }).selectOption('time');
      assert.equal(await field(page).inputValue(), 'double [s]=2*time');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await picker(page, 'double').waitFor();
      await page.waitForURL(/derive=double/);
      await page.waitForFunction(
        (seen) =>
          Math.abs(
            Number(
              document.querySelectorAll('[role=row]:nth-child(3) [role=gridcell]')[1]?.textContent?.replace(/,/g, '') ??
                0,
            ) - seen,
          ) > 0,
        time,
      );
      assert.ok(Math.abs((await value(page, 'solve')) - 2 * time) < 0.02);
      await shot('formula-tree');
      const command = await copied(page);
      assert.match(command, /--derive 'double \[s\]=2\*time' --metric double/);
      assert.match(printed(command), /^double s[^]*26\.98[^]*23\.69/m);
      // One that is made of it, and both in the command
      await page.keyboard.press('=');
      await field(page).fill('per call=double/visits');
      await page.keyboard.press('Enter');
      await picker(page, 'per call').waitFor();
      assert.match(
        await copied(page),
        /--derive 'double \[s\]=2\*time' --derive 'per call=double\/visits' --metric 'per call'/,
      );
      // On other screens, and for whoever follows the link
      await page.keyboard.press('g');
      await page.keyboard.press('l');
      await page.getByRole('img').first().waitFor();
      await picker(page, 'per call').waitFor();
      const link = page.url();
      await page.goto(url);
      await page.goto(link);
      await picker(page, 'per call').waitFor();
      // Changed: the name stays, the numbers do not
      await page.goto(`${url}#tree?derive=${encodeURIComponent('double [s]=2*time')}&m=double`);
      await page.reload();
      await picker(page, 'double').waitFor();
      await page.keyboard.press('=');
      await page.getByRole('button', { name: 'double [s]=2*time', exact: true }).click();
      await field(page).fill('double [s]=3*time');
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await page.waitForFunction(
        (seen) =>
          [...document.querySelectorAll('[role=row]')].some(
            (row) =>
              row.textContent?.includes('solve') &&
              Math.abs(Number(row.querySelectorAll('[role=gridcell]')[1]?.textContent?.replace(/,/g, '')) - 3 * seen) <
                0.03,
          ),
        time,
      );
      // Taken away, and back
      await page.keyboard.press('=');
      await page.getByRole('button', { name: 'Remove double [s]=3*time' }).click();
      await page.keyboard.press('Escape');
      await picker(page, 'time').waitFor();
      await page.goBack();
      await picker(page, 'double').waitFor();
    },
    { hash: '#tree' },
  ));

test('a formula of the address that says nothing here', (t) =>
  view(
    t,
    [heat],
    async ({ page }) => {
      await page.getByRole('button', { name: /there is no metric 'nothing'/ }).click();
      await page.getByRole('button', { name: 'Remove a=nothing' }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: /there is no metric 'nothing'/ }).waitFor({ state: 'detached' });
      await page.getByRole('row').filter({ hasText: 'solve' }).first().waitFor();
      // From the list of metrics
      await picker(page, 'time').click();
      await page.getByRole('option', { name: 'of a formula …' }).click();
      await field(page).waitFor();
    },
    { hash: '#tree?derive=a%3Dnothing' },
  ));
