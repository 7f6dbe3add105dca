// Two inputs compared: tree, functions, flame graph, scatter; real clicks and keys, every pair of formats.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { closeBrowser, example, page as open, view, words, type Page } from '../../web/test/harness';

const PAIR = [example('heat.cubex'), example('heat-2.cubex')];

after(closeBrowser);

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name }).first();
const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

test('the tree of what changed', (t) =>
  view(
    t,
    PAIR,
    async ({ page, shot }) => {
      await page.getByRole('status').filter({ hasText: '13.49 s → 15.66 s' }).waitFor();
      await page.getByText('+2.170 s (+16.1 %)').waitFor();
      // Where most of the change is, is open; what only one has is marked
      await row(page, 'MPI_File_write_all').waitFor();
      assert.match((await row(page, 'checkpoint').textContent()) ?? '', /only B/);
      assert.match((await row(page, 'stencil').textContent()) ?? '', /-0\.494.*-5\.8/);
      await shot('compare-tree');
      // init changed by less than 1 % of the whole: it stands back
      assert.match((await row(page, 'init').getAttribute('class')) ?? '', /dimmed/);
      await page.getByRole('button', { name: 'Only changes' }).click();
      await row(page, 'init').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Only changes' }).click();
      await row(page, 'init').waitFor();
      // Open a node by keys
      await row(page, 'exchange_halo').click();
      await page.keyboard.press('ArrowRight');
      await row(page, 'MPI_Waitall').waitFor();
      // Swapped: what was more is less
      await page.keyboard.press('x');
      await page.getByText('-2.170 s (-13.9 %)').waitFor();
      assert.match((await row(page, 'checkpoint').textContent()) ?? '', /only A/);
      await page.keyboard.press('y');
      assert.deepEqual(words(await clipboard(page)), [
        'assay',
        'diff',
        example('heat-2.cubex'),
        example('heat.cubex'),
        '--all',
      ]);
    },
    { hash: '#compare' },
  ));

test('no change at all is one in the unit of what did not change', (t) =>
  view(
    t,
    [example('heat.cubex'), example('heat.cubex')],
    async ({ page }) => {
      await page.getByText('no change').first().waitFor();
      const heads = (await page.getByRole('columnheader').allInnerTexts()).map((text) =>
        text.replace(/[▾▴]/g, '').replace(/\s+/g, ' ').trim(),
      );
      for (const head of ['A s', 'B s', 'Δ s', 'Δ self s']) assert.ok(heads.includes(head), heads.join());
    },
    { hash: '#compare' },
  ));

test('what is within the spread over locations is grey', (t) =>
  view(
    t,
    PAIR,
    async ({ page, shot, url }) => {
      const tip = (name: string) => row(page, name).locator('.change-cell').getAttribute('title');
      const isGrey = async (name: string) => /dimmed/.test((await row(page, name).getAttribute('class')) ?? '');
      await row(page, 'exchange_halo').waitFor();
      await page.getByText('1 % · 8 locations').waitFor();
      await page.getByRole('slider', { name: 'Changes that count as noise' }).fill('0');
      await page.waitForURL((to) => to.hash.includes('compare.noise=0'));
      await page.waitForFunction(() => !document.querySelector('.vbody .vrow')?.classList.contains('dimmed'));
      // Some processes have more in exchange_halo and some less, all of them less in stencil
      assert.equal(await isGrey('exchange_halo'), true);
      assert.match(
        (await tip('exchange_halo')) ?? '',
        /^within the spread over 8 locations: half of them changed by -88\.42 µs to 71\.28 µs$/,
      );
      assert.equal(await isGrey('stencil'), false);
      assert.match((await tip('stencil')) ?? '', /^beyond the spread over 8 locations/);
      await shot('compare-spread');
      await page.keyboard.press('3');
      const flame = page.getByRole('img', { name: /Flame graph of time/ });
      await flame.waitFor();
      const box = (await flame.boundingBox())!;
      await page.waitForTimeout(200);
      await page.mouse.move(box.x + 40, box.y + 19 * 2.5);
      await page.locator('.tooltip').getByText('beyond the spread over 8 locations').waitFor();
      await page.goto(`${url}#compare?${new URLSearchParams({ 'compare.tab': 'scatter', 'compare.noise': '0' })}`);
      await page.getByRole('img', { name: /of A against that of B/ }).waitFor();
      await page.waitForTimeout(200);
      await shot('compare-spread-scatter');
    },
    { hash: '#compare' },
  ));

