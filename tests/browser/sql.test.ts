// SQL: the editor, the tables, results, the chart; examples on every format; hostile names stay text.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, example, view, words, type Page } from '../../web/test/harness';

const editor = (page: Page) => page.getByLabel('Statement');
const cells = (page: Page) => page.getByRole('grid', { name: 'Rows' }).getByRole('gridcell').allTextContents();
const HOSTILE = '<img src=x onerror=alert(1)>';

async function run(page: Page, statement: string): Promise<void> {
  await editor(page).fill(statement);
  await page.keyboard.press('Control+Enter');
}

after(closeBrowser);

test('write, run, sort, copy', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page, shot }) => {
      await run(
        page,
        "select 3 as a, 'x' as b, null as c, 9007199254740993 as d union all select 1, 'it''s', 2.5, -9007199254740993",
      );
      await page.getByText('2 rows').waitFor();
      assert.deepEqual(await cells(page), [
        '3',
        'x',
        'NULL',
        '9007199254740993',
        '1',
        "it's",
        '2.5',
        '-9007199254740993',
      ]);
      await page.getByRole('button', { name: 'd', exact: true }).click();
      await page.getByRole('button', { name: 'd', exact: true }).click();
      assert.equal((await cells(page))[0], '1');
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await page.getByRole('menuitem', { name: 'As CSV' }).click();
      await page.getByText('Copied 2 rows').waitFor();
      assert.equal(
        await page.evaluate('navigator.clipboard.readText()'),
        "a,b,c,d\n3,x,,9007199254740993\n1,it's,2.5,-9007199254740993\n",
      );
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await page.getByRole('menuitem', { name: 'As command' }).click();
      assert.deepEqual(words(String(await page.evaluate('navigator.clipboard.readText()'))), [
        'assay',
        'sql',
        example('heat.cubex'),
        "select 3 as a, 'x' as b, null as c, 9007199254740993 as d union all select 1, 'it''s', 2.5, -9007199254740993",
      ]);
      await page.getByRole('button', { name: 'Examples' }).click();
      await page.getByRole('option', { name: 'Functions with most time' }).click();
      await page.getByText('stencil').first().waitFor();
      await shot('sql-table');
      await page.goBack();
      await page.getByText("it's").first().waitFor();
    },
    { hash: '#sql' },
  ));

test('an error is shown at its place', (t) =>
  view(
    t,
    [example('kernels.txt')],
    async ({ page, shot, complaints }) => {
      await run(page, 'select name,\n  nme\nfrom metric');
      await page.getByRole('alert').getByText('no such column: nme').waitFor();
      assert.match(await page.getByRole('alert').innerText(), /^Line 2, column 3: /);
      assert.equal(await page.locator('.sql-under mark').innerText(), 'nme');
      await shot('sql-error');
      await page.getByRole('textbox', { name: 'Statement' }).fill('select name');
      await page.getByText('changed since', { exact: true }).waitFor();
      await run(page, 'select name from metric');
      await page.getByText('2 rows').waitFor();
      assert.equal(await page.getByRole('alert').count(), 0);
      // The browser's own note about the status of the answer
      assert.ok(
        complaints.every((c) => c.includes('422')),
        complaints.join('\n'),
      );
      complaints.length = 0;
    },
    { hash: '#sql' },
  ));

test('tables at hand, and a chart', (t) =>
  view(
    t,
    [example('kernels.txt')],
    async ({ page, shot }) => {
      await editor(page).fill('select count(*) as n from ');
      await editor(page).press('End');
      await page.getByRole('button', { name: 'measurement', exact: true }).click();
      assert.equal(await editor(page).inputValue(), 'select count(*) as n from measurement');
      await page.getByRole('button', { name: 'Columns of measurement' }).click();
      await page.getByText('Standard deviation').waitFor();
      await page.getByRole('button', { name: 'Examples' }).click();
      await page.getByRole('option', { name: 'Means at all points' }).click();
      await page.getByRole('button', { name: 'Chart' }).click();
      await page.getByRole('img', { name: 'mean over label' }).waitFor();
      await page.waitForTimeout(200);
      await shot('sql-chart');
      await page.getByRole('button', { name: 'bar' }).click();
      await page.waitForTimeout(200);
      await shot('sql-bars');
    },
    { hash: '#sql' },
  ));

for (const name of [
  'heat.cubex',
  'kernels.txt',
  'heat-hpctoolkit',
  'gpu/filter.sqlite',
  'simulation.afperf',
  'sort-1.perf',
  'waves-extra-prof',
]) {
  test(`all examples run on ${name}`, (t) =>
    view(
      t,
      [example(name)],
      async ({ page }) => {
        await page.getByRole('button', { name: 'Examples' }).click();
        const titles = await page.getByRole('option').allTextContents();
        assert.ok(titles.length >= 4, titles.join());
        for (const title of titles) {
          if (!(await page.getByRole('option').first().isVisible()))
            await page.getByRole('button', { name: 'Examples' }).click();
          await page.getByRole('option', { name: title, exact: true }).click();
          await page.getByText(/^(the first )?[\d,]+ rows?, /).waitFor();
          assert.equal(await page.getByRole('alert').count(), 0, title);
        }
      },
      { hash: '#sql', colorScheme: 'dark' },
    ));
}

test('names from files are text', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-sql-'));
  try {
    writeFileSync(
      join(folder, 'hostile.txt'),
      `PARAMETER p\nPOINTS (2) (4)\nREGION ${HOSTILE}\nMETRIC ${HOSTILE}\nDATA 1\nDATA 2\n`,
    );
    await view(
      t,
      [join(folder, 'hostile.txt')],
      async ({ page }) => {
        await run(page, `select c.name as "${HOSTILE}", '<script>alert(2)</script>' from context c`);
        await page.getByText('1 row,').waitFor();
        assert.deepEqual(await cells(page), [HOSTILE, '<script>alert(2)</script>']);
        assert.equal(await page.locator('img').count(), 0);
        await page.getByRole('button', { name: 'Examples' }).click();
        await page.getByRole('option', { name: 'Metrics', exact: true }).click();
        await page.getByRole('gridcell', { name: HOSTILE }).first().waitFor();
      },
      { hash: '#sql' },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('columns have room for wide letters and long numbers', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      await run(page, "select 'MPI_MMMMMWWWWW' as name, 0.04049549125 as own, 'iiiiiiiiii' as narrow");
      await page.getByText('1 row').waitFor();
      const cut = await page
        .locator('.vbody .vcell')
        .evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent));
      assert.deepEqual(cut, []);
    },
    { hash: '#sql' },
  ));
