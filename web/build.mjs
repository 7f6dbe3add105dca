// usage: node web/build.mjs OUTPUT_FOLDER    bundles web/src into index.html, assay.js, report.js and assay.css, and bundle.c, which has all of them inside
// The same sources give the same bytes, wherever they lie.
import * as esbuild from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const web = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? 'build/web');
mkdirSync(folder, { recursive: true });

const notice = 'assay, BSD-3-Clause. Contains Preact (MIT, (c) Jason Miller) and uPlot (MIT, (c) Leon Sorokin).';
// The page that asks the server, and that of a report: neither has what only the other one needs.
const bundle = (entry, isReport) => esbuild.build({
  absWorkingDir: web,
  entryPoints: [{ in: entry, out: isReport ? 'report' : 'assay' }],
  outdir: folder,
  write: false,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2020',
  legalComments: 'none',
  banner: { js: `/* ${notice} */` },
  define: { 'process.env.NODE_ENV': '"production"', IS_REPORT: String(isReport) },
  logLevel: 'warning',
}).catch(() => process.exit(1));

const files = { 'index.html': readFileSync(join(web, 'src/index.html')) };
for (const [entry, isReport] of [['src/report.tsx', true], ['src/main.tsx', false]]) {
  const result = await bundle(entry, isReport);
  for (const file of result.outputFiles) {
    const name = file.path.endsWith('.css') ? 'assay.css' : `${isReport ? 'report' : 'assay'}.js`;
    if (!isReport || name !== 'assay.css') files[name] = Buffer.from(file.contents);
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
  const zipped = gzipSync(contents, { level: 9 });
  zipped[9] = 255; // the field that says which system packed it
  write(name, contents);
  write(`${name}.gz`, zipped);
  const symbol = name === 'report.js' ? 'as_web_report_js' : `as_web_${name.split('.')[1]}`;
  source += `
INCLUDE(${symbol}_bytes, ${JSON.stringify(join(folder, name))});
INCLUDE(${symbol}_gzip, ${JSON.stringify(join(folder, `${name}.gz`))});
const as_web_file ${symbol} = {.bytes = ${symbol}_bytes, .size = ${contents.length}, .gzip = ${symbol}_gzip, .gzip_size = ${zipped.length},
    .sha256 = "${createHash('sha256').update(contents).digest('base64')}"};
`;
}
write('bundle.c', source);