test('search, sorting and copying', (t) =>
  view(
    t,
    PAIR,
    async ({ page }) => {
      await row(page, 'checkpoint').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('waitall');
      await row(page, 'MPI_Waitall').waitFor();
      await page.getByRole('status').filter({ hasText: '1 match' }).waitFor();
      assert.equal(await row(page, 'checkpoint').count(), 0);
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Delete');
      await row(page, 'checkpoint').waitFor();
      // By name: the first below main is init
      await page.getByRole('columnheader', { name: 'Call path' }).getByRole('button').first().click();
      await page.waitForFunction(() =>
        document.querySelectorAll('.vbody .vrow')[1]?.textContent?.startsWith('MPI_Finalize'),
      );
      await page.getByRole('button', { name: 'Columns and copying' }).click();
      await page.getByText('Copy as CSV').click();
      const csv = await clipboard(page);
      assert.match(csv.split('\n')[0] ?? '', /^Level,Call path,A \(sec\),B \(sec\),Δ \(sec\),Δ %/);
      assert.match(csv, /^0,main,13\.4910578627271,15\.6606231349861,/m);
    },
    { hash: '#compare' },
  ));

test('functions, the flame graph and the scatter plot', (t) =>
  view(
    t,
    PAIR,
    async ({ page, shot, url }) => {
      await row(page, 'checkpoint').waitFor();
      await page.keyboard.press('2');
      await page.getByRole('grid', { name: 'Functions that changed' }).waitFor();
      await row(page, 'MPI_File_write_all').waitFor();
      await shot('compare-functions');
      await page.keyboard.press('3');
      const flame = page.getByRole('img', { name: /Flame graph of time, each stack as wide as the larger/ });
      await flame.waitFor();
      await page.waitForTimeout(300);
      await shot('compare-flame');
      await page.keyboard.press('b');
      await page.getByRole('img', { name: /as wide as in A/ }).waitFor();
      assert.match(page.url().slice(url.length), /compare\.shown=a/);
      await page.keyboard.press('b');
      await page.getByRole('img', { name: /as wide as in B/ }).waitFor();
      await page.keyboard.press('b');
      await flame.waitFor();
      // The second level is main, the third begins with solve: into it, and out again
      const box = (await flame.boundingBox())!;
      await page.mouse.move(box.x + 40, box.y + 19 * 2.5);
      await page.locator('.tooltip').getByText('solve').waitFor();
      await page.locator('.tooltip').getByText('+24.3 %').waitFor();
      await page.mouse.click(box.x + 40, box.y + 19 * 2.5);
      await page.waitForURL(/compare\.root=6/);
      await page.getByRole('button', { name: 'Whole picture' }).click();
      await page.waitForURL((to) => !to.hash.includes('compare.root'));
      // What is chosen there is chosen here
      await page.keyboard.press('1');
      await page.locator('.vrow.selected').filter({ hasText: 'solve' }).waitFor();
      await page.keyboard.press('4');
      await page.getByRole('img', { name: /of A against that of B/ }).waitFor();
      await row(page, 'checkpoint').click();
      await page.waitForURL(/compare\.row=15/);
      await shot('compare-scatter');
      // A frame around the upper right corner has the largest ones only
      const plot = (await page.getByRole('img', { name: /of A against that of B/ }).boundingBox())!;
      const before = Number(await page.getByRole('grid', { name: 'Points' }).getAttribute('aria-rowcount'));
      await page.mouse.move(plot.x + plot.width - 4, plot.y + 4);
      await page.mouse.down();
      await page.mouse.move(plot.x + plot.width * 0.7, plot.y + plot.height * 0.4, { steps: 4 });
      await page.mouse.up();
      await page.getByText('In the frame').waitFor();
      const inside = Number(await page.getByRole('grid', { name: 'Points' }).getAttribute('aria-rowcount'));
      assert.ok(inside > 1 && inside < before, `${inside} of ${before}`);
    },
    { hash: '#compare' },
  ));

