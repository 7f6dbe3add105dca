// The pictures of the documents: every screen, on the example that shows most of it. tools/screenshots runs it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { closeBrowser, page, view, type Opened, type PageOptions } from './harness';

const folder = mkdtempSync(join(tmpdir(), 'assay-pictures-'));
const DARK: PageOptions = { colorScheme: 'dark' };
/** A moment for whatever is still being drawn. */
const CALM_MS = 400;

after(async () => {
  rmSync(folder, { recursive: true });
  await closeBrowser();
});

interface Picture {
  name: string;
  inputs: string[];
  hash: string;
  /** What must be there before the picture is taken. */
  wait: (opened: Opened) => Promise<void>;
  options?: PageOptions;
}

const calm = async ({ page }: Opened) => {
  await page.waitForTimeout(CALM_MS);
};

const PICTURES: Picture[] = [
  {
    name: 'overview',
    inputs: ['examples/heat-hpctoolkit'],
    hash: '#overview',
    wait: async (o) => void (await o.page.getByText('Imbalance').first().waitFor()),
  },
  {
    name: 'tree',
    inputs: ['examples/heat-hpctoolkit'],
    hash: '#tree',
    wait: async ({ page }) => {
      await page.getByRole('treegrid').getByText('stencil').first().click();
      await page.getByText('Callers').waitFor();
    },
  },
  {
    name: 'flame',
    inputs: ['examples/heat-hpctoolkit'],
    hash: '#flame',
    wait: async (o) => void (await o.page.locator('.flame-box canvas').waitFor()),
  },
  {
    name: 'locations',
    inputs: ['examples/heat.cubex'],
    hash: '#overview',
    wait: async ({ page }) => {
      await page
        .getByRole('button', { name: /^stencil.* at 3/ })
        .first()
        .click();
      await page.getByRole('tab', { name: 'Locations' }).click();
      await page.locator('.heat-page').waitFor();
    },
  },
  {
    name: 'timeline',
    inputs: ['examples/gpu/filter.sqlite'],
    hash: '#timeline',
    wait: async (o) => void (await o.page.getByText('In the window').waitFor()),
    options: DARK,
  },
  {
    name: 'scale',
    inputs: ['examples/kernels.txt'],
    hash: '#scale',
    wait: async (o) =>
      void (await o.page
        .getByText('predicted')
        .first()
        .waitFor()
        .catch(() => undefined)),
  },
  {
    name: 'compare',
    inputs: ['examples/heat.cubex', 'examples/heat-2.cubex'],
    hash: '#compare',
    wait: async (o) => void (await o.page.getByText('checkpoint').first().waitFor()),
  },
  {
    name: 'compare-flame',
    inputs: ['examples/heat.cubex', 'examples/heat-2.cubex'],
    hash: '#compare?compare.tab=flame',
    wait: async (o) => void (await o.page.locator('.flame-box canvas').waitFor()),
  },
  {
    name: 'overview-dark',
    inputs: ['examples/gpu/filter.sqlite'],
    hash: '#overview',
    wait: async (o) => void (await o.page.getByText('Functions').first().waitFor()),
    options: DARK,
  },
  {
    name: 'sql',
    inputs: ['examples/heat-hpctoolkit'],
    hash: '#sql',
    wait: async ({ page }) => {
      await page.getByRole('button', { name: /^Run(?!:)/ }).click();
      await page.getByRole('grid').first().waitFor();
    },
  },
];

for (const { name, inputs, hash, wait, options } of PICTURES) {
  test(name, (t) =>
    view(
      t,
      inputs,
      async (opened) => {
        await wait(opened);
        await calm(opened);
        await opened.shot(`viewer-${name}`);
      },
      { hash, ...options },
    ),
  );
}

/** A file that the command makes, opened without a server. */
function made(name: string, args: string[]): string {
  const file = join(folder, name);
  const { status, stderr } = spawnSync(process.env['ASSAY'] ?? 'assay', [...args, '-o', file], { encoding: 'utf-8' });
  if (status !== 0) throw new Error(stderr);
  return pathToFileURL(file).href;
}

const FILES: [name: string, file: string, args: string[], options?: PageOptions][] = [
  ['report', 'report.html', ['report', 'examples/heat.cubex', 'examples/heat-2.cubex']],
  ['flame-svg', 'flame.svg', ['flame', 'examples/heat-hpctoolkit'], { viewport: { width: 1280, height: 400 } }],
  ['trace-svg', 'trace.svg', ['trace', 'examples/heat-hpctoolkit'], { viewport: { width: 1280, height: 640 } }],
];

for (const [name, file, args, options] of FILES) {
  test(name, () =>
    page(
      made(file, args),
      async (opened) => {
        await calm(opened);
        await opened.shot(`viewer-${name}`);
      },
      options,
    ),
  );
}
