// The screen Scale with the command's own server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, example, source, type Page, view, words } from '../../web/test/harness';

const corpus = process.env['ASSAY_CORPUS'] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'assay-scale-'));
const HOSTILE = '<img src=x onerror=alert(1)>';

after(async () => {
  await closeBrowser();
  rmSync(folder, { recursive: true, force: true });
});

/** Text of Extra-P: name → function, measured at these points with two repetitions. */
function written(name: string, points: number[], functions: Record<string, (p: number) => number>): string {
  const path = join(folder, name);
  const regions = Object.entries(functions).map(
    ([region, f]) => `REGION ${region}\n${points.map((p) => `DATA ${f(p) * 0.99} ${f(p) * 1.01}\n`).join('')}`,
  );
  writeFileSync(path, `PARAMETER p\nPOINTS ${points.map((p) => `(${p})`).join(' ')}\nMETRIC time\n${regions.join('')}`);
  return path;
}
const POINTS = [4, 8, 16, 32, 64];

const grid = (page: Page) => page.getByRole('grid', { name: 'Models' });
const cells = async (page: Page, column: number) =>
  grid(page).getByRole('row').locator(`[role=gridcell]:nth-child(${column})`).allTextContents();
const plotted = (page: Page) => page.locator('.scale-plot [role=img]');

test('models, sorted by growth; slider, keys and address go together', (t) =>
  view(
    t,
    [
      written('a.txt', POINTS, {
        'main->quick': () => 3,
        'main->slow': (p) => 1 + p * p,
        'main->steady': (p) => 50 + 2 * p,
      }),
    ],
    async ({ page, shot }) => {
      await plotted(page).waitFor();
      assert.deepEqual(
        (await cells(page, 1)).map((c) => c.trim()),
        ['slowmain', 'steadymain', 'quickmain'],
      );
      assert.deepEqual(await cells(page, 2), ['p2', 'p', 'constant']);
      // 4 times the largest: 256
      assert.equal(await page.getByLabel('Value of p').inputValue(), '256');
      assert.match((await cells(page, 4))[0]!, /^65,5\d\d/); // 1 + 256²
      await page.getByLabel('Value of p').fill('1000');
      await page.keyboard.press('Enter');
      await page.getByText('15.6× beyond').waitFor();
      assert.match(page.url(), /scale\.at=p%3D1000/);
      await page.waitForFunction(() =>
        document.querySelector('.vbody .vrow [role=gridcell]:nth-child(4)')?.textContent?.startsWith('1,00'),
      );
      await page.getByLabel('Predict at p').focus();
      await page.keyboard.press('ArrowLeft');
      await page.waitForURL((u) => !u.hash.includes('p%3D1000'));
      await page.keyboard.press('0');
      await page.waitForURL(/scale\.at=p%3D64/);
      await page.getByText('measured', { exact: true }).waitFor();
      // Selecting, keeping several, the axes, the pictures
      await grid(page).focus();
      await page.keyboard.press('ArrowDown');
      await page.waitForURL(/sel=\d/);
      await page.keyboard.press('p');
      await page.keyboard.press('ArrowDown');
      await page.locator('.scale-legend button').nth(1).waitFor();
      await page.keyboard.press('L');
      await page.waitForURL(/scale\.y=linear/); // over decades it was logarithmic
      await page.keyboard.press('v');
      await page.waitForURL(/scale\.view=speedup/);
      assert.equal(await page.getByRole('button', { name: 'speed-up' }).getAttribute('aria-pressed'), 'true');
      await page.keyboard.press('w');
      await page
        .getByRole('region', { name: 'Functions that were tried' })
        .getByText('chosen', { exact: true })
        .waitFor();
      await shot('scale-line');
      await page.keyboard.press('S');
      await page.waitForFunction(() =>
        document.querySelector('.vbody .vrow [role=gridcell]')?.textContent?.startsWith('slow'),
      );
      await page.keyboard.press('t');
      assert.equal(await page.getByRole('button', { name: 'tree', exact: true }).getAttribute('aria-pressed'), 'true');
      // Between slashes a search is a regular expression, as on all screens
      await page.keyboard.press('/');
      await page.keyboard.type('/st.a/');
      await page.getByText('1 call path of 3').waitFor();
      assert.deepEqual(await cells(page, 1), ['steady']);
    },
    { hash: '#scale' },
  ));

