// usage: node web/check-size.mjs FOLDER    fails where the page, as it is sent, is larger than it may be
import { statSync } from 'node:fs';
import { join } from 'node:path';

const MOST = 120_000;
const size = (name) => statSync(join(process.argv[2], `${name}.gz`)).size;
const totals = ['assay.js', 'report.js'].map((script) => {
  const total = size(script) + size('assay.css');
  console.log(`${script} ${size(script)} + assay.css ${size('assay.css')} = ${total} bytes packed, of at most ${MOST}`);
  return total;
});
process.exit(Math.max(...totals) > MOST ? 1 : 0);
