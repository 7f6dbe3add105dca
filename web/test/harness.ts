// For tests in a real browser. view() starts the command, page() opens any address; both fail on whatever the page
// complains of and on every request to elsewhere.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

export type { Page } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const WAIT_MS = 30000;
const build = process.env['ASSAY_BUILD'] ?? 'build';
export const source = process.env['ASSAY_SOURCE'] ?? '.';
export const example = (name: string): string => join(source, 'examples', name);

/** The words a shell takes a command for: paths may be quoted. */
export const words = (command: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

/** What a copied command prints, run by a shell; it must end well. */
export function printed(command: string): string {
  assert.match(command, /^assay /);
  const built = dirname(resolve(process.env['ASSAY'] ?? 'assay'));
  const ended = spawnSync('sh', ['-c', command], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, PATH: `${built}:${process.env['PATH']}`, LC_ALL: 'C.UTF-8' },
  });
  assert.equal(ended.status, 0, `${command}\n${ended.stderr}`);
  assert.ok(ended.stdout.length > 0, command);
  return ended.stdout;
}

let browser: Promise<Browser> | null = null;

/** One for all tests of a file; it ends with the process. */
function startBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: process.env['ASSAY_CHROMIUM'] ?? '/usr/bin/chromium', args: FLAGS });
  return browser;
}

/** To be given to node:test's after(): ends the browser. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = null;
}

export interface Opened {
  page: Page;
  url: string;
  /** Keeps a picture in the build folder: screenshots/NAME.png. */
  shot: (name: string) => Promise<void>;
  /** What the page said is wrong so far; emptied by whoever expects it. */
  complaints: string[];
}

export interface PageOptions extends BrowserContextOptions {
  /** Added to the address: "#tree?d=0". */
  hash?: string;
}

/**
 * Opens the address in a fresh profile, calls use, then fails on errors of the console, of scripts, and requests that
 * leave the page's origin.
 */
export async function page(
  url: string,
  use: (opened: Opened) => Promise<void>,
  { hash = '', ...options }: PageOptions = {},
): Promise<void> {
  const context = await (
    await startBrowser()
  ).newContext({
    viewport: { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  const complaints: string[] = [];
  try {
    const opened = await context.newPage();
    opened.setDefaultTimeout(WAIT_MS);
    opened.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
    });
    opened.on('pageerror', (error) => complaints.push(`script: ${error.stack ?? error.message}`));
    const origin = new URL(url).origin;
    opened.on('request', (request) => {
      const to = request.url();
      const isOwn = url.startsWith('file:') ? to.startsWith(url) : new URL(to).origin === origin;
      if (!isOwn && !to.startsWith('data:') && !to.startsWith('blob:')) complaints.push(`request to ${to}`);
    });
    await opened.goto(url + hash);
    const shot = async (name: string) => {
      const folder = join(build, 'screenshots');
      mkdirSync(folder, { recursive: true });
      await opened.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
    };
    await use({ page: opened, url, shot, complaints });
    assert.deepEqual(complaints, [], 'the page complains');
  } finally {
    await context.close();
  }
}

const QUIET_MS = 80;

/** What it gives waits until nothing has been asked of the server for a moment. */
export function settling({ page: opened }: Opened): () => Promise<void> {
  let asked = 0;
  let last = Date.now();
  const count = (by: number) => () => {
    asked += by;
    last = Date.now();
  };
  opened.on('request', count(1));
  opened.on('requestfinished', count(-1));
  opened.on('requestfailed', count(-1));
  return async () => {
    last = Date.now();
    while (asked > 0 || Date.now() - last < QUIET_MS) await opened.waitForTimeout(QUIET_MS / 4);
    await opened.locator('.waiting-page').waitFor({ state: 'detached' });
  };
}

function addressOf(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`assay view printed no address:\n${text}`)), WAIT_MS);
    const look = (chunk: Buffer) => {
      text += chunk.toString();
      const found = /https?:\/\/\S+/.exec(text);
      if (!found) return;
      clearTimeout(timer);
      resolve(found[0]);
    };
    server.stdout?.on('data', look);
    server.stderr?.on('data', look);
    server.once('error', reject);
    server.once('exit', (status) => {
      clearTimeout(timer);
      reject(new Error(`assay view ended with ${status}:\n${text}`));
    });
  });
}

/** Starts `assay view --no-open ARGS…`, opens its page, and ends it: it must end well. */
export async function view(
  _: TestContext,
  args: readonly string[],
  use: (opened: Opened) => Promise<void>,
  options: PageOptions = {},
): Promise<void> {
  const assay = process.env['ASSAY'];
  assert.ok(assay, 'ASSAY is not set');
  const server = spawn(assay, ['view', '--no-open', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    server.once('exit', (status, signal) => resolve([status, signal])),
  );
  try {
    await page(await addressOf(server), use, options);
  } finally {
    server.kill('SIGINT');
    const timer = setTimeout(() => server.kill('SIGKILL'), WAIT_MS);
    const [status, signal] = await ended;
    clearTimeout(timer);
    assert.ok(status === 0 || status === 130 || signal === 'SIGINT', `assay view ended with ${status ?? signal}`);
  }
}
