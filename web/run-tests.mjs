// usage: node web/run-tests.mjs [--browser] FILE.test.ts…    bundles tests and runs them with node's test runner
// --browser: ends with 77 (skipped) where there is no Chromium.
import * as esbuild from 'esbuild';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const web = dirname(fileURLToPath(import.meta.url));
const needsBrowser = process.argv[2] === '--browser';
const files = process.argv.slice(needsBrowser ? 3 : 2).map((file) => resolve(file));
if (files.length === 0) {
  console.error('no tests given');
  process.exit(1);
}
const chromium = process.env.ASSAY_CHROMIUM ?? '/usr/bin/chromium';
if (needsBrowser && !existsSync(chromium)) {
  console.log(`no ${chromium}: install chromium, or name one in ASSAY_CHROMIUM`);
  process.exit(77);
}

// Tests lie in a folder of their own: what is not bundled is found from here.
const whole = { 'playwright-core': 'playwright-core/index.mjs', esbuild: 'esbuild/lib/main.js' };
const notBundled = {
  name: 'not bundled',
  setup: (build) =>
    build.onResolve({ filter: /^(playwright-core|esbuild)$/ }, ({ path }) => ({
      path: pathToFileURL(join(web, 'node_modules', whole[path])).href,
      external: true,
    })),
};
const folder = mkdtempSync(join(tmpdir(), 'assay-web-'));
let status = 1;
try {
  await esbuild.build({
    absWorkingDir: web,
    entryPoints: files,
    outdir: folder,
    outbase: dirname(files[0]),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    define: { IS_REPORT: 'false' },
    format: 'esm',
    target: 'node18',
    sourcemap: 'inline',
    tsconfig: join(web, 'tsconfig.json'),
    nodePaths: [join(web, 'node_modules')],
    loader: { '.css': 'empty' },
    plugins: [notBundled],
    logLevel: 'warning',
  });
  const built = files.map((file) => join(folder, `${basename(file, '.ts')}.mjs`));
  const run = spawnSync(process.execPath, ['--enable-source-maps', '--test', ...built], {
    stdio: 'inherit',
    env: { ...process.env, ASSAY_CHROMIUM: chromium, ASSAY_WEB: web },
  });
  status = run.status ?? 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(status);
