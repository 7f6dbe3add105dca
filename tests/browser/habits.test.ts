// What somebody runs into who uses the page for long: keys of controls, menus that stay open, long lists, answers that
// fail or come late, another dataset.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, example, view, type Page } from '../../web/test/harness';

const folder = mkdtempSync(join(tmpdir(), 'assay-habits-'));

after(async () => {
  await closeBrowser();
  rmSync(folder, { recursive: true, force: true });
});

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const three = (i: number): string => String(i).padStart(3, '0');
const value = (page: Page, key: string): string | null =>
  new URLSearchParams(new URL(page.url()).hash.split('?')[1] ?? '').get(key);
const selectedName = (page: Page) => page.locator('.vrow.selected .vcell:first-child').textContent();
const until = async (what: () => Promise<boolean> | boolean, why: string) => {
  for (let i = 0; i < 200; i++) {
    if (await what()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(why);
};
/** All answers to this path wait until it is called. */
async function held(page: Page, path: string): Promise<() => void> {
  let go = (): void => undefined;
  const gone = new Promise<void>((resolve) => (go = resolve));
  await page.route(`**/api/${path}?**`, async (route) => {
    await gone;
    await route.continue();
  });
  return go;
}

test('a picture of the time line that fails says so, and the next one is there', (t) =>
  view(
    t,
    [example('heat-hpctoolkit')],
    async ({ page, complaints }) => {
      await page.locator('.tl-legend').getByText('stencil').waitFor();
      let fails = true;
      await page.route('**/api/timeline_picture?**', (route) =>
        fails
          ? route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":"busy for once"}' })
          : route.continue(),
      );
      await page.keyboard.press('w');
      await page.getByRole('alert').getByText('busy for once').waitFor();
      complaints.length = 0; // the browser's own word on 503
      fails = false;
      await page.keyboard.press('w');
      await page.getByRole('alert').waitFor({ state: 'detached' });
      await page.locator('.tl-legend').getByText('stencil').waitFor();
    },
    { hash: '#timeline' },
  ));

test('Scale: rows behind the first 400 are chosen by keys, and have their numbers', (t) => {
  const regions = numbers(900).map(
    (i) => `REGION main->r${three(i)}\n${[4, 8, 16, 32, 64].map((p) => `DATA ${(i + 1) * p}\n`).join('')}`,
  );
  return view(
    t,
    [written('many.txt', `PARAMETER p\nPOINTS (4) (8) (16) (32) (64)\nMETRIC time\n${regions.join('')}`)],
    async ({ page }) => {
      await page.getByRole('grid', { name: 'Models' }).focus();
      await page.keyboard.press('End');
      await until(
        async () =>
          (await page.locator('.vrow[aria-rowindex="901"] .vcell').first().textContent())?.includes('r899') ?? false,
        'the last row is not there',
      );
      await page.keyboard.press('End');
      await until(async () => (await selectedName(page))?.includes('r899') ?? false, 'the last row is not chosen');
      await page.keyboard.press('ArrowUp');
      await until(async () => (await selectedName(page))?.includes('r898') ?? false, 'the row before is not chosen');
      // 899 * 256, where the slider stands
      await page
        .locator('.scale-details')
        .getByText(/230,144|230144/)
        .first()
        .waitFor();
      // What is between slashes is an expression, of the path
      await page.keyboard.press('/');
      await page.keyboard.type('/r00[12]$/');
      await page.getByText('2 call paths of 900').waitFor();
      await page.getByRole('searchbox').fill('R001');
      await page.getByText('No call path matches the search').waitFor();
      await page.getByRole('searchbox').fill('>r001');
      await page.getByText('1 call path of 900').waitFor();
    },
    { hash: '#scale?scale.sort=name' },
  );
});

test('what to measure next counts processes as the page does', (t) => {
  const points = [2, 4, 8, 16, 32].flatMap((p) => [10, 20, 30, 40, 50].map((q) => [p, q] as const));
  const text = `PARAMETER p\nPARAMETER q\nPOINTS ${points.map(([p, q]) => `(${p} ${q})`).join(' ')}\nMETRIC time\nREGION main\n${points.map(([p, q]) => `DATA ${p * 10 + q}\n`).join('')}`;
  return view(
    t,
    [written('two.txt', text)],
    async ({ page }) => {
      const asked: string[] = [];
      page.on('request', (request) => request.url().includes('/api/suggest?') && asked.push(request.url()));
      await page.getByRole('button', { name: 'Measure next…' }).click();
      // Core hours: the sum of q * time over all points, by 3600
      const used = points.reduce((sum, [p, q]) => sum + (q * (p * 10 + q)) / 3600, 0);
      await page.getByText(`${Number(used.toPrecision(4))} used so far`).waitFor();
      assert.ok(asked.length > 0 && asked.every((url) => url.includes('processes=q')), asked.join('\n'));
    },
    { hash: '#scale?scale.processes=q' },
  );
});

test('what to measure next has a budget where twice the hours used so far are no number', (t) => {
  // 32000 processes for 6.4e306 s, and so on: more core hours than a number holds
  const points = [2000, 4000, 8000, 16000, 32000];
  const text = `PARAMETER p\nPOINTS ${points.join(' ')}\nMETRIC time\nREGION main\n${points.map((p) => `DATA ${p * 2e302}\n`).join('')}`;
  return view(
    t,
    [written('endless.txt', text)],
    async ({ page }) => {
      await page.getByRole('button', { name: 'Measure next…' }).click();
      const dialog = page.getByRole('dialog', { name: 'What to measure next' });
      await dialog.getByText('no positive runtime at any of 5 new points').waitFor();
      assert.equal(
        await dialog.getByLabel('Budget in core hours').getAttribute('placeholder'),
        String(Number.MAX_VALUE),
      );
      assert.equal(await dialog.getByText('No advice').count(), 0);
    },
    { hash: '#scale?scale.processes=p' },
  );
});

test('lines that stand for more are passed, and opened by Enter', (t) =>
  view(
    t,
    [
      written(
        'wide.folded',
        numbers(300)
          .map((i) => `main;f${three(i)} ${1000 - i}\n`)
          .join('') + 'other;last 5\n',
      ),
    ],
    async ({ page }) => {
      await page.getByRole('treegrid', { name: 'Call tree' }).focus();
      await page.keyboard.press('Home');
      await until(() => value(page, 'sel') !== null, 'nothing is chosen');
      if ((await page.locator('.vrow.selected').getAttribute('aria-expanded')) === 'false')
        await page.keyboard.press('ArrowRight');
      for (let i = 0; i < 200; i++) await page.keyboard.press('ArrowDown');
      await until(
        async () => (await selectedName(page))?.includes('f199') ?? false,
        'not at the last row that is here',
      );
      await page.keyboard.press('ArrowDown');
      await until(
        async () => (await selectedName(page))?.includes('100 more') ?? false,
        'the line of more is not reached',
      );
      await page.keyboard.press('ArrowDown');
      await until(async () => (await selectedName(page)) === 'other', 'the line of more is not passed');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await until(async () => (await selectedName(page)) === 'f200', 'the first of the rows that came is not chosen');
      await page.keyboard.press('ArrowDown');
      await until(async () => (await selectedName(page)) === 'f201', 'no further');
    },
    { hash: '#tree' },
  ));

test('a node that is opened above the selection leaves the table where it is', (t) =>
  view(
    t,
    [
      written(
        'two.folded',
        numbers(150)
          .map((i) => `a;x${three(i)} 1\n`)
          .join('') +
          numbers(150)
            .map((i) => `b;y${three(i)} 2\n`)
            .join(''),
      ),
    ],
    async ({ page }) => {
      await page.getByRole('treegrid', { name: 'Call tree' }).focus();
      await page.keyboard.press('Home');
      await until(async () => (await selectedName(page)) === 'b', 'b is not first');
      if ((await page.locator('.vrow.selected').getAttribute('aria-expanded')) === 'false')
        await page.keyboard.press('ArrowRight');
      await page.locator('.vrow').getByText('y000').waitFor();
      await page.keyboard.press('End');
      await until(async () => (await selectedName(page)) === 'a', 'a is not last');
      await page.locator('.vtable').evaluate((box) => (box.scrollTop = 0));
      await page.locator('.vrow[aria-rowindex="2"]').waitFor();
      await page.locator('.vrow[aria-rowindex="2"] .twist').click();
      await until(
        async () => (await page.locator('.vrow[aria-rowindex="3"]').textContent())?.startsWith('a') ?? false,
        'b is not closed',
      );
      await page.locator('.vrow[aria-rowindex="2"] .twist').click();
      await page.locator('.vrow').getByText('y000').waitFor();
      await page.waitForTimeout(100);
      assert.equal(await page.locator('.vtable').evaluate((box) => box.scrollTop), 0);
    },
    { hash: '#tree' },
  ));

test('controls have their own keys: Space presses buttons, arrows move sliders', (t) =>
  view(
    t,
    [example('heat-hpctoolkit')],
    async ({ page }) => {
      await page.locator('.vbody .vrow').nth(5).waitFor();
      const before = await page.locator('.vbody .vrow').count();
      await page.getByRole('button', { name: 'Close all' }).focus();
      await page.keyboard.press('Space');
      await until(async () => (await page.locator('.vbody .vrow').count()) < before, 'Space does not press the button');
      await page.keyboard.press('g');
      await page.keyboard.press('i');
      const slider = page.getByLabel('Depth');
      const depth = Number(await slider.inputValue());
      await slider.focus();
      await page.keyboard.press('ArrowRight');
      await until(() => value(page, 'timeline.depth') === String(depth + 1), 'the slider stands still');
      assert.equal(value(page, 'timeline.from'), null);
    },
    { hash: '#tree' },
  ));

test('menus with marks say what is so now', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      await page.locator('.vbody .vrow').first().waitFor();
      await page.getByRole('button', { name: 'More', exact: true }).click();
      const style = page.getByRole('menuitemcheckbox', { name: 'Cube style' });
      for (const isOn of ['true', 'false']) {
        await style.click();
        await page.waitForFunction(
          (wanted) =>
            [...document.querySelectorAll('[role=menuitemcheckbox]')]
              .find((e) => e.textContent?.includes('Cube style'))
              ?.getAttribute('aria-checked') === wanted,
          isOn,
        );
      }
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Metrics', exact: true }).click();
      const marks = page.getByRole('menuitemcheckbox');
      for (let i = 0; i < (await marks.count()); i++)
        if ((await marks.nth(i).getAttribute('aria-checked')) === 'true') await marks.nth(i).click();
      // Down to the one of the screen: no further column
      await until(
        async () =>
          (await page.getByRole('columnheader').allTextContents()).filter((head) => /visits|bytes/i.test(head))
            .length === 0,
        'columns cannot be taken away',
      );
      for (const i of [0, 1]) await marks.nth(i).click();
      await until(
        () => (value(page, 'tree.metrics') ?? '').split(' ').length === 2,
        'two metrics are not kept together',
      );
    },
    { hash: '#tree' },
  ));