test('a call path that has more than the whole is marked', (t) =>
  view(
    t,
    [
      written('more.txt', [2, 4, 8, 16, 32], {
        main: (p) => 8 + p,
        'main->a': (p) => (p * p) / 32,
        'main->b': () => 6,
      }),
    ],
    async ({ page }) => {
      await plotted(page).waitFor();
      // 4 times the largest: 128, where a has 512 and main 136
      const shares = Object.fromEntries((await cells(page, 1)).map((name, i) => [name.trim(), i] as const));
      const texts = await cells(page, 5);
      assert.deepEqual([texts[shares['amain']!], texts[shares['main']!]], ['376.5', '100.0']);
      const marked = grid(page).locator('[role=gridcell]:nth-child(5) .badge');
      assert.deepEqual(await marked.allTextContents(), ['376.5']);
      assert.match(
        (await marked.locator('..').getAttribute('title'))!,
        /^376\.5 % of the total there, which has a model of its own: they disagree/,
      );
    },
    { hash: '#scale' },
  ));

test('the example, in the dark; the function and the command are copied', (t) =>
  view(
    t,
    [example('kernels.txt')],
    async ({ page, shot }) => {
      await plotted(page).waitFor();
      await page.getByRole('button', { name: 'Copy…' }).click();
      await page.getByRole('menuitem', { name: 'LaTeX' }).click();
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^\$.*\\cdot n\^\{3\}/);
      await page.getByRole('button', { name: 'Copy as command' }).click();
      await page.getByText('Command copied').waitFor();
      assert.deepEqual(words(await page.evaluate(() => navigator.clipboard.readText())), [
        'assay',
        'predict',
        example('kernels.txt'),
        '--at',
        'n=4096',
        '--metric',
        'time',
      ]);
      await page.keyboard.press('n');
      const dialog = page.getByRole('dialog', { name: 'What to measure next' });
      await dialog.getByLabel('Budget in core hours').fill('0.003');
      await dialog.getByText('n = 1408').waitFor(); // as docs/predictions.md has it
      await shot('scale-suggest');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await shot('scale-dark');
      const box = (await plotted(page).boundingBox())!;
      await page.mouse.move(box.x + box.width * 0.7, box.y + box.height * 0.5);
      await page
        .locator('.tooltip')
        .getByText(/^matrix: /)
        .waitFor();
      await page.mouse.click(box.x + box.width * 0.7, box.y + box.height * 0.5);
      await page.waitForURL(/scale\.at=n%3D[23]\d\d0/);
    },
    { hash: '#scale', colorScheme: 'dark' },
  ));

/** Of two parameters: 5 + p n / 2. */
function plane(): string {
  const path = join(folder, 'plane.txt');
  const points = [2, 4, 8, 16, 32].flatMap((x) => [10, 20, 30, 40, 50].map((y) => [x, y] as const));
  writeFileSync(
    path,
    `PARAMETER p\nPARAMETER n\nPOINTS ${points.map(([x, y]) => `(${x} ${y})`).join(' ')}\nMETRIC time\nREGION main->both\n${points.map(([x, y]) => `DATA ${5 + 0.5 * x * y}\n`).join('')}`,
  );
  return path;
}

test('models of the file and two parameters: all that is chosen has room in one line, and so have the sliders', (t) => {
  const stored = join(folder, 'plane.extra-p');
  assert.equal(spawnSync(process.env['ASSAY']!, ['model', plane(), '-o', stored]).status, 0);
  return view(
    t,
    [stored],
    async ({ page, shot }) => {
      await page.getByRole('combobox', { name: 'Models' }).waitFor();
      await plotted(page).waitFor();
      await shot('scale-stored-map');
      const heights = await page
        .locator('.scale > .toolbar, .sliders, .scale-split .toolbar')
        .evaluateAll((all) => all.map((e) => e.clientHeight));
      assert.ok(heights.length === 3 && heights.every((h) => h < 45), heights.join());
    },
    { hash: '#scale' },
  );
});

test('functions that were tried have their measures in sight, and constants as the model has them', (t) => {
  const path = join(folder, 'micro.txt');
  writeFileSync(
    path,
    `PARAMETER x\nPOINTS 10 20 40 80 160\nMETRIC time\nREGION solve\n${[10, 20, 40, 80, 160].map((x) => `DATA ${(3.4671e-6 + 5.2242e-10 * x ** 0.75 * Math.log2(x) ** 2).toPrecision(9)}\n`).join('')}`,
  );
  return view(
    t,
    [path],
    async ({ page }) => {
      await plotted(page).waitFor();
      await page.keyboard.press('w');
      const table = page.getByRole('region', { name: 'Functions that were tried' });
      await table.getByRole('row').nth(2).waitFor();
      assert.ok(await table.evaluate((e) => e.scrollWidth <= e.clientWidth), 'columns are cut');
      assert.doesNotMatch(await table.innerText(), /0\.00000/);
    },
    { hash: '#scale' },
  );
});

