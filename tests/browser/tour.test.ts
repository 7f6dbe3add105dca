// A walk through every screen of every example, by clicks and by keys, as a newcomer would take it: nothing may
// complain, fail, or stay empty.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, example, settling, view, type Opened, type PageOptions } from '../../web/test/harness';

const folder = mkdtempSync(join(tmpdir(), 'assay-tour-'));

after(async () => {
  rmSync(folder, { recursive: true });
  await closeBrowser();
});

/** The example in another format. */
function converted(from: string, to: string, ...options: string[]): string {
  const made = spawnSync(
    process.env['ASSAY'] ?? 'assay',
    ['convert', '-q', ...options, example(from), join(folder, to)],
    { encoding: 'utf-8' },
  );
  assert.equal(made.status, 0, made.stderr);
  return join(folder, to);
}

/** What the command prints as JSON of the same files. */
function told(...args: string[]): any {
  const made = spawnSync(process.env['ASSAY'] ?? 'assay', [args[0]!, '--json', ...args.slice(1)], {
    encoding: 'utf-8',
    maxBuffer: 1 << 28,
  });
  assert.equal(made.status, 0, made.stderr);
  return JSON.parse(made.stdout);
}

const PROFILE = ['Overview', 'Tree', 'Flame', 'Locations'];
const EXAMPLES: [name: string, inputs: () => string[], tabs: string[]][] = [
  ['cube', () => [example('heat.cubex')], [...PROFILE, 'SQL']],
  ['cube-two', () => [example('heat.cubex'), example('heat-2.cubex')], [...PROFILE, 'Compare', 'SQL']],
  ['hpctoolkit', () => [example('heat-hpctoolkit')], [...PROFILE, 'Time line', 'SQL']],
  ['extrap', () => [example('kernels.txt')], [...PROFILE, 'Scale', 'Compare', 'SQL']],
  [
    'perun',
    () => [example('sort-1.perf'), example('sort-2.perf')],
    ['Overview', 'Tree', 'Flame', 'Scale', 'Compare', 'SQL'],
  ],
  ['afperf', () => [example('simulation.afperf')], [...PROFILE, 'Time line', 'Compare', 'SQL']],
  ['nsight', () => [example('gpu/filter.sqlite')], [...PROFILE, 'Time line', 'SQL']],
  ['nsight-set', () => [example('gpu/bodies')], [...PROFILE, 'Scale', 'Compare', 'SQL']],
  ['extra-prof-set', () => [example('waves-extra-prof')], [...PROFILE, 'Scale', 'Compare', 'SQL']],
  ['pprof', () => [converted('heat.cubex', 'heat.pb.gz')], ['Overview', 'Tree', 'Flame', 'SQL']],
  ['folded', () => [converted('heat.cubex', 'heat.folded')], ['Overview', 'Tree', 'Flame', 'SQL']],
  ['speedscope', () => [converted('heat-hpctoolkit', 'heat.speedscope.json')], [...PROFILE, 'Time line', 'SQL']],
];

/** Other files of the same: one walk will do. */
const VARIANTS: typeof EXAMPLES = [
  [
    'hpctoolkit-2021',
    () => [converted('heat-hpctoolkit', 'heat-2021', '--to', 'hpctoolkit-2021')],
    [...PROFILE, 'Time line', 'SQL'],
  ],
  ...['extra-p', 'json', 'jsonl'].map((end): (typeof EXAMPLES)[0] => [
    `extrap-${end}`,
    () => [converted('kernels.txt', `kernels.${end}`)],
    [...PROFILE, 'Scale', 'Compare', 'SQL'],
  ]),
];

const DARK: PageOptions = { colorScheme: 'dark', viewport: { width: 1280, height: 720 } };
const LAPTOP: PageOptions = { viewport: { width: 1024, height: 576 }, deviceScaleFactor: 1.25 };

