// Names from files are text on every screen: whatever they look like, nothing runs, no element comes of them, and the
// page keeps its shape.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { closeBrowser, page as openPage, settling, view, type Opened, type PageOptions } from '../../web/test/harness';

const folder = mkdtempSync(join(tmpdir(), 'assay-names-'));

after(async () => {
  rmSync(folder, { recursive: true });
  await closeBrowser();
});

const IMG = '<img src=x onerror="window.ran=1">';
const SCRIPT = '</script><script>window.ran=1</script>';
const NAMES = [
  IMG,
  SCRIPT,
  '<svg onload=window.ran=1>',
  `"'\`&amp;&lt;-->`,
  '\u202Egnp.exe',
  'L'.repeat(10000),
  'a\u0001\u001B[31mb\tc\nd',
  'x\u2028y\u2029z',
  'javascript:window.ran=1',
  ' ',
  '{{window.ran=1}}',
  '__proto__',
  'constructor',
  '',
];

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** All names nested in one another, thrice; each is the name of a function, its file, and of a thread. */
function profile(scale: number): string {
  const events: { type: string; frame: number; at: number }[] = [];
  NAMES.forEach((_, i) => events.push({ type: 'O', frame: i, at: i * scale }));
  NAMES.forEach((_, i) => events.push({ type: 'C', frame: NAMES.length - 1 - i, at: 1000 + (i + 1) * 100 * scale }));
  return JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    name: IMG,
    exporter: SCRIPT,
    shared: { frames: NAMES.map((name) => ({ name, file: name || 'f', line: 7 })) },
    profiles: NAMES.slice(0, 8).map((name) => ({
      type: 'evented',
      name,
      unit: 'milliseconds',
      startValue: 0,
      endValue: 5000,
      events,
    })),
  });
}

function experiment(): string {
  const lines: string[] = [];
  for (const p of [1, 2, 4, 8, 16])
    for (const [i, name] of NAMES.entries())
      for (const metric of [IMG, 'time'])
        lines.push(
          JSON.stringify({
            params: { [SCRIPT]: p },
            metric,
            callpath: name ? `main->${name}` : 'main',
            value: [i + p * p, i + p * p * 1.01],
          }),
        );
  return lines.join('\n') + '\n';
}

/** Nothing ran, nothing came of a name, nothing is wider than the window. */
async function isText({ page }: Opened, what: string): Promise<void> {
  const found = await page.evaluate(() => ({
    ran: (window as unknown as { ran?: number }).ran ?? null,
    made: [
      ...document.querySelectorAll(
        'img, iframe, object, embed, script:not([src], [type]), [onload], [onerror], svg:not([class]), a[href^="javascript:"]',
      ),
    ].map((e) => e.outerHTML.slice(0, 200)),
    wide: document.documentElement.scrollWidth > innerWidth || document.body.scrollHeight > innerHeight + 1,
  }));
  assert.deepEqual(found, { ran: null, made: [], wide: false }, what);
}

/** Goes over the whole screen with the pointer, so that whatever has a tooltip shows it. */
async function hoverAll(opened: Opened, what: string): Promise<void> {
  const { page } = opened;
  const box = (await page.locator('#screen').boundingBox())!;
  for (let row = 1; row < 8; row++) {
    await page.mouse.move(box.x + box.width * (row % 2 ? 0.3 : 0.12), box.y + (box.height * row) / 8);
    await isText(opened, `${what}, pointer in row ${row}`);
  }
}

const WINDOW: PageOptions = { viewport: { width: 1024, height: 576 } };