test('Flame: keys go where they point, over boxes that stand for more', (t) => {
  const lines = ['a', 'b'].flatMap((top) => [
    `main;${top};${top}1 5000\n`,
    ...numbers(3000).map((i) => `main;${top};${top}x${i} 1\n`),
  ]);
  return view(
    t,
    [written('small.folded', lines.join(''))],
    async ({ page }) => {
      const said = () =>
        page.locator('.flame-box canvas').evaluate((canvas) => canvas.closest('.fill')?.textContent ?? '');
      await page.locator('.flame-box canvas').focus();
      const at = async (name: string) =>
        until(async () => (await said()).includes(`${name}: `), `not at ${name}: ${await said()}`);
      await page.keyboard.press('ArrowDown');
      for (let i = 0; i < 4 && !(await said()).includes('a1: '); i++) await page.keyboard.press('ArrowDown');
      await at('a1');
      await page.keyboard.press('ArrowRight');
      await at('… 3,000 more');
      await page.keyboard.press('ArrowLeft');
      await at('a1');
      for (const name of ['a', 'main', 'all']) {
        await page.keyboard.press('ArrowUp');
        await at(name);
      }
    },
    { hash: '#flame' },
  );
});

test('the tree of locations has all of them, keeps what is chosen, and is in the address', (t) => {
  const profiles = numbers(600).map((i) => ({
    type: 'sampled',
    name: `thread ${i}`,
    unit: 'seconds',
    startValue: 0,
    endValue: 1,
    samples: [[0]],
    weights: [1],
  }));
  return view(
    t,
    [
      written(
        'threads.speedscope.json',
        JSON.stringify({
          $schema: 'https://www.speedscope.app/file-format-schema.json',
          shared: { frames: [{ name: 'main' }] },
          profiles,
        }),
      ),
      example('heat.cubex'),
    ],
    async ({ page }) => {
      const grid = page.getByRole('treegrid', { name: 'Locations' });
      await grid.focus();
      await until(async () => (await grid.getAttribute('aria-rowcount')) === '601', 'not all locations are there');
      await page.keyboard.press('End');
      await until(async () => (await selectedName(page)) === 'thread 599', 'the last one cannot be chosen');
      await page.evaluate(() => void (location.hash = '#locations?d=1&locations.tab=tree'));
      await page.getByText('MPI Rank 1').waitFor();
      await page.getByText('MPI Rank 1').click();
      await page.locator('.vrow', { hasText: 'MPI Rank 0' }).locator('.twist').click();
      await page.waitForURL(/system\.(shut|open)=/);
      await until(async () => (await selectedName(page)) === 'MPI Rank 1', 'another one is chosen');
      const rows = await page.locator('.vbody .vrow').count();
      await page.reload();
      await until(
        async () =>
          (await page.locator('.vbody .vrow').count()) === rows && (await selectedName(page)) === 'MPI Rank 1',
        'the address does not say what is open and chosen',
      );
    },
    { hash: '#locations?locations.tab=tree' },
  );
});