test('the scatter plot has more than one mark on each axis, its list whole numbers, and A its place', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-compare-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, values: number[]) => {
    const path = join(folder, name);
    writeFileSync(path, values.map((v, i) => `main;f${i} ${v}\n`).join(''));
    return path;
  };
  return view(
    t,
    [write('a.folded', [13, 31, 75]), write('b.folded', [31, 15, 73])],
    async ({ page }) => {
      await page.locator('.scatter-box canvas').waitFor();
      const drawn = await page.evaluate(async () => {
        const texts: string[] = [];
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (
          this: CanvasRenderingContext2D,
          text: string,
          ...at: [number, number]
        ) {
          const { f } = this.getTransform();
          texts.push(`${text}@${Math.round(at[1] + f)}`);
          fillText.call(this, text, ...at);
        };
        dispatchEvent(new Event('resize'));
        (document.querySelector('.scatter-box') as HTMLElement).style.maxWidth = '560px';
        await new Promise((done) => setTimeout(done, 300));
        return texts;
      });
      for (const mark of ['20', '50', '100'])
        assert.ok(
          drawn.some((text) => text.startsWith(`${mark} occ@`)),
          drawn.join(),
        );
      const [box, note] = [
        (await page.locator('.scatter-box').boundingBox())!,
        (await page.locator('.scatter-note').boundingBox())!,
      ];
      assert.ok(
        Number(drawn.find((text) => text.startsWith('A@'))!.slice(2)) <= note.y - box.y,
        `A is below the note: ${drawn.join()}, ${note.y - box.y}`,
      );
      const cell = page.getByRole('gridcell').getByText('+138.5');
      assert.ok(await cell.evaluate((e) => e.scrollWidth <= e.clientWidth), 'a change is cut');
    },
    { hash: '#compare?compare.tab=scatter' },
  );
});

test('in the dark', (t) =>
  view(
    t,
    PAIR,
    async ({ page, shot }) => {
      await row(page, 'checkpoint').waitFor();
      await shot('compare-tree-dark');
      await page.keyboard.press('3');
      await page.getByRole('img', { name: /Flame graph of time/ }).waitFor();
      await page.waitForTimeout(300);
      await shot('compare-flame-dark');
      await page.keyboard.press('4');
      await page.getByRole('img', { name: /of A against that of B/ }).waitFor();
      await page.waitForTimeout(200);
      await shot('compare-scatter-dark');
    },
    { hash: '#compare', colorScheme: 'dark' },
  ));

test('every pair of formats', async (t) => {
  const pairs: [string, string][] = [
    ['heat-hpctoolkit', 'heat.cubex'],
    ['sort-1.perf', 'sort-2.perf'],
    [join('gpu', 'filter.sqlite'), join('gpu', 'filter-2.sqlite')],
    ['simulation.afperf', 'simulation.afperf'],
    ['waves-extra-prof', 'waves-extra-prof'],
    ['kernels.txt', 'kernels.txt'],
    ['sort-1.perf', 'heat.cubex'],
  ];
  for (const [a, b] of pairs) {
    await view(
      t,
      [example(a), example(b)],
      async ({ page, shot }) => {
        for (const key of ['1', '2', '3', '4']) {
          await page.locator('.compare-bar').waitFor();
          await page.keyboard.press(key);
          await page.locator('.vbody .vrow, .flame-box canvas, .scatter-box canvas, .message').first().waitFor();
          await page.locator('.waiting-page').waitFor({ state: 'detached' });
          await page.waitForTimeout(150);
          await shot(`compare-${a.replace(/\W/g, '_')}-${b.replace(/\W/g, '_')}-${key}`);
        }
      },
      { hash: '#compare' },
    );
  }
});

test('in a report', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-compare-'));
  try {
    const file = join(folder, 'report.html');
    const made = spawnSync(process.env['ASSAY'] ?? '', ['report', ...PAIR, '-o', file], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    await open(
      pathToFileURL(file).href,
      async ({ page }) => {
        await row(page, 'checkpoint').waitFor();
        await row(page, 'exchange_halo').click();
        await page.keyboard.press('ArrowRight');
        await row(page, 'MPI_Waitall').waitFor();
        await page.keyboard.press('2');
        await page.getByRole('grid', { name: 'Functions that changed' }).waitFor();
        await page.keyboard.press('3');
        await page.getByRole('img', { name: /Flame graph of time/ }).waitFor();
        await page.keyboard.press('4');
        await page.getByRole('img', { name: /of A against that of B/ }).waitFor();
      },
      { hash: '#compare' },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('three inputs, one of them broken', (t) =>
  view(
    t,
    [...PAIR, example('heat.py'), example('simulation.afperf')],
    async ({ page }) => {
      await row(page, 'checkpoint').waitFor();
      await page.getByRole('button', { name: 'B: heat-2.cubex' }).click();
      const choices = await page.getByRole('option').allTextContents();
      assert.ok(
        choices.some((c) => c.includes('simulation.afperf')) && !choices.some((c) => c.includes('heat.py')),
        choices.join(),
      );
      await page.getByRole('option').filter({ hasText: 'simulation.afperf' }).click();
      await page.getByRole('button', { name: 'B: simulation.afperf' }).waitFor();
      await page.waitForURL(/compare\.b=3/);
      await page.keyboard.press('u');
      await page.getByRole('button', { name: 'B: heat-2.cubex' }).waitFor();
    },
    { hash: '#compare' },
  ));
