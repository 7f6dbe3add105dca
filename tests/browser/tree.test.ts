// Overview and tree of every format, with real data.
import assert from 'node:assert/strict';
import { writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, example, view, words, type Page } from '../../web/test/harness';

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
  await view(
    t,
    FORMATS.map(([, path]) => path),
    async ({ page, shot }) => {
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
    },
  );
});

test('keys open, close, jump and change the view', async (t) => {
  await view(
    t,
    [HEAT],
    async ({ page, shot }) => {
      await grid(page).waitFor();
      assert.deepEqual(await names(page), [
        'main',
        'solve',
        'stencil',
        'residual',
        'exchange_halo',
        'init',
        'MPI_Finalize',
        'write_output',
      ]);
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
      await page.getByRole('combobox', { name: 'by' }).selectOption('file');
      await page.waitForFunction(() => document.querySelector('.vbody .vrow .vcell')?.textContent === 'solve.c');
      await shot('tree-files');
      await page.keyboard.press('u');
      await page.waitForFunction(() => document.querySelectorAll('.vbody .vrow').length === 19);
    },
    { hash: '#tree' },
  );
});

test('columns sort, and the same comes out of the command', async (t) => {
  await view(
    t,
    [HEAT],
    async ({ page }) => {
      await grid(page).waitFor();
      await page.getByRole('columnheader', { name: 'Exclusive' }).getByRole('button').click();
      await page.waitForURL(/tree\.sort=x0/);
      await page.waitForFunction(() => document.querySelectorAll('.vbody .vrow .vcell')[0]?.textContent === 'main');
      await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
      await page.waitForFunction(
        () => [...document.querySelectorAll('.vbody .vrow .vcell:first-child')][1]?.textContent === 'MPI_Finalize',
      );
      await page.keyboard.press('y');
      await page.getByText('Command copied').waitFor();
      assert.deepEqual(words(await page.evaluate(() => navigator.clipboard.readText())), [
        'assay',
        'tree',
        HEAT,
        '--sort',
        'name',
      ]);
    },
    { hash: '#tree' },
  );
});

test('rows are copied with numbers that programs read', async (t) => {
  await view(
    t,
    [HEAT],
    async ({ page }) => {
      await page.getByRole('treegrid').waitFor();
      const copied = async (name: string): Promise<string> => {
        await page.getByRole('button', { name: 'More', exact: true }).click();
        await page.getByRole('menuitem', { name }).click();
        await page
          .getByText(`as ${name.replace('Copy as ', '')}`)
          .last()
          .waitFor();
        return page.evaluate(() => navigator.clipboard.readText());
      };
      const csv = (await copied('Copy as CSV')).split('\n');
      assert.equal(csv[0], 'Level,Name,Inclusive (sec),Inclusive %,Exclusive (sec),Exclusive %,Visits (occ),Source');
      assert.match(csv[1]!, /^0,main,13\.4\d+,100\.0,[\d.e-]+,0\.0,8,(\S*\/)?heat\.c:41$/);
      assert.match(csv[2]!, /^1,solve,11\.8\d+,87\.8,/);
      assert.match((await copied('Copy as Markdown')).split('\n')[3]!, /^\| \u00a0\u00a0solve \| 11\.8\d+ \| 87\.8 \|/);
      assert.equal((JSON.parse(await copied('Copy as JSON')) as { depth: number }[])[0]!.depth, 0);
    },
    { hash: '#tree' },
  );
});

test('columns are dragged to other places, and hidden', async (t) => {
  await view(
    t,
    [HEAT],
    async ({ page }) => {
      await grid(page).waitFor();
      const heads = () => page.getByRole('columnheader').locator('.head > .ellipsis').allTextContents();
      assert.deepEqual(await heads(), ['Name', 'Inclusive', '%', 'Exclusive', '%', 'Visits', 'Source']);
      await page
        .getByRole('columnheader', { name: 'Visits' })
        .dragTo(page.getByRole('columnheader', { name: 'Inclusive' }));
      await page.waitForURL(/tree\.columns=/);
      assert.deepEqual(await heads(), ['Name', 'Visits', 'Inclusive', '%', 'Exclusive', '%', 'Source']);
      await page.getByRole('button', { name: 'Columns and copying' }).click();
      await page.getByRole('menuitemcheckbox', { name: 'Source' }).click();
      await page.waitForURL(/tree\.hidden=/);
      assert.deepEqual(await heads(), ['Name', 'Visits', 'Inclusive', '%', 'Exclusive', '%']);
    },
    { hash: '#tree' },
  );
});

