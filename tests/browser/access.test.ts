// For people without a mouse, with few colours, at 125 %: what every screen owes them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  closeBrowser,
  example,
  page as pageOf,
  settling,
  source,
  view,
  type Opened,
  type PageOptions,
} from '../../web/test/harness';

const INPUTS = [example('heat-hpctoolkit'), example('heat.cubex'), example('kernels.txt')];
const LAPTOP: PageOptions = {
  viewport: { width: 1024, height: 576 },
  deviceScaleFactor: 1.25,
  reducedMotion: 'reduce',
};

after(closeBrowser);

/** Addresses of all screens, with something chosen and searched for. */
const SCREENS: [name: string, hash: string][] = [
  ['Overview', '#overview?d=0'],
  ['Tree', '#tree?d=0&q=e'],
  ['Flame', '#flame?d=0&q=e'],
  ['Locations', '#locations?d=1'],
  ['Time line', '#timeline?d=0'],
  ['Scale', '#scale?d=2'],
  ['Compare', '#compare?d=0'],
  ['SQL', '#sql?d=0'],
];

/** The screen as it is when the address is opened. */
async function open({ page }: Opened, settled: () => Promise<void>, [name, hash]: [string, string]): Promise<void> {
  await page.evaluate((to) => history.replaceState(null, '', to), hash);
  await page.reload();
  await page.getByRole('tab', { name, selected: true }).waitFor();
  await settled();
}

/** Texts with less than 4.5 : 1 to what lies behind them, as the browser has them: "word: 3.2". */
function hardToRead(): string[] {
  type Color = [number, number, number, number];
  const pen = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', {
    willReadFrequently: true,
  })!;
  const parse = (text: string): Color => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = text;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r!, g!, b!, a! / 255];
  };
  const over = (top: Color, below: Color): Color =>
    [0, 1, 2].map((i) => top[i]! * top[3] + below[i]! * (1 - top[3])).concat(1) as Color;
  const groundOf = (element: Element | null): Color =>
    element
      ? over(parse(getComputedStyle(element).backgroundColor), groundOf(element.parentElement))
      : [255, 255, 255, 1];
  const opacityOf = (element: Element | null): number =>
    element ? Number(getComputedStyle(element).opacity) * opacityOf(element.parentElement) : 1;
  const luminance = (color: Color) =>
    color
      .slice(0, 3)
      .reduce(
        (sum, c, i) =>
          sum +
          [0.2126, 0.7152, 0.0722][i]! * (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4),
        0,
      );
  const found: string[] = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes]
      .filter((n) => n.nodeType === 3)
      .map((n) => n.nodeValue)
      .join('')
      .trim();
    const box = element.getBoundingClientRect();
    if (
      !text ||
      box.width === 0 ||
      box.height === 0 ||
      element.closest(':disabled, [aria-disabled="true"], svg, canvas, .sql-under, .off-screen')
    )
      continue;
    const ground = groundOf(element);
    const [r, g, b, a] = parse(getComputedStyle(element).color);
    const ink = over([r, g, b, a * opacityOf(element)], ground);
    const [low, high] = [luminance(ink), luminance(ground)].sort((x, y) => x - y);
    const ratio = (high! + 0.05) / (low! + 0.05);
    if (ratio < 4.5) found.push(`${text.slice(0, 40)} (${element.className}): ${ratio.toFixed(2)}`);
  }
  return found;
}

test('every text of every screen is readable, light and dark', (t) =>
  view(
    t,
    INPUTS,
    async (opened) => {
      const settled = settling(opened);
      for (const screen of SCREENS) {
        await open(opened, settled, screen);
        for (const colorScheme of ['dark', 'light'] as const) {
          await opened.page.emulateMedia({ colorScheme });
          await opened.page.waitForFunction(
            (theme) => document.documentElement.dataset['theme'] === theme,
            colorScheme,
          );
          assert.deepEqual(await opened.page.evaluate(hardToRead), [], `${screen[0]}, ${colorScheme}`);
        }
      }
    },
    LAPTOP,
  ));