test('a profile: every screen', (t) =>
  view(
    t,
    [write(`a ${IMG.replaceAll('/', '')}.json`, profile(1)), write(`'"$(touch x)&.json`, profile(2))],
    async (opened) => {
      const { page, shot } = opened;
      const settled = settling(opened);
      await page.getByRole('tab', { name: 'Overview' }).waitFor();
      const tabs = await page.getByRole('tab').allTextContents();
      assert.deepEqual(tabs, ['Overview', 'Tree', 'Flame', 'Locations', 'Time line', 'Compare', 'SQL']);
      for (const tab of tabs) {
        await page.getByRole('tab', { name: tab }).click();
        await settled();
        await hoverAll(opened, tab);
        await shot(`names-${tab.toLowerCase().replace(' ', '')}`);
      }
      // The names are there, as they are
      await page.getByRole('tab', { name: 'Tree' }).click();
      const first = page.getByRole('treegrid').getByText(IMG).first();
      await first.click();
      await page.getByText(SCRIPT).first().waitFor();
      for (const key of ['h', 'd', 'd', '2', '3', '1', 'End', 'y', 'x', 'z', 'f', '?', 'Escape']) {
        await page.keyboard.press(key);
        await isText(opened, `tree, ${key}`);
      }
      await shot('names-tree-panel');
      // A name that is searched for, everywhere
      await page.keyboard.press('/');
      await page.keyboard.type(IMG.slice(0, 12));
      await page.keyboard.press('Enter');
      for (const key of ['o', 't', 'f', 'l', 'i', 'c']) {
        await page.keyboard.press('Escape');
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await settled();
        await isText(opened, `searched, g ${key}`);
      }
      for (const key of ['1', '2', '3', '4']) {
        await page.keyboard.press(key);
        await settled();
        await hoverAll(opened, `compare ${key}`);
        await shot(`names-compare-${key}`);
      }
      await page.keyboard.press('Control+k');
      await page.keyboard.type('<');
      await isText(opened, 'palette');
    },
    WINDOW,
  ));

test('an experiment: metrics, parameters, call paths', (t) =>
  view(
    t,
    [write('<b>experiment.jsonl', experiment())],
    async (opened) => {
      const { page, shot } = opened;
      const settled = settling(opened);
      await page.getByRole('tab', { name: 'Scale' }).click();
      await settled();
      await page.getByText(SCRIPT).first().waitFor();
      for (const key of ['ArrowDown', 'p', 'ArrowDown', 'p', 'v', 'v', 'l', 'w', 'n', 'm', 'y', '?', 'Escape']) {
        await page.keyboard.press(key);
        await settled();
        await isText(opened, `scale, ${key}`);
      }
      await hoverAll(opened, 'scale');
      await shot('names-scale');
      for (const tab of ['Overview', 'Tree', 'Flame', 'Locations']) {
        await page.getByRole('tab', { name: tab }).click();
        await settled();
        await hoverAll(opened, `experiment, ${tab}`);
      }
      await page
        .getByRole('combobox')
        .or(page.getByRole('button', { name: /metric/i }))
        .first()
        .click();
      await isText(opened, 'list of metrics');
      await page.keyboard.press('Escape');
    },
    WINDOW,
  ));

/** Every screen of a report of them, whose page has the data inside, and its sheets of paper. */
async function inReport(paths: string[], tabs: string[], name: string): Promise<void> {
  const file = join(folder, `${name}.html`);
  const made = spawnSync(process.env['ASSAY'] ?? '', ['report', ...paths, '-o', file, '--title', SCRIPT + IMG], {
    encoding: 'utf8',
  });
  assert.equal(made.status, 0, made.stderr);
  await openPage(
    pathToFileURL(file).href,
    async (opened) => {
      const { page, shot } = opened;
      await page.getByRole('heading', { name: IMG }).first().waitFor();
      assert.deepEqual(await page.getByRole('tab').allTextContents(), tabs);
      for (const tab of tabs) {
        await page.getByRole('tab', { name: tab }).click();
        await page.waitForTimeout(200);
        await hoverAll(opened, `report, ${tab}`);
        await page.keyboard.press('m');
        await isText(opened, `report, ${tab}, another metric`);
      }
      await page.getByRole('tab', { name: 'Tree' }).click();
      await page.getByRole('treegrid').getByText(IMG).first().click();
      await isText(opened, 'report, details');
      await page.emulateMedia({ media: 'print' });
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      assert.ok((await page.locator('.paper').getByText(SCRIPT).count()) > 1);
      const found = await page.evaluate(() => ({
        ran: (window as unknown as { ran?: number }).ran ?? null,
        made: document.querySelectorAll('.paper :is(img, iframe, object, script, [onload], [onerror])').length,
        scripts: document.scripts.length,
      }));
      assert.deepEqual(found, { ran: null, made: 0, scripts: 2 });
      await shot(`names-paper-${name}`);
    },
    WINDOW,
  );
}