test('a search counts, marks, goes from match to match, and filters', async (t) => {
  await view(
    t,
    [HEAT],
    async ({ page, shot }) => {
      await grid(page).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('mpi_');
      await page.getByText(/^8 matches/).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.querySelector('.vrow.selected mark')?.textContent === 'MPI_');
      const first = page.url();
      await page.keyboard.press('n');
      await page.waitForFunction(
        (old) => location.href !== old && document.querySelector('.vrow.selected mark')?.textContent === 'MPI_',
        first,
      );
      await shot('tree-search');
      await page.keyboard.press('i');
      await page.waitForURL(/tree\.filter=1/);
      await page.waitForFunction(
        () => ![...document.querySelectorAll('.vbody .vcell:first-child')].some((c) => c.textContent === 'stencil'),
      );
      await shot('tree-filter');
    },
    { hash: '#tree' },
  );
});

test('a search leaves the table where it is', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      const table = page.getByRole('treegrid');
      await table.getByRole('row').nth(2).waitFor();
      const before = (await table.boundingBox())!.y;
      await page.getByPlaceholder(/Search/).fill('mpi_');
      await page.getByText(/matches/).waitFor();
      assert.equal((await table.boundingBox())!.y, before);
    },
    { hash: '#tree' },
  ));

test('focus on a subtree, with a chip that takes it back', async (t) => {
  await view(
    t,
    [DATABASE],
    async ({ page, shot }) => {
      await grid(page).waitFor();
      await page.getByText('stencil').first().click();
      await page.getByRole('complementary', { name: 'Details' }).getByText('static void stencil').waitFor();
      await shot('tree-source');
      await page.keyboard.press('f');
      await page.getByText('only below').waitFor();
      await page.waitForFunction(() => document.querySelector('.vbody .vrow .vcell')?.textContent === 'stencil');
      await page.keyboard.press('y');
      await page.getByText('Command copied').waitFor();
      const copied = words(await page.evaluate(() => navigator.clipboard.readText()));
      assert.deepEqual(copied.slice(0, -1), ['assay', 'tree', DATABASE, '--context']);
      assert.match(copied.at(-1)!, /^\d+$/);
      await page.getByRole('button', { name: 'Focus no more' }).click();
      await page.getByText('only below').waitFor({ state: 'detached' });
    },
    { hash: '#tree' },
  );
});

const rowsAre = (page: Page, expected: string[]) =>
  page.waitForFunction(
    (all: string) =>
      [...document.querySelectorAll('.vbody .vrow .vcell:first-child')].map((c) => c.textContent).join() === all,
    expected.join(),
  );