test('Tab goes to everything on every screen, and shows where it is; nothing moves that should not', (t) =>
  view(
    t,
    INPUTS,
    async (opened) => {
      const { page } = opened;
      const settled = settling(opened);
      for (const screen of SCREENS) {
        await open(opened, settled, screen);
        const wanted = await page.evaluate(() => {
          let n = 0;
          for (const e of document.querySelectorAll<HTMLElement>(
            'a[href], button, input, select, textarea, [tabindex]',
          )) {
            const box = e.getBoundingClientRect();
            if (
              e.tabIndex < 0 ||
              e.matches(':disabled') ||
              !e.checkVisibility({ visibilityProperty: true }) ||
              box.width <= 1
            )
              continue;
            e.dataset['wanted'] = String(n++);
          }
          return n;
        });
        assert.ok(wanted > 8, screen[0]);
        const reached = new Set<string>();
        for (let i = 0; i < wanted + 12 && reached.size < wanted; i++) {
          await page.keyboard.press('Tab');
          const at = await page.evaluate(() => {
            const e = document.activeElement as HTMLElement;
            const style = getComputedStyle(e);
            const isSeen =
              [e, ...e.querySelectorAll('.selected, .vhead')].some((at) => getComputedStyle(at).boxShadow !== 'none') ||
              style.outlineStyle !== 'none';
            return {
              wanted: e.dataset['wanted'] ?? '',
              isSeen: e === document.body || isSeen,
              html: e.outerHTML.slice(0, 160),
            };
          });
          assert.ok(at.isSeen, `${screen[0]}: the focus is not to be seen at ${at.html}`);
          if (at.wanted !== '') reached.add(at.wanted);
        }
        const missed = await page.evaluate(
          (seen) =>
            [...document.querySelectorAll<HTMLElement>('[data-wanted]')]
              .filter((e) => !seen.includes(e.dataset['wanted']!))
              .map((e) => e.outerHTML.slice(0, 160)),
          [...reached],
        );
        assert.deepEqual(missed, [], `${screen[0]}: Tab does not go there`);
        const moving = await page.evaluate(
          () =>
            [...document.querySelectorAll('body *')].filter((e) =>
              [getComputedStyle(e).transitionDuration, getComputedStyle(e).animationDuration].some(
                (d) => parseFloat(d) > 0.01,
              ),
            ).length,
        );
        assert.equal(moving, 0, `${screen[0]}: something moves though the system asks for stillness`);
      }
    },
    LAPTOP,
  ));

/**
 * What is wrong with what is shown: words that only programs say, texts that are cut or stand out of their boxes, tree
 * grids that do not say where one is.
 */
