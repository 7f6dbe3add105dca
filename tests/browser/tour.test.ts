// A walk through every screen of every example, by clicks and by keys, as a newcomer would take it: nothing may complain, fail, or stay empty.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, settling, source, view, type Opened, type PageOptions } from '../../web/test/harness';

const example = (name: string) => join(source, 'examples', name);
const folder = mkdtempSync(join(tmpdir(), 'assay-tour-'));

after(async () => {
  rmSync(folder, { recursive: true });
  await closeBrowser();
});

/** The example in another format. */
function converted(from: string, to: string): string {
  const made = spawnSync(process.env['ASSAY'] ?? 'assay', ['convert', '-q', example(from), join(folder, to)], { encoding: 'utf-8' });
  assert.equal(made.status, 0, made.stderr);
  return join(folder, to);
}

const PROFILE = ['Overview', 'Tree', 'Flame', 'Locations'];
const EXAMPLES: [name: string, inputs: () => string[], tabs: string[]][] = [
  ['cube', () => [example('heat.cubex')], [...PROFILE, 'SQL']],
  ['cube-two', () => [example('heat.cubex'), example('heat-2.cubex')], [...PROFILE, 'Compare', 'SQL']],
  ['hpctoolkit', () => [example('heat-hpctoolkit')], [...PROFILE, 'Time line', 'SQL']],
  ['extrap', () => [example('kernels.txt')], [...PROFILE, 'Scale', 'Compare', 'SQL']],
  ['perun', () => [example('sort-1.perf'), example('sort-2.perf')], ['Overview', 'Tree', 'Flame', 'Scale', 'Compare', 'SQL']],
  ['afperf', () => [example('simulation.afperf')], [...PROFILE, 'Time line', 'Compare', 'SQL']],
  ['nsight', () => [example('gpu/filter.sqlite')], [...PROFILE, 'Time line', 'SQL']],
  ['nsight-set', () => [example('gpu/bodies')], [...PROFILE, 'Scale', 'Compare', 'SQL']],
  ['extra-prof-set', () => [example('waves-extra-prof')], [...PROFILE, 'Scale', 'Compare', 'SQL']],
  ['pprof', () => [converted('heat.cubex', 'heat.pb.gz')], ['Overview', 'Tree', 'Flame', 'SQL']],
  ['folded', () => [converted('heat.cubex', 'heat.folded')], ['Overview', 'Tree', 'Flame', 'SQL']],
  ['speedscope', () => [converted('heat-hpctoolkit', 'heat.speedscope.json')], [...PROFILE, 'Time line', 'SQL']],
];

const DARK: PageOptions = { colorScheme: 'dark', viewport: { width: 1280, height: 720 } };
const LAPTOP: PageOptions = { viewport: { width: 1024, height: 576 }, deviceScaleFactor: 1.25 };

/** What a screen must not have: a message of failure, less than a few words, or more than the window is wide. */
async function looksWell({ page, complaints }: Opened, settled: () => Promise<void>, what: string): Promise<void> {
  await settled();
  assert.deepEqual(await page.getByRole('alert').allTextContents(), [], `${what}: a failure is shown`);
  assert.ok(((await page.locator('#screen').textContent()) ?? '').trim().length > 20, `${what}: nothing is shown`);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${what}: wider than the window`);
  // A metric that a screen cannot draw is answered with 400, which the browser mentions; the screen says so without alarm
  for (let i = complaints.length - 1; i >= 0; i--) if (/status of 4\d\d/.test(complaints[i]!)) complaints.splice(i, 1);
  assert.deepEqual(complaints, [], what);
}

for (const [name, inputs, tabs] of EXAMPLES) {
  test(`${name}: every tab, by clicks`, (t) =>
    view(t, inputs(), async (opened) => {
      const { page, shot } = opened;
      const settled = settling(opened);
      await page.getByRole('tab', { name: 'Overview' }).waitFor();
      assert.deepEqual(await page.getByRole('tab').allTextContents(), tabs);
      for (const tab of tabs) {
        await page.getByRole('tab', { name: tab }).click();
        await page.getByRole('tab', { name: tab, selected: true }).waitFor();
        await looksWell(opened, settled, `${name}, ${tab}`);
        if (tab === 'SQL') {
          // The statement that is there to begin with finds something
          await page.getByRole('button', { name: /^Run(?!:)/ }).click();
          await page.getByText(/^[1-9]\d* rows?, /).waitFor();
        }
        await shot(`tour-${name}-${tab.toLowerCase().replace(' ', '')}`);
      }
    }));

  test(`${name}: every tab, by keys, dark`, (t) =>
    view(t, inputs(), async (opened) => {
      const { page, shot } = opened;
      const settled = settling(opened);
      await page.getByRole('tab', { name: 'Overview' }).waitFor();
      const letter: Record<string, string> = { Overview: 'o', Tree: 't', Flame: 'f', Locations: 'l', 'Time line': 'i', Scale: 's', Compare: 'c', SQL: 'q' };
      for (const tab of tabs) {
        await page.keyboard.press('g');
        await page.keyboard.press(letter[tab]!);
        await page.getByRole('tab', { name: tab, selected: true }).waitFor();
        await looksWell(opened, settled, `${name}, ${tab}`);
        for (const key of ['m', 'x', 'ArrowDown', 'ArrowRight', 'Escape']) await page.keyboard.press(key);
        await looksWell(opened, settled, `${name}, ${tab}, after some keys`);
        await shot(`tour-${name}-${tab.toLowerCase().replace(' ', '')}-dark`);
      }
    }, DARK));
}

test('at 125 % on a laptop no screen is wider than the window', (t) =>
  view(t, [example('heat-hpctoolkit'), example('heat.cubex'), example('kernels.txt')], async (opened) => {
    const { page, shot } = opened;
    const settled = settling(opened);
    for (const d of [0, 1, 2]) {
      await page.goto(`${opened.url}#overview?d=${d}`);
      await page.getByRole('heading', { name: ['heat-hpctoolkit', 'heat.cubex', 'kernels.txt'][d]! }).waitFor();
      for (const tab of await page.getByRole('tab').allTextContents()) {
        await page.getByRole('tab', { name: tab }).click();
        await looksWell(opened, settled, `input ${d}, ${tab}`);
        await shot(`tour-125-${d}-${tab.toLowerCase().replace(' ', '')}`);
      }
    }
  }, LAPTOP));
