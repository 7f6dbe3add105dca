// What "copy as command" copies is run: it ends well, and prints what the screen shows.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, example, printed, view, words, type Page } from '../../web/test/harness';

const assay = process.env['ASSAY'] ?? 'assay';
const folder = mkdtempSync(join(tmpdir(), 'assay-command-'));
const FORMATS: Record<string, () => string | string[]> = {
  cube: () => example('heat.cubex'),
  hpctoolkit: () => example('heat-hpctoolkit'),
  nsight: () => example('gpu/filter.sqlite'),
  extrap: () => example('kernels.txt'),
  afperf: () => example('simulation.afperf'),
  perun: () => example('sort-1.perf'),
  'extra-prof': () => example('waves-extra-prof'),
  folded: () => converted('heat.folded'),
  speedscope: () => converted('heat.speedscope.json'),
  pprof: () => converted('heat.pb.gz'),
  'points of a set': () => points('256', '384', '512', '768', '1024'),
};

function converted(name: string): string {
  const path = join(folder, name);
  execFileSync(assay, ['convert', example('heat.cubex'), '-o', path, '--quiet']);
  return path;
}

/** Folders of some points of a set that has more. */
function points(...sizes: string[]): string[] {
  const path = join(folder, 'set');
  execFileSync(assay, ['convert', '--to', 'cube-set', example('kernels.txt'), path, '--quiet']);
  return readdirSync(path)
    .filter((name) => sizes.some((size) => name.includes(`n${size}.`)))
    .map((name) => join(path, name));
}

after(closeBrowser);

/** Numbers that are more than a digit, without marks of thousands. */
const numbers = (text: string): string[] => [
  ...new Set(
    text
      .replace(/(\d),(?=\d{3})/g, '$1')
      .match(/\d+(\.\d+)?(e[-+]?\d+)?/g)
      ?.filter((n) => n.replace('.', '').length > 1) ?? [],
  ),
];

/** Whether a number of the screen is that of the output, which may have more digits, and another unit (s, ms). */
function isSame(onScreen: string, printed: string): boolean {
  const digits = onScreen.replace(/^0?\.?0*|\./g, '').length;
  const scale = Math.round(Math.log10(Number(onScreen) / Number(printed)) / 3);
  return (
    Number.isFinite(scale) &&
    Number((Number(printed) * 1000 ** scale).toPrecision(Math.max(1, digits))) === Number(onScreen)
  );
}

/** Folded stacks have no total: it is the width of the picture. */
const total = (stacks: string): string =>
  String(stacks.split('\n').reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0));

async function copied(page: Page): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.getByRole('button', { name: 'Copy as command' }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== '');
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Waits until nothing is waited for, and gives all that can be read on the screen. */
async function shown(page: Page): Promise<string> {
  await page.locator('main').waitFor();
  await page.waitForFunction(
    () =>
      !document.querySelector('main .waiting, main .old, main [aria-busy="true"]') &&
      /\d/.test(document.querySelector('main')?.textContent ?? ''),
  );
  await page.waitForTimeout(300);
  return page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .flatMap((e) => [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent))
      .join(' '),
  );
}

for (const [format, path] of Object.entries(FORMATS)) {
  test(`the commands of all screens: ${format}`, async (t) => {
    await view(t, [path()].flat(), async ({ page }) => {
      await page.getByRole('heading', { name: 'Functions' }).waitFor();
      const screens = await page.getByRole('tab').allTextContents();
      assert.ok(screens.length >= 4, screens.join());
      for (const screen of screens) {
        await t.test(screen, async () => {
          await page.getByRole('tab', { name: screen, exact: true }).click();
          await page.getByRole('tab', { name: screen, exact: true, selected: true }).waitFor();
          if (screen === 'SQL') {
            await page.getByLabel('Statement').fill('select count(*) + 1000 as n from context');
            await page.keyboard.press('Control+Enter');
            await page.getByText('1 row').waitFor();
          }
          const onScreen = numbers(await shown(page));
          const command = await copied(page);
          assert.equal(
            command.includes(" -O 'points=") || command.includes(' -O points='),
            format === 'points of a set',
            command,
          );
          const output = printed(command);
          const inOutput = numbers(screen === 'Flame' ? total(output) : output);
          // Of the overview counts are the same, which may be small
          const least = screen === 'Overview' ? 2 : 3;
          assert.ok(
            onScreen.some((n) => n.length >= least && inOutput.some((m) => isSame(n, m))),
            `${command}\non the screen: ${onScreen.slice(0, 40).join(' ')}\nprinted: ${inOutput.slice(0, 40).join(' ')}`,
          );
        });
      }
    });
  });
}

test('the commands of Compare: trees, functions, pictures', async (t) => {
  await view(
    t,
    [example('heat.cubex'), example('heat-2.cubex')],
    async ({ page }) => {
      for (const tab of ['Tree', 'Functions', 'Flame', 'Scatter']) {
        await page.getByRole('button', { name: tab, exact: true }).click();
        await page.locator(`[aria-pressed="true"]:text-is("${tab}")`).waitFor();
        const onScreen = numbers(await shown(page));
        const output = printed(await copied(page));
        // 13.49 s become 15.66 s; folded stacks have both amounts, that of B behind that of A
        const inOutput = numbers(tab === 'Flame' ? total(output) : output);
        assert.ok(
          onScreen.includes('15.66') && inOutput.some((m) => isSame('15.66', m)),
          `${tab}: ${inOutput.slice(0, 40).join(' ')}`,
        );
      }
    },
    { hash: '#compare' },
  );
});

