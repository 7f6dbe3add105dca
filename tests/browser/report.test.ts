// The page with its answers inside, opened from a file: under the policy that a report has.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { closeBrowser, page } from '../../web/test/harness';

const NAME = '</script><script>document.title = "taken"</script>';
const metric = (id: number, name: string) => ({ id, name, display_name: name, unit: 's', dtype: 'FLOAT64', kind: 'exclusive', is_main: id === 0, adds_up: true });
const ANSWERS = {
  'inputs?': {
    version: '0.1.0',
    inputs: [{ id: 0, path: 'a.cubex', name: NAME, format: 'cube', format_title: 'Cube', problems: 0, has: { tree: true, locations: 4, events: false, points: 0, parameters: [], records: 0, models: 0 }, metrics: [metric(0, 'time'), metric(1, 'wait')], runs: [], points: [], error: null }],
    experiment: null,
  },
};

function report(): string {
  const folder = join(process.env['ASSAY_BUILD'] ?? 'build', 'web');
  const [script, style] = ['assay.js', 'assay.css'].map((name) => readFileSync(join(folder, name), 'latin1')) as [string, string];
  assert.ok(!/<\/script|<!--/i.test(script) && !/<\/style/i.test(style), 'what cannot stand in a page');
  assert.ok(/^[\x00-\x7f]*$/.test(script), 'the script is ASCII');
  const allowed = (text: string) => `'sha256-${createHash('sha256').update(text, 'latin1').digest('base64')}'`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; script-src ${allowed(script)}; style-src ${allowed(style)}">
<title>assay</title><style>${style}</style></head><body><div id="app"></div>
<script type="application/gzip" id="assay-data">${gzipSync(JSON.stringify(ANSWERS)).toString('base64')}</script><script type="module">${script}</script></body></html>`;
}

after(closeBrowser);

test('a report opens from a file, keeps its state in the address, and needs nobody', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-report-'));
  try {
    const file = join(folder, 'report.html');
    writeFileSync(file, report(), 'latin1');
    await page(pathToFileURL(file).href, async ({ page, shot }) => {
      await page.getByRole('heading', { name: NAME }).waitFor();
      assert.notEqual(await page.title(), 'taken');
      assert.deepEqual(await page.getByRole('tab').allTextContents(), ['Overview', 'Tree', 'Flame', 'Locations']);
      assert.equal(await page.getByText('Add files').count(), 0);
      await page.keyboard.press('m');
      await page.waitForURL(/#\?m=wait$/);
      await page.keyboard.press('u');
      await page.getByRole('button', { name: 'Metric: time' }).waitFor();
      await shot('report-file');
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