test('in a small window the tab that is open, the time line and what a drag does are in sight', (t) =>
  view(
    t,
    [example('heat-hpctoolkit'), example('heat.cubex')],
    async ({ page }) => {
      await page.locator('.tl-canvas').waitFor();
      const widthOf = async (what: string) => (await page.locator(what).boundingBox())!.width;
      assert.ok((await widthOf('.tl-side')) < 250);
      await page.evaluate(() => void (location.hash = '#locations'));
      const right = async (what: string) => {
        const box = (await page.locator(what).boundingBox())!;
        return box.x + box.width;
      };
      await page.locator('.heat-legend [role=status]', { hasText: 'Esc takes it back.' }).waitFor();
      assert.ok((await right('.heat-legend [role=status]')) <= (await right('.heat-main')), 'the hint is on the plots');
      await page.keyboard.press('g');
      await page.keyboard.press('q');
      await page.locator('.sql-table').first().waitFor();
      const tabs = (await page.getByRole('tablist').boundingBox())!;
      const tab = (await page.getByRole('tab', { name: 'SQL' }).boundingBox())!;
      assert.ok(tab.x >= tabs.x && tab.x + tab.width <= tabs.x + tabs.width + 1, 'the tab is out of sight');
    },
    { hash: '#timeline', viewport: { width: 700, height: 600 } },
  ));