test('how many call paths and points there are stands there whole, or not at all', (t) =>
  view(
    t,
    [join(source, 'tests', 'data', 'extrap-segmented.extra-p')],
    async ({ page }) => {
      await page.getByRole('combobox', { name: 'Models' }).waitFor();
      for (let width = 1340; width >= 1000; width -= 20) {
        await page.setViewportSize({ width, height: 720 });
        const cut = await page.locator('.if-room').evaluate((box) => {
          const room = box.getBoundingClientRect();
          return [...box.children]
            .filter(
              (e) =>
                e.getBoundingClientRect().top < room.bottom - 1 &&
                (e.getBoundingClientRect().left < room.left - 1 || e.scrollWidth > room.width + 1),
            )
            .map((e) => e.textContent);
        });
        assert.deepEqual(cut, [], `${width}`);
      }
      await page.setViewportSize({ width: 1600, height: 720 });
      assert.match((await page.locator('.if-room').textContent()) ?? '', /call paths?, \d+ points$/);
    },
    { hash: '#scale' },
  ));

test('two parameters: a map, and lines along each', (t) => {
  const path = plane();
  return view(
    t,
    [path],
    async ({ page, shot }) => {
      await plotted(page).waitFor();
      assert.equal(await page.getByLabel('Value of p').inputValue(), '128');
      assert.equal(await page.getByLabel('Value of n').inputValue(), '50');
      await page.getByRole('button', { name: 'map', exact: true }).click();
      const map = page.getByRole('img', { name: 'time of both over p and n' });
      await map.waitFor();
      await page.waitForTimeout(300);
      await shot('scale-map');
      const box = (await map.boundingBox())!;
      const asked: URLSearchParams[] = [];
      page.on('request', (r) => r.url().includes('api/surface') && asked.push(new URL(r.url()).searchParams));
      await page.mouse.click(box.x + box.width * 0.4, box.y + box.height * 0.5);
      await page.waitForFunction(
        () => (document.querySelector('[aria-label="Value of n"]') as HTMLInputElement).value !== '50',
      );
      // The map goes as far as before, and the slices go through the click
      await page.waitForTimeout(200);
      assert.deepEqual(
        asked.map((a) => a.get('at')),
        ['p=128,n=50'],
      );
      assert.notEqual(await page.getByLabel('Value of p').inputValue(), '128');
      await shot('scale-map-clicked');
      // Further out than it goes
      await page.getByLabel('Value of n').fill('120');
      await page.getByLabel('Value of n').press('Enter');
      await page.waitForTimeout(300);
      assert.equal(asked.at(-1)?.get('at'), 'p=128,n=200');
      await page.getByRole('button', { name: 'values', exact: true }).click();
      await page.getByRole('combobox', { name: 'Over' }).selectOption('n');
      await page.getByRole('img', { name: 'time over n of both' }).waitFor();
      await shot('scale-slice');
      // Which parameter counts the processes is chosen with strong scaling
      await page.getByRole('combobox', { name: 'Scaling' }).selectOption('strong');
      await page.waitForURL(/scale\.processes=n&.*scale\.scaling=strong/);
      await plotted(page).waitFor();
    },
    { hash: '#scale' },
  );
});

test('inputs that are points of one experiment', (t) =>
  view(
    t,
    POINTS.map((p) => written(`part.p${p}.txt`, [p], { main: (x) => 2 * x })),
    async ({ page }) => {
      await page.getByRole('tab', { name: 'Scale' }).click();
      await page.getByText('1 call path, 5 points').waitFor();
      assert.deepEqual(await cells(page, 2), ['p']);
      await page.getByRole('combobox', { name: 'Inputs' }).selectOption('0');
      await page.getByText('1 call path, 1 point', { exact: true }).waitFor();
    },
  ));

test('strong scaling is offered where it looks like it', (t) =>
  view(
    t,
    [written('strong.txt', POINTS, { main: (p) => 640 / p + 1 })],
    async ({ page }) => {
      await page.getByRole('button', { name: 'Model the work instead' }).click();
      await page.waitForURL(/scale\.scaling=strong/);
      // The work is 640 + p
      await page.waitForFunction(
        () => document.querySelector('.vbody .vrow [role=gridcell]:nth-child(2)')?.textContent === 'p',
      );
      await page.getByRole('button', { name: 'efficiency' }).click();
      await plotted(page).waitFor();
    },
    { hash: '#scale' },
  ));