test('names are hidden, alone or with all below them, and the chip says how much that is', async (t) => {
  await view(
    t,
    [HEAT],
    async ({ page, shot }) => {
      await grid(page).waitFor();
      await page.locator('.vbody .vrow', { hasText: 'solve' }).first().click();
      await page.keyboard.press('z');
      // What it has itself is in no row: 0.003 of 13.49 s
      await page.locator('.chip', { hasText: 'hidden' }).getByText('1 · 0.0 %').waitFor();
      await rowsAre(page, ['main', 'stencil', 'residual', 'init', 'exchange_halo', 'MPI_Finalize', 'write_output']);
      await page.locator('.vbody .vrow', { hasText: 'residual' }).first().click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Hide them with all below' }).click();
      // residual with its MPI_Allreduce: 2.551 of 13.49 s
      await page.locator('.chip').getByText('3 · 18.9 %').waitFor();
      await rowsAre(page, ['main', 'stencil', 'init', 'exchange_halo', 'MPI_Finalize', 'write_output']);
      await page.keyboard.press('y');
      await page.getByText('Command copied').waitFor();
      assert.deepEqual(words(await page.evaluate(() => navigator.clipboard.readText())), [
        'assay',
        'tree',
        HEAT,
        '--hide',
        '^solve$',
        '--hide-subtree',
        '^residual$',
      ]);
      await shot('tree-hidden');
      await page.getByRole('button', { name: 'What is hidden' }).click();
      await page.getByRole('menuitem', { name: 'Show solve' }).click();
      await page.locator('.chip').getByText('2 · 18.9 %').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('mpi_');
      await page.getByText(/^7 matches/).waitFor();
      await page.getByRole('button', { name: 'hide', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Hide these nodes' }).click();
      await page.waitForURL(/tree\.hide=mpi_/);
      await page.locator('.chip').getByText('9 ·').waitFor();
      await page.getByRole('button', { name: 'Hide nothing' }).click();
      await page.locator('.chip').waitFor({ state: 'detached' });
      // Beside a long name it stands in one line, too
      await page.evaluate(() => void (location.hash = `#tree?tree.hide=/solve|${'x'.repeat(80)}/`));
      const said = await page.locator('.chip').getByText('1 · 0.0 %').boundingBox();
      assert.ok(said!.height < 24, `${said!.height} px`);
    },
    { hash: '#tree' },
  );
});

test('small ones are left out', async (t) => {
  await view(
    t,
    [HEAT],
    async ({ page }) => {
      await grid(page).waitFor();
      await page.getByRole('combobox', { name: 'Least share' }).selectOption('5');
      await rowsAre(page, ['main', 'solve', 'stencil', 'residual', 'exchange_halo', 'init', 'MPI_Finalize']);
      await page.keyboard.press('y');
      await page.getByText('Command copied').waitFor();
      assert.deepEqual(words(await page.evaluate(() => navigator.clipboard.readText())), [
        'assay',
        'tree',
        HEAT,
        '--min-share',
        '5',
      ]);
      // Of another address the control shows what it says
      await page.evaluate(() => void (location.hash = '#tree?tree.least=2.5'));
      await page.waitForFunction(
        () => document.querySelector<HTMLSelectElement>('select[aria-label="Least share"]')?.value === '2.5',
      );
    },
    { hash: '#tree' },
  );
});

test('trees of GPU activities where the input has them', async (t) => {
  await view(
    t,
    [example('gpu/filter.sqlite'), HEAT],
    async ({ page, shot }) => {
      await grid(page).waitFor();
      await page.getByRole('button', { name: 'Kernels' }).click();
      await page.waitForFunction(() => document.querySelector('.vbody .vrow .vcell')?.textContent === 'DEVICE_TO_HOST');
      await page.getByRole('columnheader', { name: 'Exclusive GPU time' }).waitFor();
      await page.locator('.vbody .vrow').first().click();
      await shot('tree-kernels');
      await page.keyboard.press('5');
      await page.waitForFunction(
        () => document.querySelector('.vbody .vrow .vcell')?.textContent === 'cudaStreamSynchronize_v3020',
      );
      await page.keyboard.press('6');
      await page.waitForFunction(() => document.querySelector('.vbody .vrow .vcell')?.textContent === 'picture');
      await page.keyboard.press('y');
      await page.getByText('Command copied').waitFor();
      assert.deepEqual(words(await page.evaluate(() => navigator.clipboard.readText())), [
        'assay',
        'tree',
        example('gpu/filter.sqlite'),
        '--by',
        'nvtx',
      ]);
      await page.evaluate(() => void (location.hash = '#tree?d=1'));
      await page.getByText('stencil').first().waitFor();
      assert.equal(await page.getByRole('button', { name: 'Kernels' }).count(), 0);
    },
    { hash: '#tree' },
  );
});

test('what is open is in the address, and back and forward follow it', async (t) => {
  await view(
    t,
    [HEAT],
    async ({ page, url }) => {
      const usual = ['main', 'solve', 'stencil', 'residual', 'exchange_halo', 'init', 'MPI_Finalize', 'write_output'];
      const opened = [
        'main',
        'solve',
        'stencil',
        'residual',
        'exchange_halo',
        'init',
        'MPI_Init',
        'allocate',
        'read_config',
        'MPI_Finalize',
        'write_output',
      ];
      await rowsAre(page, usual);
      await page.locator('.vbody .vrow', { hasText: 'init' }).first().locator('.twist').click();
      await rowsAre(page, opened);
      await page.waitForURL(/tree\.open=/);
      const address = page.url();
      await page.locator('.vbody .vrow', { hasText: 'solve' }).first().locator('.twist').click();
      await rowsAre(
        page,
        opened.filter((n) => !['stencil', 'residual', 'exchange_halo'].includes(n)),
      );
      await page.goBack();
      await rowsAre(page, opened);
      await page.goBack();
      await rowsAre(page, usual);
      await page.goForward();
      await rowsAre(page, opened);
      await page.goto(`${url}#overview`);
      await page.reload();
      await page.goto(address);
      await rowsAre(page, opened);
      await page.keyboard.press('-');
      await rowsAre(page, ['main']);
      await page.reload();
      await rowsAre(page, ['main']);
    },
    { hash: '#tree' },
  );
});

test('the grid tells assistive technology what it is, and is used by keys', async (t) => {
  await view(
    t,
    [HEAT],
    async ({ page }) => {
      await grid(page).waitFor();
      assert.equal(await grid(page).getAttribute('aria-rowcount'), '9');
      const rows = await page
        .locator('.vbody .vrow')
        .evaluateAll((all) =>
          all.map((r) =>
            ['aria-rowindex', 'aria-level', 'aria-posinset', 'aria-setsize', 'aria-expanded']
              .map((a) => r.getAttribute(a))
              .join(' '),
          ),
        );
      assert.deepEqual(rows, [
        '2 1 1 1 true',
        '3 2 1 4 true',
        '4 3 1 3 ',
        '5 3 2 3 false',
        '6 3 3 3 false',
        '7 2 2 4 false',
        '8 2 3 4 ',
        '9 2 4 4 false',
      ]);
      const active = () =>
        page.evaluate(() => {
          const id = document.querySelector('[role=treegrid]')?.getAttribute('aria-activedescendant');
          return id ? document.getElementById(id)?.querySelector('.vcell')?.textContent : null;
        });
      await grid(page).focus();
      for (const [key, name] of [
        ['Home', 'main'],
        ['End', 'write_output'],
        ['PageUp', 'main'],
        ['ArrowDown', 'solve'],
        ['ArrowRight', 'stencil'],
        ['ArrowLeft', 'solve'],
        ['PageDown', 'write_output'],
        ['ArrowLeft', 'main'],
      ] as const) {
        await page.keyboard.press(key);
        await page.waitForFunction(
          (expected) => document.querySelector('.vrow.selected .vcell')?.textContent === expected,
          name,
        );
        assert.equal(await active(), name);
      }
      assert.equal(await page.locator('.vrow.selected').getAttribute('aria-selected'), 'true');
      await page.keyboard.press('ArrowLeft');
      await page.waitForFunction(
        () => document.querySelector('.vrow.selected')?.getAttribute('aria-expanded') === 'false',
      );
      assert.equal(await grid(page).getAttribute('aria-rowcount'), '2');
      await page.keyboard.press('Enter');
      await page.waitForFunction(
        () => document.querySelector('.vrow.selected')?.getAttribute('aria-expanded') === 'true',
      );
    },
    { hash: '#tree' },
  );
});

test('another view begins with what has most, wherever the one before was scrolled to', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'assay-tree-')), 'p.folded');
  writeFileSync(file, Array.from({ length: 200 }, (_, i) => `main;f${i} ${1000 - i}`).join('\n'));
  await view(
    t,
    [file],
    async ({ page }) => {
      await grid(page).waitFor();
      await page.keyboard.press('End');
      await page.getByRole('row', { name: 'f199' }).waitFor();
      await page.keyboard.press('3');
      await page.getByRole('button', { name: 'Flat', pressed: true }).waitFor();
      await page.waitForFunction(() => document.querySelector('.vbody .vcell')?.textContent === 'f0');
      assert.equal(await grid(page).evaluate((one) => one.scrollTop), 0);
    },
    { hash: '#tree' },
  );
});