test('Overview: why there are no functions, where none has a value of its own', (t) =>
  view(t, [example('heat.cubex')], async ({ page }) => {
    await page.getByRole('heading', { name: 'Functions' }).waitFor();
    await page.route('**/api/findings*', async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      for (const of of answer.functions.exclusive) of.fill(null);
      await route.fulfill({ response, json: answer });
    });
    await page.reload();
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Functions' }) });
    await card.getByText('None has a value of its own: what has are call paths of other kinds').waitFor();
    assert.equal(await card.getByRole('button').count(), 0);
  }));

test('Overview: numbers of one metric are never shown in the unit of another', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      await page.getByRole('heading', { name: 'Functions' }).waitFor();
      const go = await held(page, 'findings');
      await page.getByRole('button', { name: /^Bytes sent/ }).click();
      await page.waitForURL(/m=/);
      await page
        .locator('.card', { hasText: 'Hot path' })
        .getByText(/B$|kB|MB|GB/)
        .first()
        .waitFor();
      assert.equal(await page.getByRole('heading', { name: 'Functions' }).count(), 0);
      go();
      await page.getByRole('heading', { name: 'Functions' }).waitFor();
    },
    { hash: '#overview' },
  ));

test('another dataset: what was chosen of this one is not of that one', (t) =>
  view(
    t,
    [example('heat.cubex'), example('heat-2.cubex')],
    async ({ page }) => {
      await page.locator('.flame-box canvas').waitFor();
      await page
        .getByRole('button', { name: /heat-2/ })
        .first()
        .click();
      await page.waitForURL(/d=1/);
      for (const key of ['flame.root', 'tree.metrics', 'timeline.row', 'scale.pins'])
        assert.equal(value(page, key), null, key);
    },
    { hash: '#flame?flame.root=5&tree.metrics=3&timeline.row=2&scale.pins=1' },
  ));

