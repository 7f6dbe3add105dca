// Runs of each side: chosen, in the address and in the command; one input against itself.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, view, type Page } from '../../web/test/harness';

const folder = mkdtempSync(join(tmpdir(), 'compare-runs-'));
after(() => rmSync(folder, { recursive: true }));
after(closeBrowser);

// Two repetitions at n=2, three at n=4: main has 1, 2 and 10, 20, 60 of its own, f 3, 5 and 30, 50, 130
const RUNS = join(folder, 'runs.txt');
writeFileSync(
  RUNS,
  'PARAMETER n\nPOINTS 2 4\nMETRIC time\nREGION main\nDATA 1 2\nDATA 10 20 60\nREGION main->f\nDATA 3 5\nDATA 30 50 130\n',
);

const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
const cells = async (page: Page, name: string): Promise<string> =>
  (await page.getByRole('row').filter({ hasText: name }).first().textContent()) ?? '';

test('names of files give way to the runs of them, which are never cut where a name still is long', (t) => {
  const path = join(folder, 'one_kernel_of_them.txt');
  writeFileSync(
    path,
    'PARAMETER x\nPOINTS 20 60\nMETRIC time\nREGION compute\nDATA 81.1 82.3 83.4\nDATA 725.2 726.4 727.6\n',
  );
  return view(
    t,
    [path],
    async ({ page }) => {
      await page
        .getByText(/degradation/)
        .first()
        .waitFor();
      for (const label of ['Run of A', 'Run of B']) {
        const shown = page.getByRole('button', { name: new RegExp(`^${label}: x=`) }).locator('.ellipsis');
        assert.ok(await shown.evaluate((e) => e.scrollWidth <= e.clientWidth), `${label} is cut`);
      }
    },
    { hash: '#compare' },
  );
});

test('one experiment: its first point against its last, then others', (t) =>
  view(
    t,
    [RUNS],
    async ({ page, shot, url }) => {
      await page.getByRole('treegrid', { name: 'Call paths that changed' }).waitFor();
      await page.getByRole('button', { name: 'Run of A: n=2' }).waitFor();
      await page.getByRole('button', { name: 'Run of B: n=4' }).waitFor();
      // What is named is judged, too: two against three values are too few
      await page.getByRole('columnheader', { name: 'Verdict' }).waitFor();
      assert.match(await cells(page, 'main'), /too few repetitions|maybe degradation/);
      assert.match(await cells(page, 'main'), /1\.5.*30.*\+28\.5/);
      await shot('compare-runs');
      await page.getByRole('button', { name: /^Run of A/ }).click();
      await page.getByRole('option').filter({ hasText: 'n=4, repetition 2' }).click();
      await page.waitForURL(/compare\.run_a=3/);
      // Run 3 has 20, the mean at n=4 is 30
      await page.waitForFunction(() => /\+10/.test(document.querySelector('.vbody .vrow')?.textContent ?? ''));
      assert.match(await cells(page, 'main'), /20.*30.*\+10/);
      await page.keyboard.press('y');
      assert.match(await clipboard(page), /^assay diff \S*runs\.txt \S*runs\.txt --run-a 3 --run-b n=4 --all$/);
      await page.keyboard.press('x');
      await page.waitForURL(/compare\.run_b=3/);
      await page.waitForFunction(() => /-10/.test(document.querySelector('.vbody .vrow')?.textContent ?? ''));
      await page.keyboard.press('3');
      await page.keyboard.press('y');
      assert.match(
        await clipboard(page),
        /^assay flame --diff \S*runs\.txt \S*runs\.txt --folded --run-a n=4 --run-b 3$/,
      );
      assert.match(page.url().slice(url.length), /compare\.run_a=n%3D4|compare\.run_a=n=4/);
    },
    { hash: '#compare' },
  ));
