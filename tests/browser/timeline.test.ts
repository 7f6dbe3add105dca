// The time line of each format that has one: samples, nested regions, sections, kernels and calls; zooming, choosing,
// call paths, reports.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { closeBrowser, example, page as open, view, words, type Page } from '../../web/test/harness';

const canvas = (page: Page) => page.getByRole('img', { name: /^Time lines of/ });
const legend = (page: Page) => page.getByRole('region', { name: 'Procedures' });
const details = (page: Page) => page.getByRole('region', { name: 'What was clicked' });
const windowText = (page: Page) => page.locator('.tl-window').innerText();
const value = (page: Page, key: string) => new URLSearchParams(page.url().split('?')[1] ?? '').get(key);

/** The middle of a row, at a part of the width. */
async function placeIn(page: Page, row: string, part: number): Promise<{ x: number; y: number }> {
  const label = await page.getByRole('button', { name: row, exact: true }).first().boundingBox();
  const box = await canvas(page).boundingBox();
  assert.ok(label && box);
  return { x: box.x + part * box.width, y: label.y + label.height / 2 };
}

async function settled(page: Page, what: (text: string) => boolean): Promise<void> {
  for (let i = 0; i < 100 && !what(page.url()); i++) await page.waitForTimeout(50);
  assert.ok(what(page.url()), page.url());
}

after(closeBrowser);

test('an HPCToolkit database: zoom, pan, fit, depth', (t) =>
  view(
    t,
    [example('heat-hpctoolkit')],
    async ({ page, shot }) => {
      await legend(page).getByText('stencil').waitFor();
      await page.waitForTimeout(200);
      await shot('timeline-hpctoolkit');
      assert.match(await windowText(page), /1\.313 s$/);
      const { x, y } = await placeIn(page, 'thread 1', 0.5);
      await page.mouse.move(x, y);
      await page.keyboard.down('Control');
      for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -200);
      await page.keyboard.up('Control');
      // Four turns by 200 are e^-3.2 of 1.313 s: 53.5 ms
      await settled(
        page,
        () =>
          value(page, 'timeline.from') !== null &&
          Math.abs(Number(value(page, 'timeline.to')) - Number(value(page, 'timeline.from')) - 0.0535) < 0.001,
      );
      const [from, to] = ['timeline.from', 'timeline.to'].map((key) => Number(value(page, key))) as [number, number];
      // What was in the middle stays there
      assert.ok(Math.abs((from + to) / 2 - 0.6585) < 0.002, `${(from + to) / 2}`);
      await page.keyboard.press('d');
      await settled(page, () => Number(value(page, 'timeline.from')) > from);
      assert.ok(Math.abs(Number(value(page, 'timeline.from')) - from - (to - from) / 4) < 1e-9);
      await page.goBack();
      await settled(page, () => Number(value(page, 'timeline.from')) === from);
      await shot('timeline-zoomed');
      await page.keyboard.press('f');
      await settled(page, () => value(page, 'timeline.from') === null);
      await page.keyboard.press(']');
      await legend(page).getByText('MPI_Allreduce').waitFor();
      assert.equal(await page.getByLabel('Depth').inputValue(), '4');
      await page.keyboard.press('y');
      await page.getByText('Command copied').waitFor();
      assert.deepEqual(words(String(await page.evaluate('navigator.clipboard.readText()'))), [
        'assay',
        'trace',
        example('heat-hpctoolkit'),
        '--depth',
        '4',
      ]);
    },
    { hash: '#timeline' },
  ));

test('a click chooses the context, here and on the other screens', (t) =>
  view(
    t,
    [example('heat-hpctoolkit')],
    async ({ page, shot }) => {
      await legend(page).getByText('stencil').waitFor();
      const { x, y } = await placeIn(page, 'thread 1', 0.2);
      await page.mouse.move(x, y);
      await page.locator('.tooltip').getByText('sampled').waitFor();
      await shot('timeline-tooltip');
      await page.mouse.click(x, y);
      await details(page).getByText('Call path').waitFor();
      await settled(page, () => value(page, 'sel') !== null);
      assert.ok((await details(page).getByRole('listitem').allTextContents()).includes('stencil'));
      await page.keyboard.press('e');
      await page.waitForTimeout(400);
      await shot('timeline-call-paths');
      assert.equal(value(page, 'timeline.open'), '1');
      await page.keyboard.press('Escape');
      await details(page).waitFor({ state: 'detached' });
    },
    { hash: '#timeline' },
  ));