test('the palette leads to the search', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      await page.locator('.vbody .vrow').first().waitFor();
      await page.keyboard.press('Control+k');
      await page.locator('dialog input:focus').waitFor();
      await page.keyboard.type('search');
      await page.keyboard.press('Enter');
      await page.locator('dialog').waitFor({ state: 'detached' });
      await until(
        () =>
          page.evaluate(
            () => document.activeElement?.matches('input[type=search], [role=searchbox], .search input') ?? false,
          ),
        'the field has no focus',
      );
      await page.keyboard.type('stencil');
      await page.waitForURL(/q=stencil/);
    },
    { hash: '#tree' },
  ));

test('Compare: a row leads to the tree of its own input, and what is open is in the address', (t) =>
  view(
    t,
    [example('heat.cubex'), example('heat-2.cubex'), example('kernels.txt')],
    async ({ page }) => {
      await page.locator('.vbody .vrow').getByText('exchange_halo').waitFor();
      const rows = await page.locator('.vbody .vrow').count();
      await page.locator('.vrow', { hasText: 'exchange_halo' }).locator('.twist').click();
      await page.waitForURL(/compare\.open=/);
      await until(async () => (await page.locator('.vbody .vrow').count()) > rows, 'it does not open');
      const all = await page.locator('.vbody .vrow').allTextContents();
      await page.reload();
      await until(
        async () => JSON.stringify(await page.locator('.vbody .vrow').allTextContents()) === JSON.stringify(all),
        'other rows after a reload',
      );
      // Only B has checkpoint; the input that is looked at is neither
      await page.locator('.vrow', { hasText: 'checkpoint' }).first().click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Show in the tree of heat-2.cubex' }).click();
      await until(() => page.url().includes('#tree?') && value(page, 'd') === '1', 'not the tree of B');
      await until(async () => (await selectedName(page)) === 'checkpoint', 'another function is shown');
    },
    { hash: '#compare?d=2&compare.a=0&compare.b=1' },
  ));

test('Compare: the copied command of a formula has the formula', (t) =>
  view(
    t,
    ['--derive', 'twice=time*2', example('heat.cubex'), example('heat-2.cubex')],
    async ({ page }) => {
      await page.locator('.vbody .vrow').first().waitFor();
      await page.keyboard.press('y');
      await page.getByText('Command copied').waitFor();
      assert.match(
        await page.evaluate(() => navigator.clipboard.readText()),
        /^assay diff .*--metric twice .*--derive '?twice=time\*2'?|^assay diff .*--derive '?twice=time\*2'? .*--metric twice/,
      );
    },
    { hash: '#compare?m=twice&derive=twice%3Dtime*2' },
  ));

