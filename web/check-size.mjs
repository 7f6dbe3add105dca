// usage: node web/check-size.mjs FOLDER    fails where the page, as it is sent, is larger than it may be
import { statSync } from 'node:fs';
import { join } from 'node:path';

const MOST = 120_000;
const sizes = ['assay.js.gz', 'assay.css.gz'].map((name) => statSync(join(process.argv[2], name)).size);
const total = sizes.reduce((sum, size) => sum + size, 0);
console.log(`assay.js ${sizes[0]} + assay.css ${sizes[1]} = ${total} bytes packed, of at most ${MOST}`);
process.exit(total > MOST ? 1 : 0);