test('a column that is asked for is there, where no row has a value as well', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'assay-tree-')), 'p.jsonl');
  const lines = [1, 2].map((p) => ({ params: { p }, callpath: 'main', metric: `metric ${p}`, value: p }));
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  await view(
    t,
    [file],
    async ({ page }) => {
      // At p=2, which is shown, metric 1 was not measured
      await page.getByRole('columnheader', { name: 'Inclusive' }).waitFor();
      await page.getByRole('columnheader', { name: 'metric 1' }).getByRole('button').first().click();
      await page.waitForURL(/tree\.sort=i1/);
      await page.evaluate(() => void (location.hash = '#tree?m=metric 1'));
      await page.getByRole('columnheader', { name: 'metric 1' }).waitFor({ state: 'detached' });
      await page.getByRole('columnheader', { name: 'Inclusive' }).waitFor();
    },
    { hash: '#tree?m=metric 2&tree.metrics=0' },
  );
});

test('dark, at 125 %, and in a small window', async (t) => {
  await view(
    t,
    [HEAT, example('gpu/filter.sqlite')],
    async ({ page, shot }) => {
      await page.getByRole('heading', { name: 'Functions' }).waitFor();
      await page.getByRole('heading', { name: 'Imbalance' }).waitFor();
      await shot('overview-dark');
      await page.evaluate(() => void (location.hash = '#tree?sel=12'));
      await page
        .getByRole('complementary', { name: 'Details' })
        .getByRole('heading', { level: 2, name: 'stencil' })
        .waitFor();
      await shot('tree-dark');
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    },
    { colorScheme: 'dark', viewport: { width: 1024, height: 576 }, deviceScaleFactor: 1.25 },
  );
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

test('rows that are no contexts have details of their own', async (t) => {
  await view(
    t,
    [example('gpu/filter.sqlite'), DATABASE],
    async ({ page, shot }) => {
      const details = page.getByRole('complementary', { name: 'Details' });
      const row = (name: string) => page.getByRole('row').filter({ hasText: name }).first();
      await row('GPU blur_rows').click();
      await details.getByRole('heading', { name: 'GPU blur_rows' }).waitFor();
      // 2,488,275 ns, as nsys has it; all on one stream
      await details.getByRole('row', { name: 'GPU time 2.488 ms 2.488 ms' }).waitFor();
      await details.getByRole('heading', { name: 'Only at stream 14' }).waitFor();
      await details.getByText('cudaLaunchKernel_v7000').waitFor();
      await shot('tree-kernels-details');
      await page.keyboard.press('ArrowRight');
      await page.locator('.vrow.selected + .vrow').filter({ hasText: 'cudaLaunchKernel_v7000' }).waitFor();
      await page.keyboard.press('ArrowDown');
      await details.getByRole('heading', { name: 'cudaLaunchKernel_v7000' }).waitFor();
      await details.getByRole('row', { name: 'GPU time 2.488 ms 2.488 ms' }).waitFor();
      await details.getByRole('navigation').getByRole('button', { name: 'GPU blur_rows' }).click();
      await details.getByRole('heading', { name: 'GPU blur_rows' }).waitFor();
      // What an API call causes, and back by its caller
      await page.keyboard.press('5');
      await row('cudaLaunchKernel_v7000').click();
      await details.getByRole('heading', { name: 'Callees' }).waitFor();
      await details.getByRole('button', { name: 'GPU edges' }).click();
      await details.getByRole('heading', { name: 'GPU edges' }).waitFor();
      assert.equal(await page.locator('.vrow.selected .vcell').first().textContent(), 'GPU edges');
      // A function of several call paths: the sum of all of them, not that of the first
      await page.evaluate(() => void (location.hash = '#tree?d=1&tree.view=flat&tree.by=region'));
      await row('stencil').click();
      await details.getByRole('heading', { name: 'stencil' }).waitFor();
      await details.getByRole('row', { name: 'CPUTIME (sec) 4.740 s 4.740 s' }).waitFor(); // as assay tree --flat has it
      await shot('tree-flat-details');
    },
    { hash: '#tree?tree.view=kernel' },
  );
});

/** What is cut off without an ellipsis: numbers that lie over their neighbours, or end outside the panel. */
const cutOff = (page: Page, of: string) =>
  page.locator(of).evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent));