test('names are text; what is wrong is said', (t) =>
  view(
    t,
    [written('hostile.txt', POINTS, { [`main->${HOSTILE}`]: (p) => p, 'main->[b](c)*': (p) => 2 * p })],
    async ({ page, complaints }) => {
      await plotted(page).waitFor();
      assert.equal(await page.locator('img').count(), 0);
      assert.ok((await cells(page, 1)).some((c) => c.includes(HOSTILE)));
      await page.getByRole('searchbox').fill('/(/'); // letter by letter, "/(" would be a part of a name first
      await page.getByRole('alert').getByText("--match '(' is no regular expression").waitFor();
      assert.equal((await cells(page, 1)).length, 2); // what was there stays
      assert.deepEqual(
        complaints.splice(0).filter((c) => !c.includes('400')),
        [],
      );
    },
    { hash: '#scale' },
  ));

test('a directory of Extra-Prof profiles, enlarged', (t) =>
  view(
    t,
    [example('waves-extra-prof')],
    async ({ page, shot }) => {
      await plotted(page).waitFor();
      assert.equal((await cells(page, 1)).length, 21);
      await page.waitForTimeout(200);
      await shot('scale-enlarged');
    },
    { hash: '#scale', viewport: { width: 1024, height: 576 }, deviceScaleFactor: 1.25 },
  ));

const FORMATS: Record<string, string> = {
  'a directory of Cube profiles': 'cube/sets/single_parameter',
  'JSON Lines': 'extrap/jsonlines/cross_matrix_2p.jsonl',
  '.extra-p with models': 'extrap/input/exp_only_mean_median.extra-p',
  'Extra-P 3': 'extrap/input/experiment_3',
  TaLPas: 'extrap/talpas/talpas_2.txt',
  'a directory of exports of Nsight Systems': 'nsight/extra_prof/test2',
  'a profile of Perun': 'perun/profiles/examples__complexity.perf',
  'three parameters': 'extrap/text/three_parameter_1.txt',
};
test('three parameters: any two of them as a map, and back to what was measured', (t) => {
  const path = join(folder, 'cube.txt');
  const points = [2, 4, 8, 16, 32].flatMap((p) =>
    [1, 2, 3, 4, 5].flatMap((n) => [10, 20, 30, 40, 50].map((m) => [p, n, m] as const)),
  );
  writeFileSync(
    path,
    `PARAMETER p\nPARAMETER n\nPARAMETER m\nPOINTS ${points.map((x) => `(${x.join(' ')})`).join(' ')}\nMETRIC time\nREGION main\n${points.map(([p, n, m]) => `DATA ${5 + p * n + m}\n`).join('')}`,
  );
  return view(
    t,
    [path],
    async ({ page, shot }) => {
      await page.getByRole('img', { name: 'time of main over p and n' }).waitFor();
      await page.getByRole('combobox', { name: 'Over' }).selectOption('n');
      await page.getByRole('combobox', { name: 'and', exact: true }).selectOption('m');
      await page.getByRole('img', { name: 'time of main over n and m' }).waitFor();
      await shot('scale-map-of-three');
      await page.getByRole('button', { name: 'values', exact: true }).click();
      await page.getByText('nothing was measured at p = 128, m = 50').waitFor();
      await page.getByRole('button', { name: 'to what was (0)' }).click();
      await page.waitForURL(/scale\.at=p%3D32%2Cn%3D5%2Cm%3D50/);
      await page.getByText('nothing was measured').waitFor({ state: 'hidden' });
    },
    { hash: '#scale?scale.view=map' },
  );
});

for (const [title, name] of Object.entries(FORMATS)) {
  const path = join(corpus, name);
  test(title, { skip: !corpus || !existsSync(path) }, (t) =>
    view(
      t,
      [path],
      async ({ page, shot }) => {
        await plotted(page).waitFor();
        await page.waitForTimeout(200);
        await shot(`scale-${name.replace(/\W+/g, '-')}`);
        if (title.includes('models')) {
          await page.getByRole('combobox', { name: 'Models' }).selectOption({ label: 'Median Model (of the file)' });
          await page.waitForURL(/scale\.set=1/);
          await plotted(page).waitFor();
        }
        assert.ok((await cells(page, 1)).length > 0);
      },
      { hash: '#scale', viewport: { width: 1280, height: 720 } },
    ),
  );
}

test('another input begins anew: nothing of the last one is asked of it', (t) =>
  view(
    t,
    [example('kernels.txt'), written('only.txt', POINTS, { only: (p) => p / 1e6 })],
    async ({ page, shot }) => {
      await plotted(page).waitFor();
      await page.getByRole('button', { name: 'only.txt' }).click();
      await page.waitForFunction(() =>
        document.querySelector('.scale-plot [role=img]')?.getAttribute('aria-label')?.endsWith(' of only'),
      );
      await shot('scale-another-input');
    },
    { hash: '#scale?d=0' },
  ));
