// usage: node web/build.mjs OUTPUT_FOLDER PACK bundles web/src into index.html, assay.js, report.js and assay.css, and
// bundle.c, which has all of them inside, also packed by the program PACK (pack.c) The same sources give the same
// bytes, wherever they lie.
import * as esbuild from 'esbuild';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { minify } from 'terser';

const web = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? 'build/web');
const pack = process.argv[3] ?? join(folder, '../assay_web_pack');
mkdirSync(folder, { recursive: true });

const notice = 'assay, BSD-3-Clause. Contains Preact (MIT, (c) Jason Miller) and uPlot (MIT, (c) Leon Sorokin).';
// The page that asks the server, and that of a report: neither has what only the other one needs.
const bundle = (entry, isReport) =>
  esbuild
    .build({
      absWorkingDir: web,
      entryPoints: [{ in: entry, out: isReport ? 'report' : 'assay' }],
      outdir: folder,
      write: false,
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2020',
      legalComments: 'none',
      banner: { js: `/*! ${notice} */` },
      define: { 'process.env.NODE_ENV': '"production"', IS_REPORT: String(isReport) },
      logLevel: 'warning',
    })
    .catch(() => process.exit(1));

// Packed, what esbuild has minified is 5 % smaller once terser has been over it.
async function shortened(script) {
  const { code } = await minify(script, {
    module: true,
    ecma: 2020,
    compress: { ecma: 2020, passes: 3 },
    format: { comments: 'some' },
  });
  return Buffer.from(code);
}

const files = { 'index.html': readFileSync(join(web, 'src/index.html')) };
for (const [entry, isReport] of [
  ['src/report.tsx', true],
  ['src/main.tsx', false],
]) {
  const result = await bundle(entry, isReport);
  for (const file of result.outputFiles) {
    const name = file.path.endsWith('.css') ? 'assay.css' : `${isReport ? 'report' : 'assay'}.js`;
    if (name !== 'assay.css') files[name] = await shortened(file.text);
    else if (!isReport) files[name] = Buffer.from(file.contents);
  }
}

function write(name, contents) {
  writeFileSync(join(folder, `${name}.new`), contents);
  renameSync(join(folder, `${name}.new`), join(folder, name));
}

// The bytes go in by the assembler: a C array of this size takes a compiler seconds.
let source = `/* Made by web/build.mjs. */
#include "server/web.h"

const bool as_web_is_built = true;

#define INCLUDE(symbol, path)                                                                    \\
  __asm__(".pushsection .rodata\\n" #symbol ":\\n.incbin \\"" path "\\"\\n" ".byte 0\\n.popsection\\n"); \\
  extern const unsigned char symbol[]
`;
for (const [name, contents] of Object.entries(files)) {
  write(name, contents);
  execFileSync(pack, [join(folder, name)]);
  const zippedSize = statSync(join(folder, `${name}.gz`)).size;
  const symbol = name === 'report.js' ? 'as_web_report_js' : `as_web_${name.split('.')[1]}`;
  source += `
INCLUDE(${symbol}_bytes, ${JSON.stringify(join(folder, name))});
INCLUDE(${symbol}_gzip, ${JSON.stringify(join(folder, `${name}.gz`))});
const as_web_file ${symbol} = {.bytes = ${symbol}_bytes, .size = ${contents.length}, .gzip = ${symbol}_gzip, .gzip_size = ${zippedSize},
    .sha256 = "${createHash('sha256').update(contents).digest('base64')}"};
`;
}
write('bundle.c', source);