function faultsOf(): string[] {
  const found = new Set<string>();
  const bad = /\bNaN\b|\bundefined\b|\bInfinity\b|\[object|\bnull\b/;
  if (document.documentElement.scrollWidth > innerWidth + 1) found.add('the page scrolls sideways');
  for (const e of document.querySelectorAll<HTMLElement>('body *')) {
    if (!e.checkVisibility() || e.closest('svg, textarea, .sql-under, .off-screen, script')) continue;
    const own = [...e.childNodes]
      .filter((n) => n.nodeType === 3)
      .map((n) => n.nodeValue)
      .join('')
      .trim();
    for (const text of [own, e.title, e.getAttribute('aria-label') ?? ''])
      if (bad.test(text)) found.add(`says "${text.slice(0, 80)}"`);
    const { display, overflowX, textOverflow } = getComputedStyle(e);
    if (
      own &&
      display !== 'inline' &&
      e.clientWidth > 0 &&
      e.scrollWidth > e.clientWidth + 1 &&
      textOverflow !== 'ellipsis' &&
      overflowX !== 'auto' &&
      overflowX !== 'scroll'
    )
      found.add(`out of its box: "${own.slice(0, 40)}" (${e.tagName} ${e.className})`);
    if (e.classList.contains('waiting') || e.classList.contains('waiting-page')) found.add('still waits');
  }
  const screen = document.querySelector('#screen')!;
  if (screen.scrollWidth > screen.clientWidth + 1) found.add('the screen scrolls sideways');
  for (const grid of document.querySelectorAll('[role=grid], [role=treegrid]')) {
    const [name, n] = [grid.getAttribute('aria-label'), Number(grid.getAttribute('aria-colcount'))];
    if (!name || !n || !grid.getAttribute('aria-rowcount')) found.add(`grid "${name}" without a name or counts`);
    for (const row of grid.querySelectorAll('[role=row]')) {
      const number = (attribute: string) => Number(row.getAttribute(attribute));
      if (
        row.querySelectorAll('[role=gridcell], [role=columnheader]').length !== n ||
        !number('aria-rowindex') ||
        number('aria-rowindex') > Number(grid.getAttribute('aria-rowcount'))
      )
        found.add(`${name}: cells or index of a row`);
      if (grid.role !== 'treegrid' || row.classList.contains('vhead')) continue;
      if (!number('aria-level') || !number('aria-posinset') || number('aria-posinset') > number('aria-setsize'))
        found.add(`${name}: level or place of a row`);
      if (row.querySelector('.twist:not(.none)') && !row.getAttribute('aria-expanded'))
        found.add(`${name}: a row does not say whether it is open`);
    }
  }
  return [...found];
}

/** Profiles of four processes and of large numbers; the second lacks a metric. */
function unequalProfiles(): string[] {
  const made = join(mkdtempSync(join(tmpdir(), 'assay-access-')), 'large-and-small');
  const script = `import sys; sys.path.insert(0, sys.argv[1])
from cubex import processes, profile
rows = ((134217728000, 2684354560, 4, 134217728),) * 4
for name, metrics in (('a', ['instructions', 'bytes_sent_between_processes']), ('b', ['instructions'])):
    open(sys.argv[2] + name + '.cubex', 'wb').write(profile([(m, 'INT64', 'EXCLUSIVE', rows) for m in metrics], 'main(f g f)', processes(4)))`;
  execFileSync('python3', ['-c', script, join(source, 'tests', 'cli'), made]);
  return [`${made}a.cubex`, `${made}b.cubex`];
}

test('nothing is cut or stands out, and tree grids say where one is, at 1280 and at 125 %', async (t) => {
  const looked = new Set<string>();
  for (const inputs of [INPUTS, unequalProfiles(), [join(source, 'tests', 'data', 'extrap-segmented.extra-p')]])
    await view(
      t,
      inputs,
      async (opened) => {
        const { page } = opened;
        const settled = settling(opened);
        await page.getByRole('tab').first().waitFor();
        for (const [name] of SCREENS) {
          const tab = page.getByRole('tab', { name, exact: true });
          if ((await tab.count()) === 0) continue;
          await tab.click();
          await settled();
          for (const [key, width] of [
            ['ArrowDown', 1024],
            ['2', 1024],
            ['m', 1024],
            ['3', 1280],
            ['4', 1280],
          ] as const) {
            await page.setViewportSize({ width, height: 576 });
            await page.keyboard.press(key);
            await settled();
            assert.deepEqual(await page.evaluate(faultsOf), [], `${inputs[0]}: ${name}, ${key}, ${width}`);
          }
          looked.add(name);
        }
      },
      LAPTOP,
    );
  assert.equal(looked.size, SCREENS.length);
});

/** Keys that do nothing where there is nothing to do: what to press before. */
const BEFORE: Record<string, string[]> = {
  'Tree 1': ['2'],
  'Tree F': ['ArrowDown', 'f'],
  'Tree f': ['ArrowDown'],
  'Tree l': ['ArrowDown'],
  'Tree z': ['ArrowDown'],
  'Tree Z': ['ArrowDown'],
  'Tree *': ['ArrowDown', 'ArrowLeft'],
  'Flame Escape': ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter'],
  'Flame Home': ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter'],
  'Locations 1': ['2'],
  'Compare 1': ['2'],
  'Locations w': ['g', 't', 'ArrowDown', 'ArrowDown', 'g', 'l'],
  'Time line s': ['w'],
  'Time line a': ['w', 'w', 'd'],
  'Time line d': ['w', 'w'],
  'Time line f': ['w'],
  'Time line ArrowUp': ['ArrowDown', 'ArrowDown'],
  'Scale 0': [']'],
  'Scale G': ['S'],
  'Scale p': ['ArrowDown'],
  'Scale w': ['ArrowDown'],
  'Everywhere U': ['m', 'u'],
  'Everywhere u': ['m'],
};
/** Those that need the mouse before: a selection that was dragged. timeline.test.ts and locations.test.ts have them. */
const AFTER_DRAGGING = ['Time line z', 'Time line Escape', 'Locations Escape'];

/** Keys that are listed and do nothing, or ask for what there is not; how many were pressed. */
async function idleKeys(opened: Opened, screens: typeof SCREENS): Promise<[idle: string[], tried: number]> {
  const { page } = opened;
  const look = () =>
    page.evaluate(() => {
      const active = document.activeElement;
      return [
        location.hash,
        document.querySelector('#app')!.innerHTML,
        document.documentElement.dataset['theme'],
        active?.className,
        active?.getAttribute('aria-label'),
        ...[...document.querySelectorAll('canvas')].map((c) => c.toDataURL()),
      ].join('\n');
    });
  const settled = settling(opened);
  const idle: string[] = [];
  const tried = new Set<string>();
  for (const screen of screens) {
    await open(opened, settled, screen);
    await page.keyboard.press('?');
    const listed = await page
      .getByRole('dialog')
      .evaluate((dialog) =>
        [...dialog.querySelectorAll('section')].flatMap((s) =>
          [...s.querySelectorAll('dt')].map(
            (dt) =>
              [
                s.querySelector('h3')!.textContent,
                [...dt.querySelectorAll('kbd')].map((k) => k.textContent!).join(' '),
              ] as [string, string],
          ),
        ),
      );
    await page.keyboard.press('Escape');
    assert.ok(listed.length > 12, screen[0]);
    for (const [group, key] of listed) {
      const name = `${group} ${key}`;
      if (tried.has(name) || AFTER_DRAGGING.includes(name) || key === `g ${screen[0].toLowerCase()[0]}`) continue;
      tried.add(name);
      await open(opened, settled, screen);
      for (const first of BEFORE[name] ?? []) {
        await page.keyboard.press(first);
        await settled();
      }
      const before = await look();
      for (const part of key.split(' '))
        await page.keyboard.press(part.replace(/^Ctrl\+K$/, 'Control+k').replace('Ctrl+', 'Control+'));
      for (let i = 0; i < 25 && (await look()) === before; i++) await page.waitForTimeout(40);
      if ((await look()) === before || (await page.getByRole('alert').count()) > 0) idle.push(`${screen[0]}: ${name}`);
    }
  }
  return [idle, tried.size];
}

test('every key of the list does something', (t) =>
  view(
    t,
    INPUTS,
    async (opened) => {
      const [idle, tried] = await idleKeys(opened, SCREENS);
      assert.deepEqual(idle, []);
      assert.ok(tried > 60, `${tried} keys`);
    },
    LAPTOP,
  ));

test('every key of the list of a report does something', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-access-'));
  const file = join(folder, 'report.html');
  execFileSync(process.env['ASSAY']!, ['report', '-q', ...INPUTS, '-o', file]);
  await pageOf(
    pathToFileURL(file).href,
    async (opened) => {
      const [idle, tried] = await idleKeys(
        opened,
        SCREENS.filter(([name]) => name !== 'SQL'),
      );
      assert.deepEqual(idle, []);
      assert.ok(tried > 50, `${tried} keys`);
    },
    LAPTOP,
  );
  rmSync(folder, { recursive: true });
});
