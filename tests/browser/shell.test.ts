// The page around the screens, with canned answers instead of data.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Inputs } from '../../web/src/api';
import { closeBrowser, page } from '../../web/test/harness';
import { mock, type Asked } from '../../web/test/mock';

const HOSTILE = '<img src=x onerror=alert(1)>';

const metric = (id: number, name: string, unit: string, isMain = false) => ({
  id,
  name,
  display_name: name,
  unit,
  dtype: 'FLOAT64',
  kind: 'exclusive',
  is_main: isMain,
  adds_up: true,
});
const nothing = { tree: true, locations: 1, events: false, points: 0, parameters: [], records: 0, models: 0 };
const INPUTS: Inputs = {
  version: '0.1.0',
  inputs: [
    {
      id: 0,
      path: 'runs/lulesh.cubex',
      name: 'lulesh.cubex',
      format: 'cube',
      format_title: 'Cube 4',
      format_version: '4.7',
      problems: 3,
      has: { ...nothing, locations: 64, events: true, points: 3, parameters: ['p'] },
      metrics: [metric(0, 'visits', 'occ'), metric(1, 'time', 's', true), metric(2, HOSTILE, 'bytes')],
      runs: [
        { id: 0, label: 'p=2, repetition 1', point: 0 },
        { id: 1, label: 'p=2, repetition 2', point: 0 },
        { id: 2, label: 'p=4', point: 1 },
      ],
      points: [
        { id: 0, label: 'p=2', coordinates: [2] },
        { id: 1, label: 'p=4', coordinates: [4] },
        { id: 2, label: 'p=8', coordinates: [8] },
      ],
      error: null,
    },
    {
      id: 1,
      path: HOSTILE,
      name: HOSTILE,
      format: 'nsight',
      format_title: HOSTILE,
      problems: 0,
      has: nothing,
      metrics: [metric(0, 'time', 'ns', true)],
      runs: [{ id: 0, label: 'run', point: null }],
      points: [],
      error: null,
    },
    {
      id: 2,
      path: 'broken.extra-p',
      name: 'broken.extra-p',
      error: { message: 'expected a value', file: 'broken.extra-p', line: 12, column: 3, rule: 'json-syntax' },
    },
  ],
  experiment: null,
  reading: [],
};

const OVERVIEW = {
  info: {
    format_version: '4.7',
    bytes: 20480,
    runs: 1,
    points: 0,
    parameters: [],
    regions: 1,
    contexts: 1,
    locations: 64,
    values: 3,
    events: 0,
    records: 0,
    models: 0,
    attributes: 0,
    duration: null,
    problems: [],
  },
  path: HOSTILE,
  title: HOSTILE,
  levels: 1,
  call_paths: 1,
  location_kinds: [{ kind: HOSTILE, n: 64 }],
  problem_counts: { note: 0, warning: 0, error: 0, all: 0 },
  attributes_shown: [],
  next: ['tree'],
};
const NO_ROWS = {
  rows: { node: [], depth: [], name: [], context: [], children: [], flags: [] },
  inclusive: [],
  exclusive: [],
};
const TREE = {
  view: 'top-down',
  by: null,
  sort: 'inclusive',
  run: '',
  location: '',
  items: 0,
  has_scopes: false,
  metrics: [],
  found: null,
  at: null,
  hot: [],
  lists: [{ node: -1, n: 0, offset: 0, rows: 0 }],
  ...NO_ROWS,
};

/** Screens are asked for what they need at first sight: nothing much. */
function answer({ name }: Asked): unknown {
  const canned: Record<string, unknown> = {
    inputs: INPUTS,
    overview: OVERVIEW,
    findings: { no_balance: null, gpus: [] },
    tree: TREE,
  };
  return canned[name.slice(0, name.indexOf('?'))];
}

after(closeBrowser);