/** What a screen must not have: a message of failure, less than a few words, or more than the window is wide. */
async function looksWell({ page, complaints }: Opened, settled: () => Promise<void>, what: string): Promise<void> {
  await settled();
  assert.deepEqual(await page.getByRole('alert').allTextContents(), [], `${what}: a failure is shown`);
  assert.ok(((await page.locator('#screen').textContent()) ?? '').trim().length > 20, `${what}: nothing is shown`);
  assert.equal(
    await page.evaluate(() => document.documentElement.scrollWidth > innerWidth),
    false,
    `${what}: wider than the window`,
  );
  // A metric that a screen cannot draw is answered with 400, which the browser mentions; the screen says so without
  // alarm
  for (let i = complaints.length - 1; i >= 0; i--) if (/status of 4\d\d/.test(complaints[i]!)) complaints.splice(i, 1);
  assert.deepEqual(complaints, [], what);
}

const FACTORS: Record<string, number> = {
  nanoseconds: 1e-9,
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  sec: 1,
  min: 60,
  k: 1e3,
  M: 1e6,
  G: 1e9,
};

/** "1,234.5 ms" as a number of seconds, "12.3 M" as one of millions; a unit that is no such factor counts as 1. */
const amountOf = (text: string): number => {
  const [, digits, unit] = /(-?[\d.,]+(?:e[-+]?\d+)?)\s*(\S*)/.exec(text) ?? [];
  assert.ok(digits, `no number in '${text}'`);
  return Number(digits.replaceAll(',', '')) * (FACTORS[unit!] ?? 1);
};

function assertNear(shown: string, value: number, unit: string | null, what: string): void {
  const wanted = value * (FACTORS[unit ?? ''] ?? 1);
  const off = Math.abs(amountOf(shown) - wanted) / Math.max(Math.abs(wanted), 1e-300);
  assert.ok(off < 0.006, `${what}: '${shown}' is shown, the command says ${value} ${unit ?? ''}`);
}

interface Told {
  name: string | null;
  path: string | null;
  values: Record<string, { inclusive: number }>;
  children: Told[];
}

const unitOf = (input: string, metric: string): string | null =>
  told('info', input).metrics.find((m: { name: string }) => m.name === metric)?.unit ?? null;

