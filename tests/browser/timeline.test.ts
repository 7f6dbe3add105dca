// The time line of each format that has one: samples, nested regions, sections, kernels and calls.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, source, view, type Page } from '../../web/test/harness';

const example = (name: string) => join(source, 'examples', name);
const canvas = (page: Page) => page.getByRole('img', { name: /^Time lines of/ });
const windowText = (page: Page) => page.locator('.tl-window').innerText();

after(closeBrowser);

test('an HPCToolkit database: samples', (t) =>
  view(t, [example('heat-hpctoolkit')], async ({ page, shot }) => {
    const legend = page.getByRole('region', { name: 'Procedures' });
    await legend.getByText('stencil').waitFor();
    await page.waitForTimeout(300);
    await shot('timeline-hpctoolkit');
  }, { hash: '#timeline' }));

test('an export of Nsight Systems', (t) =>
  view(t, [example('gpu/filter.sqlite')], async ({ page, shot }) => {
    await page.getByRole('region', { name: 'Procedures' }).getByText('GPU blur_columns').waitFor();
    await page.waitForTimeout(300);
    await shot('timeline-nsight');
  }, { hash: '#timeline', colorScheme: 'dark' }));

test('an AFPerf capture', (t) =>
  view(t, [example('simulation.afperf')], async ({ page, shot }) => {
    await page.getByRole('region', { name: 'Procedures' }).getByText('track fusion').waitFor();
    await page.waitForTimeout(300);
    await shot('timeline-afperf');
    assert.ok((await windowText(page)).includes('2.674 s'));
    await canvas(page).hover();
  }, { hash: '#timeline' }));