test('an export of Nsight Systems: threads, ranges, streams', (t) =>
  view(
    t,
    [example('gpu/filter.sqlite')],
    async ({ page, shot }) => {
      await legend(page).getByText('GPU blur_columns').waitFor();
      await page.waitForTimeout(200);
      await shot('timeline-nsight');
      // Kernels have their own facts
      const { x, y } = await placeIn(page, 'stream 14', 0.36);
      await page.mouse.click(x, y);
      await details(page).getByText('duration').waitFor();
      // Closing hides the rows of the process but for one
      await page.getByRole('button', { name: /^Close process/ }).click();
      await page.getByRole('button', { name: 'ranges', exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: /^Open process/ }).click();
      await page.getByRole('button', { name: 'ranges', exact: true }).waitFor();
      await page.getByRole('searchbox').fill('blur');
      await legend(page).getByText('cudaMemcpy').waitFor({ state: 'detached' });
      await page.waitForTimeout(200);
      await shot('timeline-search');
    },
    { hash: '#timeline', colorScheme: 'dark' },
  ));

test('an AFPerf capture: runs, sections, pauses, a selection', (t) =>
  view(
    t,
    [example('simulation.afperf')],
    async ({ page, shot }) => {
      await legend(page).getByText('track fusion').waitFor();
      await page.waitForTimeout(200);
      await shot('timeline-afperf');
      const box = await canvas(page).boundingBox();
      assert.ok(box);
      await page.keyboard.down('Shift');
      await page.mouse.move(box.x + box.width * 0.25, box.y + 60);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 5 });
      await page.mouse.up();
      await page.keyboard.up('Shift');
      await legend(page).getByText('In the selection').waitFor();
      // A quarter of 2.674 s
      assert.match(await legend(page).locator('.tl-sums b').innerText(), /^66[789]\.\d ms$/);
      await page.waitForTimeout(300);
      await shot('timeline-selection');
      await page.keyboard.press('z');
      await settled(page, () => value(page, 'timeline.from') !== null && value(page, 'timeline.a') === null);
      await page.getByRole('button', { name: 'Wall clock' }).click();
      await settled(page, () => value(page, 'timeline.wall') === '1');
      await page.waitForTimeout(300);
      await shot('timeline-wallclock');
    },
    { hash: '#timeline' },
  ));

test('to nanoseconds and back, at 125 % of 1280 x 720', (t) =>
  view(
    t,
    [example('gpu/filter.sqlite')],
    async ({ page, shot }) => {
      await legend(page).getByText('GPU blur_columns').waitFor();
      const { x, y } = await placeIn(page, 'thread 48213 (filter)', 0.4);
      await page.mouse.move(x, y);
      for (let i = 0; i < 40; i++) await page.keyboard.press('w');
      await page.waitForTimeout(600);
      assert.match(await windowText(page), /ns$/);
      await shot('timeline-nanoseconds');
      for (let i = 0; i < 45; i++) await page.keyboard.press('s');
      await settled(page, () => value(page, 'timeline.from') === null);
    },
    { hash: '#timeline', viewport: { width: 1024, height: 576 }, deviceScaleFactor: 1.25 },
  ));

test('from one input to another, and to fewer places', (t) =>
  view(
    t,
    [example('simulation.afperf'), example('gpu/filter.sqlite')],
    async ({ page }) => {
      await legend(page).getByText('track fusion').waitFor();
      await page.getByRole('button', { name: /^gpu\/?filter.sqlite|^filter.sqlite/ }).click();
      await legend(page).getByText('GPU blur_columns').waitFor();
      assert.match(await windowText(page), /18\.53 ms$/);
      await page.evaluate("location.hash = '#timeline?d=1&loc=stream'");
      await page.getByRole('button', { name: 'thread 48213 (filter)', exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'stream 13', exact: true }).waitFor();
    },
    { hash: '#timeline?timeline.from=1.5&timeline.to=2&timeline.a=1.6&timeline.b=1.7&timeline.row=7&timeline.at=1.65' },
  ));