test('inputs, tabs and metrics are shown; names are text', async () => {
  await mock(answer, (url) =>
    page(url, async ({ page, shot }) => {
      await page.getByRole('heading', { name: 'lulesh.cubex' }).waitFor();
      assert.deepEqual(await page.getByRole('tab').allTextContents(), [
        'Overview',
        'Tree',
        'Flame',
        'Locations',
        'Time line',
        'Scale',
        'Compare',
        'SQL',
      ]);
      assert.equal(await page.getByRole('button', { name: 'Metric: time' }).count(), 1);
      assert.equal(await page.locator('.rail .badge.warn').textContent(), '3');
      assert.equal(await page.locator('img').count(), 0);
      await shot('shell-light');
      await page.getByRole('button', { name: HOSTILE }).first().click();
      await page.getByRole('heading', { name: HOSTILE }).waitFor();
      await page.waitForURL(/#\?d=1$/);
      assert.deepEqual(await page.getByRole('tab').allTextContents(), ['Overview', 'Tree', 'Flame', 'Compare', 'SQL']);
      assert.equal(await page.locator('img').count(), 0);
    }),
  );
});

test('at 125 % on a small screen nothing overlaps or leaves the page', async () => {
  await mock(answer, (url) =>
    page(
      url,
      async ({ page, shot }) => {
        await page.getByRole('heading', { name: 'lulesh.cubex' }).waitFor();
        await shot('shell-125');
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
        const boxes = await page
          .locator('.topbar > *:not(.grow):visible')
          .evaluateAll((all) =>
            all.map((e) => e.getBoundingClientRect()).map(({ left, right }) => [left, right] as const),
          );
        for (let i = 1; i < boxes.length; i++)
          assert.ok(boxes[i]![0] >= boxes[i - 1]![1] - 0.5, `part ${i} of the top bar`);
        assert.ok(boxes[boxes.length - 1]![1] <= 1024);
        assert.equal(
          await page.getByRole('tablist').evaluate((tabs) => tabs.scrollWidth > tabs.clientWidth),
          false,
          'all tabs are in sight',
        );
      },
      { viewport: { width: 1024, height: 640 }, deviceScaleFactor: 1.25 },
    ),
  );
});

test('the theme is chosen, remembered, and light on paper', async () => {
  await mock(answer, (url) =>
    page(url, async ({ page }) => {
      const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
      await page.getByRole('button', { name: 'Theme: auto' }).click();
      await page.getByRole('button', { name: 'Theme: light' }).click();
      await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
      assert.equal(await theme(), 'dark');
      await page.reload();
      await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
      assert.equal(await theme(), 'dark');
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      assert.equal(await theme(), 'light');
      await page.evaluate(() => dispatchEvent(new Event('afterprint')));
      assert.equal(await theme(), 'dark');
    }),
  );
});

test('a file that could not be read says why, where it is', async () => {
  await mock(answer, (url) =>
    page(url, async ({ page, shot }) => {
      await page.getByRole('button', { name: /^broken.extra-p/ }).click();
      const alert = page.getByRole('alert');
      assert.match((await alert.textContent()) ?? '', /broken\.extra-p:12:3.*expected a value.*json-syntax/);
      await shot('shell-error');
    }),
  );
});

test('keys lead to screens, choose, undo, and are listed', async () => {
  await mock(answer, (url) =>
    page(url, async ({ page, shot }) => {
      await page.getByRole('heading', { name: 'lulesh.cubex' }).waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('t');
      await page.getByRole('tab', { name: 'Tree', selected: true }).waitFor();
      await page.keyboard.press('m');
      await page.waitForURL(/#tree\?m=%3Cimg/);
      await page.keyboard.press('x');
      await page.waitForURL(/&x=exclusive$/);
      await page.keyboard.press('u');
      await page.waitForURL((u) => !u.hash.includes('exclusive'));
      await page.getByRole('button', { name: 'inclusive', exact: true, pressed: true }).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('solve');
      await page.waitForURL(/q=solve/);
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      assert.ok(await page.getByText('Inclusive or exclusive').isVisible());
      await shot('shell-keys');
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
      // One step takes the search away, whole
      await page.keyboard.press('u');
      await page.waitForURL((u) => !u.hash.includes('q='));
      // A dialog that has just closed takes no key, though it still has the focus
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      await page.evaluate(() => {
        const dialog = document.querySelector('dialog')!;
        dialog.close();
        dialog.querySelector('button')!.dispatchEvent(new KeyboardEvent('keydown', { key: 'U', bubbles: true }));
      });
      await page.waitForURL(/q=solve/);
      await page.locator('dialog').waitFor({ state: 'detached' });
      // Escape closes it at once: a dialog that is asked for in the same moment is there, and stays
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      const left = await page.evaluate(async () => {
        document
          .querySelector('dialog button')!
          .dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
        await Promise.resolve();
        const n = document.querySelectorAll('dialog').length;
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
        return n;
      });
      assert.equal(left, 0);
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    }),
  );
});

test('a table that comes while somebody types does not take the letters', async () => {
  let arrive = () => {};
  const held = new Promise<void>((resolve) => (arrive = resolve));
  await mock(
    async (asked) => (asked.name.startsWith('tree?') && (await held), answer(asked)),
    (url) =>
      page(`${url}#tree`, async ({ page }) => {
        const field = page.getByRole('searchbox', { name: 'Search names' });
        await page.getByRole('tab', { name: 'Tree', selected: true }).waitFor();
        await page.keyboard.press('/');
        await page.keyboard.type('so');
        arrive();
        await page.locator('.vtable').waitFor();
        await page.keyboard.type('lve');
        await page.waitForURL(/q=solve$/);
        assert.ok(await field.evaluate((e) => e === document.activeElement));
      }),
  );
});

test('the palette finds screens and metrics, in the dark', async () => {
  await mock(answer, (url) =>
    page(
      url,
      async ({ page, shot }) => {
        await page.getByRole('heading', { name: 'lulesh.cubex' }).waitFor();
        await page.keyboard.press('Control+k');
        await page.getByRole('combobox').waitFor();
        await shot('shell-palette-dark');
        await page.keyboard.type('visits');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Metric: visits' }).waitFor();
        await page.keyboard.press('Control+k');
        await page.getByRole('combobox').waitFor();
        await page.keyboard.type('tree');
        await page.keyboard.press('Enter');
        await page.getByRole('tab', { name: 'Tree', selected: true }).waitFor();
      },
      { colorScheme: 'dark' },
    ),
  );
});

test('the command and the link are copied', async () => {
  await mock(answer, (url) =>
    page(
      url,
      async ({ page }) => {
        await page.getByRole('heading', { name: 'lulesh.cubex' }).waitFor();
        await page.getByRole('button', { name: 'Copy as command' }).click();
        await page.getByText('Command copied').waitFor();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'assay info runs/lulesh.cubex');
        await page.getByRole('button', { name: 'Copy link' }).click();
        await page.getByText('Link copied').waitFor();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
      },
      { hash: '#overview?m=visits' },
    ),
  );
});

test('files are sent and opened; what the server says against them is shown', async () => {
  const asked: Asked[] = [];
  const taking = (request: Asked): unknown => {
    if (request.method !== 'POST') return answer(request);
    asked.push(request);
    if (request.name.includes('too-large'))
      return { status: 422, body: { error: 'too large: at most 1 GB', file: 'too-large.db' } };
    return {};
  };
  await mock(taking, (url) =>
    page(url, async ({ page, complaints }) => {
      await page.getByRole('heading', { name: 'lulesh.cubex' }).waitFor();
      const field = page.getByLabel('Add files', { exact: true });
      await field.setInputFiles([
        { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('one') },
        { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('two') },
      ]);
      await page.getByText('Opening 2 files').waitFor();
      for (let i = 0; i < 100 && asked.length < 3; i++) await page.waitForTimeout(20);
      const drop = /drop=([0-9a-f]{16})/.exec(asked[0]?.name ?? '')?.[1];
      assert.deepEqual(asked, [
        { method: 'POST', name: `drop?drop=${drop}&name=a.txt`, body: 'one' },
        { method: 'POST', name: `drop?drop=${drop}&name=b.txt`, body: 'two' },
        { method: 'POST', name: `open?drop=${drop}`, body: '' },
      ]);
      await field.setInputFiles([{ name: 'too-large.db', mimeType: 'text/plain', buffer: Buffer.from('x') }]);
      await page.getByText('too-large.db: too large: at most 1 GB').waitFor();
      // The browser itself reports the status; nothing else may be there
      assert.deepEqual(
        complaints.splice(0).filter((c) => !c.includes('422')),
        [],
      );
    }),
  );
});