test('the commands of Compare have the metrics of two names', async (t) => {
  await view(
    t,
    [example('heat.cubex'), example('heat-hpctoolkit')],
    async ({ page }) => {
      // 13.49 s of the first; the second's GPUOP is another time than its main CPUTIME
      for (const [metric, least] of [
        ['', ''],
        ['GPUOP (sec)', '--metric-b'],
      ] as const) {
        if (metric) {
          await page.getByRole('button', { name: 'More' }).click();
          await page.getByText(`B: ${metric}`).click();
          await page.getByText(`time / ${metric}`).waitFor();
        }
        for (const tab of ['Tree', 'Functions', 'Flame', 'Scatter']) {
          await page.getByRole('button', { name: tab, exact: true }).click();
          await page.locator(`[aria-pressed="true"]:text-is("${tab}")`).waitFor();
          await shown(page);
          const [from, to] = (
            (await page.locator('.compare-summary > span[title*="→"]').getAttribute('title')) ?? ''
          ).split(' → ');
          const command = await copied(page);
          assert.ok(command.includes(least), command);
          const output = printed(command);
          if (tab === 'Flame') {
            const sums = [1, 0].map((back) =>
              output
                .trimEnd()
                .split('\n')
                .reduce((sum, line) => sum + Number(line.split(' ').at(-1 - back)), 0),
            );
            assert.deepEqual(
              sums.map((n) => n.toPrecision(6)),
              [from, to].map((n) => Number(n).toPrecision(6)),
              command,
            );
          } else {
            const head = numbers(output.split('\n')[0]!);
            for (const n of [from, to])
              assert.ok(
                head.some((m) => isSame(m, n!)),
                `${command}: ${n} is not among ${head.join(' ')}`,
              );
          }
        }
      }
    },
    { hash: '#compare' },
  );
});

test('the command of verdicts gives those of the page', async (t) => {
  await view(
    t,
    [example('kernels.txt')],
    async ({ page }) => {
      await page.getByRole('columnheader', { name: 'Verdict' }).waitFor();
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByText('Copy as command: compare').click();
      const command = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(command, / --metric time --inclusive --run-a n=128 --run-b n=1024$/);
      assert.match(printed(command.replace(/$/, ' || [ $? = 1 ]')), /degradation +main\n/);
      assert.match((await page.locator('.vbody .vrow').first().textContent()) ?? '', /^main.*degradation$/);
    },
    { hash: '#compare' },
  );
});

test('a screen without anything to show has no command: the last one was of another input', (t) =>
  view(
    t,
    [example('kernels.txt'), example('heat.cubex')],
    async ({ page }) => {
      await page.locator('.vbody .vrow').first().waitFor();
      const [, , ...args] = words(await copied(page));
      assert.deepEqual(args.slice(0, 3), [example('kernels.txt'), '--at', 'n=4096']);
      await page.evaluate(() => void (location.hash = '#scale?d=1'));
      await page.getByText('has nothing that').waitFor();
      assert.ok(await page.getByRole('button', { name: 'Copy as command' }).isDisabled());
      await page.evaluate(() => navigator.clipboard.writeText('before'));
      await page.keyboard.press('y');
      await page.keyboard.press('g');
      await page.keyboard.press('t');
      await page.getByRole('treegrid', { name: 'Call tree' }).waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'before');
      assert.deepEqual(words(await copied(page)), ['assay', 'tree', example('heat.cubex')]);
    },
    { hash: '#scale' },
  ));

test('a part of the time line has the depth of the whole in the command, too', (t) =>
  view(
    t,
    [example('gpu/filter.sqlite')],
    async ({ page }) => {
      await page.getByText('145 intervals').first().waitFor();
      const [, , ...args] = words(await copied(page));
      assert.deepEqual(args.slice(1), ['--depth', '3', '--since', '0.005', '--until', '0.006']);
      const depth = (more: string[]): string =>
        /depth \d+/.exec(
          execFileSync(assay, ['trace', example('gpu/filter.sqlite'), ...more], { encoding: 'utf8' }),
        )?.[0] ?? '';
      assert.equal(depth([]), 'depth 3');
      assert.equal(depth(args.slice(1)), 'depth 3');
    },
    { hash: '#timeline?timeline.from=0.005&timeline.to=0.006' },
  ));

test('models of the file are those of the command, too, and not others that are made', (t) => {
  const path = join(folder, 'stored.extra-p');
  execFileSync(assay, [
    'model',
    example('kernels.txt'),
    '--measure',
    'median',
    '--name',
    "Ada's",
    '-o',
    path,
    '--quiet',
  ]);
  return view(
    t,
    [path],
    async ({ page }) => {
      await page.getByRole('combobox', { name: 'Models' }).selectOption("Ada's (of the file)");
      await page.waitForURL(/scale\.set=0/);
      await page.locator('.vbody .vrow').first().waitFor();
      const stdout = printed(await copied(page));
      const of = (measure: string): string =>
        JSON.parse(
          execFileSync(
            assay,
            [
              'model',
              example('kernels.txt'),
              '--metric',
              'time',
              '--match',
              'matrix->multiply',
              '--measure',
              measure,
              '--json',
            ],
            { encoding: 'utf8' },
          ),
        ).models[0].function;
      assert.ok(stdout.includes(of('median')) && !stdout.includes(of('mean')), stdout);
      assert.equal(stdout.trimEnd().split('\n').length, 11, 'ten call paths of one metric');
    },
    { hash: '#scale' },
  );
});