test('who takes part in statistics is said: 8 threads, and a stream that has no such time', (t) =>
  view(
    t,
    [example('heat-hpctoolkit')],
    async ({ page }) => {
      await page.locator('.vbody .vrow').getByText('stencil').first().click();
      await page.getByRole('heading', { name: 'Over 8 of 9 locations' }).waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('l');
      await page.locator('dl.stats').getByText('8 of 9').waitFor();
    },
    { hash: '#tree' },
  ));

test('arrows move through whatever a screen shows as soon as it is there', (t) =>
  view(t, [example('kernels.txt'), example('heat.cubex')], async ({ page }) => {
    await page.getByRole('heading', { name: 'Totals' }).waitFor();
    await page.evaluate(() => void (location.hash = '#scale'));
    await page.locator('.vrow.selected').waitFor();
    const first = await selectedName(page);
    await page.keyboard.press('ArrowDown');
    await until(async () => (await selectedName(page)) !== first, 'the next model is selected');
    await page.evaluate(() => void (location.hash = '#locations?d=1'));
    await page.locator('.heat-box canvas').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/loc=/);
  }));

test('SQL offers no run: statements have them all', (t) =>
  view(
    t,
    [example('kernels.txt')],
    async ({ page }) => {
      const choices = () => page.locator('.filterbar .picker-label').allTextContents();
      await until(async () => (await choices()).join() === 'Metric,Point,Run', 'the tree is of a point and a run');
      await page.evaluate(() => void (location.hash = '#sql'));
      await until(async () => (await choices()).join() === 'Metric', 'SQL is of all');
    },
    { hash: '#tree' },
  ));

test('integers that no number holds are copied to the last digit', (t) =>
  view(
    t,
    [
      written('big.folded', 'main;a 9007199254740993\nmain;b 3\n'),
      written('bigger.folded', 'main;a 9007199254740997\nmain;b 5\n'),
      example('heat.cubex'),
    ],
    async ({ page }) => {
      const copied = async () => {
        await page.getByRole('button', { name: 'Columns and copying' }).click();
        await page.getByText('Copy as CSV').click();
        await page
          .getByText(/^Copied/)
          .last()
          .waitFor();
        return (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
      };
      await page.locator('.vbody .vrow').nth(2).waitFor();
      assert.deepEqual(
        (await copied()).slice(1, 4).map((line) =>
          line
            .split(',')
            .filter((_, i) => i < 3)
            .join(),
        ),
        ['0,main,9007199254740996', '1,a,9007199254740993', '1,b,3'],
      );
      await page.evaluate(() => void (location.hash = '#compare'));
      await page.getByRole('treegrid', { name: 'Call paths that changed' }).waitFor();
      await page.locator('.vbody .vrow').nth(2).waitFor();
      assert.deepEqual(
        (await copied()).slice(1, 4).map((line) =>
          line
            .split(',')
            .filter((_, i) => i < 5)
            .join(),
        ),
        ['0,main,9007199254740996,9007199254741002,6', '1,a,9007199254740993,9007199254740997,4', '1,b,3,5,2'],
      );
      await page.route('**/api/location_tree?**', async (route) => {
        const answer = (await (await route.fetch()).json()) as Record<string, unknown[]>;
        for (const column of ['value', 'min', 'max']) answer[column]![0] = '9007199254740993';
        await route.fulfill({ json: answer });
      });
      await page.evaluate(() => void (location.hash = '#locations?d=2&locations.tab=tree'));
      await page.getByText('MPI Rank 1').waitFor();
      assert.deepEqual(
        (await copied())[1]!.split(',').filter((cell) => cell.startsWith('9007')),
        Array(3).fill('9007199254740993'),
      );
    },
    { hash: '#tree' },
  ));