test('names from files are text', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-timeline-'));
  const [hostile, script] = ['<img src=x onerror=alert(1)>', '<script>alert(2)</script>'];
  try {
    writeFileSync(
      join(folder, 'x.afperf'),
      `# AFPerf v1     \nRunInfo,100,seconds,1700000000.25,1.0.0,0x1,mission,2.9,\nRegionStart,100,0x1,0x10,${hostile},note=${script}\nRegionStop,110,0x10\nSectionInfo,,0x1,0x20,${script},\nSectionStart,103,0x20,0\nSectionStop,108,0x20,0\n`,
    );
    await view(
      t,
      [join(folder, 'x.afperf')],
      async ({ page }) => {
        await legend(page).getByText(hostile).waitFor();
        await page.getByRole('button', { name: script, exact: true }).waitFor();
        const { x, y } = await placeIn(page, 'regions', 0.3);
        await page.mouse.move(x, y);
        await page.locator('.tooltip').getByText(script).waitFor();
        await page.mouse.click(x, y);
        await details(page).getByText(script).waitFor();
        assert.equal(await page.locator('img, main script').count(), 0);
      },
      { hash: '#timeline' },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('while a picture is on its way the last one is stretched, and only the last window is asked for', async (t) => {
  await view(
    t,
    [example('gpu/filter.sqlite')],
    async ({ page }) => {
      await legend(page).getByText('GPU blur_columns').waitFor();
      const asked: string[] = [];
      let letGo = () => {};
      const held = new Promise<void>((resolve) => (letGo = resolve));
      await page.route('**/api/timeline_picture*', async (route) => {
        asked.push(route.request().url());
        await held;
        await route.continue();
      });
      const picture = () => page.locator('.tl-canvas').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
      const before = await picture();
      for (let i = 0; i < 10; i++) await page.keyboard.press('w');
      await settled(page, () => value(page, 'timeline.from') !== null);
      assert.equal(asked.length, 1, 'one at a time');
      assert.notEqual(await picture(), before, 'it moves before there is an answer');
      letGo();
      await settled(page, () => asked.length === 2);
      await page.waitForTimeout(500);
      assert.equal(asked.length, 2, 'nothing between the first and the last');
      assert.equal(new URL(asked[1]!).searchParams.get('from'), value(page, 'timeline.from'));
    },
    { hash: '#timeline' },
  );
});

/** One row of 60,000 intervals of 40 µs, one each 50 µs; every thousandth of another name. */
function manyIntervals(): string {
  const lines = ['# AFPerf v1     ', 'RunInfo,0,nanoseconds,1639527663.713,1.0.0,0x1,many,2.9.0,'];
  for (let i = 0; i < 60000; i++)
    lines.push(
      `RegionStart,${i * 50000},0x1,0x${(i + 1).toString(16)},${i % 1000 === 500 ? 'rare' : 'usual'},`,
      `RegionStop,${i * 50000 + 40000},0x${(i + 1).toString(16)}`,
    );
  return `${lines.join('\n')}\n`;
}

test('in a report of many intervals: as fine as there is room for, and it says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-timeline-'));
  try {
    const [path, file] = [join(folder, 'many.afperf'), join(folder, 'report.html')];
    writeFileSync(path, manyIntervals());
    const made = spawnSync(process.env['ASSAY'] ?? '', ['report', path, '-o', file], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    // 3 s in 64,000 columns
    assert.match(made.stderr, /what takes less than 4\.7e-05 s in the time line/);
    await open(
      pathToFileURL(file).href,
      async ({ page, shot }) => {
        await legend(page).getByText('usual').waitFor();
        // The whole run does not show the rare ones: 40 µs of 3 ms; sixty-fourfold they are there
        const go = (from: number, to: number) =>
          page.evaluate((hash) => void (location.hash = hash), `#timeline?timeline.from=${from}&timeline.to=${to}`);
        await go(0.01, 0.04);
        await legend(page).getByText('rare').waitFor();
        assert.equal(await page.locator('.tl-detail').count(), 0);
        await shot('timeline-report-parts');
        await go(0.025, 0.0252);
        await page.getByText('This report has detail down to').waitFor();
      },
      { hash: '#timeline' },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('in a report: the whole run, zoomed without a server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-timeline-'));
  try {
    const file = join(folder, 'report.html');
    const made = spawnSync(
      process.env['ASSAY'] ?? '',
      ['report', example('gpu/filter.sqlite'), example('heat-hpctoolkit'), '-o', file],
      { encoding: 'utf8' },
    );
    assert.equal(made.status, 0, made.stderr);
    await open(
      pathToFileURL(file).href,
      async ({ page, shot }) => {
        await legend(page).getByText('GPU blur_columns').waitFor();
        const { x, y } = await placeIn(page, 'stream 14', 0.3);
        await page.mouse.move(x, y);
        await page.locator('.tooltip').getByText('stream 14').waitFor();
        for (let i = 0; i < 3; i++) await page.keyboard.press('w');
        await settled(page, () => value(page, 'timeline.from') !== null);
        await page.mouse.click(x, y);
        await page.waitForTimeout(300);
        await shot('timeline-report');
        // All that happened is inside: to the last microsecond, with what is in the window
        for (let i = 0; i < 14; i++) await page.keyboard.press('w');
        await settled(page, () => Number(value(page, 'timeline.to')) - Number(value(page, 'timeline.from')) < 1e-5);
        await legend(page).getByText('GPU blur_columns').waitFor();
        assert.equal(await page.locator('.tl-detail').count(), 0);
        assert.equal(await page.getByRole('tab', { name: 'SQL' }).count(), 0);
        assert.equal(await page.getByRole('alert').count(), 0);
      },
      { hash: '#timeline' },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
