// The command's own server with one file of each kind of example.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, example, view, type Page } from '../../web/test/harness';

const folder = mkdtempSync(join(tmpdir(), 'assay-view-'));

after(async () => {
  rmSync(folder, { recursive: true });
  await closeBrowser();
});

test('a profile is shown', (t) =>
  view(t, [example('heat.cubex')], async ({ page, shot }) => {
    await page.getByRole('heading', { name: 'heat.cubex' }).waitFor();
    const tabs = await page.getByRole('tab').allTextContents();
    assert.ok(tabs.includes('Tree') && tabs.includes('Locations') && !tabs.includes('Compare'), tabs.join());
    await shot('view-profile');
  }));

test('several inputs, one of them no measurement', (t) =>
  view(t, [example('heat.cubex'), example('heat-2.cubex'), example('heat.py')], async ({ page, shot }) => {
    await page.getByRole('button', { name: /^heat.py/ }).click();
    await page.getByRole('alert').getByText('is of no format assay knows').waitFor();
    await shot('view-error');
    await page.getByRole('button', { name: 'heat-2.cubex' }).click();
    await page.getByRole('heading', { name: 'heat-2.cubex' }).waitFor();
    assert.ok((await page.getByRole('tab').allTextContents()).includes('Compare'));
  }));

test('what could not be read is dismissed by keys, here and in other tabs; what one tab opens the others have when they are looked at', (t) =>
  view(t, [example('heat.cubex'), example('heat.py'), example('heat-2.cubex')], async ({ page, url }) => {
    await page.getByRole('heading', { name: 'heat.cubex' }).waitFor();
    const entries = (of: Page) => of.locator('.input-entry .input-name > :first-child').allTextContents();
    const other = await page.context().newPage();
    await other.goto(`${url}#tree?d=1`);
    await other.getByRole('heading', { name: 'heat.py could not be read' }).waitFor();
    await page.bringToFront();
    await page.getByRole('button', { name: /^heat.py/ }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page
      .getByRole('button', { name: /heat.py/ })
      .first()
      .waitFor({ state: 'detached' });
    assert.deepEqual(await entries(page), ['heat.cubex', 'heat-2.cubex']);
    await page.getByLabel('Add files', { exact: true }).setInputFiles(example('kernels.txt'));
    await page.getByRole('heading', { name: 'kernels.txt' }).waitFor();
    // What is dropped is the last, and not what took the place of the dismissed one
    assert.match(page.url(), /d=3/);
    assert.deepEqual(await entries(other), ['heat.cubex', 'heat.py', 'heat-2.cubex']);
    await other.bringToFront();
    await other.evaluate(() => dispatchEvent(new Event('focus'))); // headless pages have it always
    await other.locator('.vbody .vrow').first().waitFor();
    assert.deepEqual(await entries(other), ['heat.cubex', 'heat-2.cubex', 'kernels.txt']);
    // Nothing new: nothing is asked for again
    const asked: string[] = [];
    other.on('request', (request) => asked.push(request.url().replace(/.*api\//, '')));
    await other.evaluate(() => dispatchEvent(new Event('focus')));
    await other.waitForTimeout(300);
    assert.deepEqual(asked, ['inputs?']);
  }));

test('a file that is added', (t) =>
  view(t, [example('heat.cubex')], async ({ page }) => {
    await page.getByRole('heading', { name: 'heat.cubex' }).waitFor();
    await page.getByLabel('Add files', { exact: true }).setInputFiles(example('kernels.txt'));
    await page.getByRole('heading', { name: 'kernels.txt' }).waitFor();
    await page.getByRole('tab', { name: 'Scale' }).waitFor();
    await page
      .getByLabel('Add files', { exact: true })
      .setInputFiles({ name: 'bad.cubex', mimeType: '', buffer: Buffer.from('not a profile') });
    await page.getByRole('heading', { name: 'bad.cubex could not be read' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'kernels.txt' }).waitFor();
  }));

test('files that find no room', (t) =>
  view(t, ['--max-drop', '1M', example('heat.cubex')], async ({ page, complaints }) => {
    await page.getByRole('heading', { name: 'heat.cubex' }).waitFor();
    const given = page.waitForRequest(/api\/discard\?drop=/);
    await page.getByLabel('Add files', { exact: true }).setInputFiles([
      { name: 'small.folded', mimeType: '', buffer: Buffer.from('main;f 1\n') },
      { name: 'large.folded', mimeType: '', buffer: Buffer.alloc(1 << 20, 'x') },
    ]);
    await page.getByText(/dropped files may have 1 MiB together/).waitFor();
    assert.equal((await (await given).response())?.status(), 200, 'what came of the drop is removed');
    assert.equal(await page.getByRole('button', { name: 'small.folded' }).count(), 0);
    assert.ok(
      complaints.splice(0).every((text) => /413/.test(text)),
      'the browser mentions the refusal, and nothing else',
    );
  }));

/** As the file manager would do it. */
async function drop(page: Page, ...files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', {
      type,
      x: 600,
      y: 400,
      data: { items: [], files, dragOperationsMask: 1 },
    });
}

test('folders that are dropped: what is hidden in them stays behind, an empty one is said to be so', (t) =>
  view(t, [example('heat.cubex')], async ({ page }) => {
    const [database, empty] = [join(folder, 'database'), join(folder, 'empty')];
    cpSync(example('heat-hpctoolkit'), database, { recursive: true });
    writeFileSync(join(database, '.DS_Store'), 'left by the file manager');
    mkdirSync(join(empty, '.hidden'), { recursive: true });
    writeFileSync(join(empty, '.hidden', 'file'), 'x');
    await page.getByRole('heading', { name: 'heat.cubex' }).waitFor();
    await drop(page, empty);
    await page.getByRole('alert').getByText('There is no file in it').waitFor();
    await drop(page, database);
    await page.getByRole('heading', { name: 'database' }).waitFor();
    await page.getByRole('tab', { name: 'Time line' }).waitFor();
  }));

test('a name that cannot be is said', (t) =>
  view(t, [example('heat.cubex')], async ({ page, complaints }) => {
    await page.getByRole('heading', { name: 'heat.cubex' }).waitFor();
    await page
      .getByLabel('Add files', { exact: true })
      .setInputFiles({ name: '.hidden', mimeType: '', buffer: Buffer.from('x') });
    await page.getByRole('alert').getByText("a file of the name '.hidden' cannot be dropped").waitFor();
    assert.ok(
      complaints.splice(0).every((text) => /400/.test(text)),
      'the browser mentions the refusal, and nothing else',
    );
  }));

test('as long as files are being opened the page says so', (t) =>
  view(t, [example('heat.cubex')], async ({ page }) => {
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    await page.route(/api\/open/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('heading', { name: 'heat.cubex' }).waitFor();
    await page.getByLabel('Add files', { exact: true }).setInputFiles(example('kernels.txt'));
    const said = page.getByText('Opening kernels.txt …');
    await said.waitFor();
    await page.waitForTimeout(3000); // other messages go after 2.5 s
    assert.equal(await said.count(), 1);
    go();
    await said.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'kernels.txt' }).waitFor();
  }));

test('the heads of the imbalance are whole, in a small window and on paper', (t) =>
  view(
    t,
    [example('heat.cubex')],
    async ({ page }) => {
      const head = page.locator('.uneven.hint').getByText('largest', { exact: true });
      for (const width of [1280, 1024, 940]) {
        await page.setViewportSize({ width, height: 640 });
        assert.ok(await head.evaluate((e) => e.scrollWidth <= e.clientWidth), `${width}`);
      }
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 720, height: 900 });
      assert.ok(await head.evaluate((e) => e.scrollWidth <= e.clientWidth), 'paper');
    },
    { hash: '#overview' },
  ));