test('reports of profiles: every screen, and paper', () =>
  inReport(
    [write(`r ${IMG.replaceAll('/', '')}.json`, profile(1)), write(`'"$(touch r)&.json`, profile(2))],
    ['Overview', 'Tree', 'Flame', 'Locations', 'Time line', 'Compare'],
    'profiles',
  ));
test('reports of an experiment: every screen, and paper', () =>
  inReport([write('<b>r.jsonl', experiment())], ['Overview', 'Tree', 'Flame', 'Locations', 'Scale'], 'experiment'));

test('results of SQL, as table and chart', (t) =>
  view(
    t,
    [write('plain.json', profile(1))],
    async (opened) => {
      const { page, shot } = opened;
      const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
      await page.getByRole('tab', { name: 'SQL' }).click();
      const rows = NAMES.map(
        (name, i) => `select ${quoted(name)} as "${IMG.replaceAll('"', '""')}", ${i} as "${SCRIPT}"`,
      ).join(' union all ');
      await page.getByRole('textbox').first().fill(rows);
      await page.keyboard.press('Control+Enter');
      await page.getByText(`${NAMES.length} rows`).first().waitFor();
      await page.getByText(SCRIPT).first().waitFor();
      await hoverAll(opened, 'table');
      await shot('names-sql-table');
      await page
        .getByRole('button', { name: /chart/i })
        .or(page.getByRole('radio', { name: /chart/i }))
        .first()
        .click();
      await hoverAll(opened, 'chart');
      await shot('names-sql-chart');
    },
    WINDOW,
  ));

/** Characters that reorder or hide text, as they are. */
const HARMFUL = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff]/;

test('what would reorder text is an escape on every screen and in tooltips', (t) =>
  view(
    t,
    [write('a\u202Eb.json', profile(1)), write('b\u2066.json', profile(2))],
    async (opened) => {
      const { page } = opened;
      const settled = settling(opened);
      await page.getByRole('tab', { name: 'Overview' }).waitFor();
      for (const tab of await page.getByRole('tab').allTextContents()) {
        await page.getByRole('tab', { name: tab }).click();
        await settled();
        const shown = await page.evaluate(
          () =>
            document.body.innerText +
            document.title +
            [...document.querySelectorAll('[title], [aria-label]')]
              .map((e) => `${e.getAttribute('title')}${e.getAttribute('aria-label')}`)
              .join('\n'),
        );
        assert.doesNotMatch(shown, HARMFUL, tab);
      }
      await page.getByRole('tab', { name: 'Tree' }).click();
      await page.getByRole('treegrid').getByText('\\u202egnp.exe').first().waitFor();
    },
    WINDOW,
  ));

test('escapes are drawn and measured in the place of what would reorder text', (t) =>
  view(
    t,
    [write('c.json', profile(1))],
    async ({ page }) => {
      await page.getByRole('tab', { name: 'Overview' }).waitFor();
      const [hostile, plain, drawn] = await page.evaluate(() => {
        const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
        const inked = (text: string) => {
          context.clearRect(0, 0, 300, 150);
          context.fillText(text, 5, 20);
          return [...context.getImageData(0, 0, 300, 150).data].join();
        };
        return [
          context.measureText('\u202egnp').width,
          context.measureText('\\u202egnp').width,
          inked('\u202egnp') === inked('\\u202egnp'),
        ];
      });
      assert.equal(hostile, plain);
      assert.ok(drawn);
    },
    WINDOW,
  ));