test('long numbers and long names have room in columns and in the details', async (t) => {
  // main has 15,281 visits with all below it and 8 itself. Of numbers below 1e12 all digits are written:
  // 152,810,114,607.5
  await view(
    t,
    ['--derive', 'PAPI_TOT_CYC=visits*10000007.5', HEAT],
    async ({ page, shot }) => {
      await grid(page).waitFor();
      await page.locator('.vbody .vrow').first().click();
      const details = page.getByRole('complementary', { name: 'Details' });
      await details.getByRole('rowheader', { name: 'PAPI_TOT_CYC' }).waitFor(); // the metric that is looked at, computed as it is
      await shot('tree-long-numbers');
      assert.deepEqual(await cutOff(page, '.bar-cell, .vcell.right'), []);
      assert.deepEqual(await cutOff(page, '.panel, .values th, .values td'), []);
      assert.deepEqual(
        await details
          .getByRole('row', { name: /^PAPI_TOT_CYC/ })
          .getByRole('cell')
          .allInnerTexts(),
        ['152.8 G', '80.00 M'],
      );
      assert.equal(
        await page.locator('.vbody .vrow').first().locator('.vcell').nth(1).innerText(),
        '152,810,114,607.5',
      );
    },
    { hash: '#tree?m=PAPI_TOT_CYC', viewport: { width: 1280, height: 800 } },
  );
});