test('the ends of long names are seen beside badges in a small window', (t) => {
  const broken = join(folder, 'a_measurement_with_a_name_that_is_short.json');
  const twice = join(folder, 'the_same_kernels_with_another_compiler.txt');
  writeFileSync(broken, '{');
  cpSync(example('kernels.txt'), twice);
  return view(
    t,
    [twice, broken],
    async ({ page }) => {
      await page.locator('.input-entry .badge').first().waitFor();
      for (const width of [1280, 1024]) {
        await page.setViewportSize({ width, height: 640 });
        for (const name of await page.locator('.input-name .cut').all()) {
          assert.ok(await name.evaluate((e) => e.scrollWidth <= e.clientWidth), `${width}: ${await name.innerText()}`);
          if (width === 1280) assert.ok((await name.boundingBox())!.height < 30);
        }
      }
    },
    { hash: '#compare' },
  );
});

test('call paths without a metric: the page says why there is no tree', (t) => {
  const database = join(folder, 'no-metric');
  mkdirSync(database);
  writeFileSync(
    join(database, 'experiment.xml'),
    '<?xml version="1.0"?>\n<HPCToolkitExperiment version="2.2"><Header n="app"><Info/></Header><SecCallPathProfile i="0" n="app"><SecHeader><MetricTable></MetricTable><LoadModuleTable><LoadModule i="2" n="app"/></LoadModuleTable><FileTable><File i="2" n="app.c"/></FileTable><ProcedureTable><Procedure i="3" n="main"/></ProcedureTable></SecHeader><SecCallPathProfileData><PF i="2" s="3" l="1" lm="2" f="2" n="3"></PF></SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>\n',
  );
  return view(t, [database], async ({ page }) => {
    await page.getByText('No metrics are in it').waitFor();
    assert.deepEqual(await page.getByRole('tab').allTextContents(), ['Overview', 'SQL']);
  });
});

test('a measurement of nothing', (t) => {
  const nothing = join(folder, 'nothing.json');
  writeFileSync(
    nothing,
    JSON.stringify({
      $schema: 'https://www.speedscope.app/file-format-schema.json',
      shared: { frames: [] },
      profiles: [],
    }),
  );
  return view(t, [nothing], async ({ page }) => {
    await page.getByText('nothing: no call path, no event, no record').waitFor();
    // stat would fail: there is no metric
    assert.deepEqual(
      (await page.locator('.card', { hasText: 'On the command line' }).innerText()).match(/assay \w+/g),
      ['assay sql', 'assay validate'],
    );
  });
});
