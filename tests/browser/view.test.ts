// The command's own server with one file of each kind of example.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, example, view } from '../../web/test/harness';


after(closeBrowser);

test('a profile is shown', (t) =>
  view(t, [example('heat.cubex')], async ({ page, shot }) => {
    await page.getByRole('heading', { name: 'heat.cubex' }).waitFor();
    const tabs = await page.getByRole('tab').allTextContents();
    assert.ok(tabs.includes('Tree') && tabs.includes('Locations') && !tabs.includes('Compare'), tabs.join());
    await shot('view-profile');
  }));

test('several inputs, one of them no measurement', (t) =>
  view(t, [example('heat.cubex'), example('heat-2.cubex'), example('heat.py')], async ({ page, shot }) => {
    await page.getByRole('button', { name: 'heat.py' }).click();
    await page.getByRole('alert').getByText('is of no format assay knows').waitFor();
    await shot('view-error');
    await page.getByRole('button', { name: 'heat-2.cubex' }).click();
    await page.getByRole('heading', { name: 'heat-2.cubex' }).waitFor();
    assert.ok((await page.getByRole('tab').allTextContents()).includes('Compare'));
  }));

test('a file that is added', (t) =>
  view(t, [example('heat.cubex')], async ({ page }) => {
    await page.getByRole('heading', { name: 'heat.cubex' }).waitFor();
    await page.getByLabel('Add files', { exact: true }).setInputFiles(example('kernels.txt'));
    await page.getByRole('heading', { name: 'kernels.txt' }).waitFor();
    await page.getByRole('tab', { name: 'Scale' }).waitFor();
    await page.getByLabel('Add files', { exact: true }).setInputFiles({ name: 'bad.cubex', mimeType: '', buffer: Buffer.from('not a profile') });
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
    assert.ok(complaints.splice(0).every((text) => /413/.test(text)), 'the browser mentions the refusal, and nothing else');
  }));