/** What each screen shows first, next to what the command says of the same files. */
const TRUE: Record<string, (opened: Opened, inputs: string[], what: string) => Promise<void>> = {
  Overview: async ({ page }, [input], what) => {
    assert.match(
      await page.locator('.facts').first().innerText(),
      new RegExp(`(^|\\D)${told('info', input!).contexts} contexts?`),
      what,
    );
  },
  Tree: async ({ page }, [input], what) => {
    const { root, metrics } = told('tree', input!) as { root: Told; metrics: string[] };
    const head = await page.getByRole('columnheader').nth(1).innerText();
    const cells = await page.getByRole('treegrid').getByRole('row').nth(1).getByRole('gridcell').allInnerTexts();
    // Several roots have one above them that is not shown
    const first = (root.name === '<root>' ? root.children : [root]).find((node) => node.name === cells[0]!.trim());
    assert.ok(first, `${what}: the command has no ${cells[0]}`);
    assertNear(
      `${cells[1]} ${head
        .replace(/[▾▴]/g, '')
        .trim()
        .replace(/^\S+\s*/, '')}`,
      first.values[metrics[0]!]!.inclusive,
      unitOf(input!, metrics[0]!),
      what,
    );
  },
  Flame: async ({ page }, [input], what) => {
    const { root, metrics } = told('tree', input!) as { root: Told; metrics: string[] };
    assertNear(
      await page
        .getByText(/ in \d+ frames/)
        .first()
        .innerText(),
      root.values[metrics[0]!]!.inclusive,
      unitOf(input!, metrics[0]!),
      what,
    );
  },
  Locations: async ({ page }, [input], what) => {
    const { locations, contexts, runs } = told('stat', '--metric', told('tree', input!).metrics[0], input!);
    const { sum, mean } = Object.values<{ inclusive: { sum: number; mean: number } }>(contexts[0].metrics)[0]!
      .inclusive;
    const facts = Object.fromEntries(
      await page
        .locator('.stats > div')
        .evaluateAll((all) => all.map((e) => [e.querySelector('dt')!.textContent, e.querySelector('dd')!.textContent])),
    );
    if (contexts[0].path === told('tree', input!).root.path || contexts.length === 1)
      assertNear(
        (facts['mean'] ?? facts['sum'])!,
        facts['mean'] ? mean : sum,
        unitOf(input!, told('tree', input!).metrics[0]),
        what,
      );
    assert.match(
      await page.locator('#screen').innerText(),
      new RegExp(locations ? `${locations} (locations|processes|threads)` : `${runs} runs?`),
      what,
    );
  },
  'Time line': async ({ page }, [input], what) => {
    const { from, to, samples, intervals } = told('trace', input!);
    assertNear(await page.locator('.toolbar b').first().innerText(), to - from, 's', what);
    assert.match(
      await page.locator('.toolbar').innerText(),
      new RegExp(`${(samples ?? intervals).toLocaleString('en')} ${samples === undefined ? 'intervals' : 'samples'}`),
      what,
    );
  },
  Scale: async ({ page }, [input], what) => {
    const { models } = told('model', input!) as { models: { metric: string; callpath: string }[] };
    const n = new Set(models.filter((m) => m.metric === models[0]!.metric).map((m) => m.callpath)).size;
    assert.match(await page.locator('#screen').innerText(), new RegExp(`(^|\\D)${n} call paths?`), what);
  },
  Compare: async ({ page }, inputs, what) => {
    if (inputs.length < 2) return; // runs of one input: compare-runs.test.ts
    const { root, metrics } = told('diff', ...inputs);
    const [base, target] = (await page.locator('#screen').getByText('→').first().innerText()).split('→');
    const unit = unitOf(inputs[0]!, metrics[0]);
    assertNear(base!.replace(metrics[0], ''), root.values[metrics[0]].base.inclusive, unit, what);
    assertNear(target!, root.values[metrics[0]].target.inclusive, unit, what);
  },
  SQL: async ({ page }, [input], what) => {
    await page
      .getByRole('textbox', { name: /statement|sql/i })
      .first()
      .fill('select count(*) + 0.5 as n from context');
    await page.keyboard.press('Control+Enter');
    await page.getByText(/^1 row, /).waitFor();
    assert.equal(
      await page.getByRole('gridcell').first().innerText(),
      String(told('info', input!).contexts + 0.5),
      what,
    );
  },
};

for (const [name, inputs, tabs] of [...EXAMPLES, ...VARIANTS]) {
  test(`${name}: every tab, by clicks, has what the command says`, (t) => {
    const files = inputs();
    return view(t, files, async (opened) => {
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
        await TRUE[tab]!(opened, files, `${name}, ${tab}`);
      }
    });
  });

  if (VARIANTS.some(([variant]) => variant === name)) continue;
  test(`${name}: every tab, by keys, dark`, (t) =>
    view(
      t,
      inputs(),
      async (opened) => {
        const { page, shot } = opened;
        const settled = settling(opened);
        await page.getByRole('tab', { name: 'Overview' }).waitFor();
        const letter: Record<string, string> = {
          Overview: 'o',
          Tree: 't',
          Flame: 'f',
          Locations: 'l',
          'Time line': 'i',
          Scale: 's',
          Compare: 'c',
          SQL: 'q',
        };
        for (const tab of tabs) {
          await page.keyboard.press('g');
          await page.keyboard.press(letter[tab]!);
          await page.getByRole('tab', { name: tab, selected: true }).waitFor();
          await looksWell(opened, settled, `${name}, ${tab}`);
          for (const key of ['m', 'x', 'ArrowDown', 'ArrowRight', 'Escape']) await page.keyboard.press(key);
          await looksWell(opened, settled, `${name}, ${tab}, after some keys`);
          await shot(`tour-${name}-${tab.toLowerCase().replace(' ', '')}-dark`);
        }
      },
      DARK,
    ));
}

test('at 125 % on a laptop no screen is wider than the window', (t) =>
  view(
    t,
    [example('heat-hpctoolkit'), example('heat.cubex'), example('kernels.txt')],
    async (opened) => {
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
    },
    LAPTOP,
  ));
