// A server with the built page and canned answers, for tests of the page alone.
import * as esbuild from 'esbuild';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const TYPES: Record<string, string> = {
  'index.html': 'text/html; charset=utf-8',
  'assay.js': 'text/javascript; charset=utf-8',
  'assay.css': 'text/css; charset=utf-8',
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const built = () => join(process.env['ASSAY_BUILD'] ?? 'build', 'web');

export interface Asked {
  method: string;
  /** "tree?d=0", without api/. */
  name: string;
  body: string;
}

/** What is answered: JSON, or a status with it. */
export type Answer = (asked: Asked) => unknown | { status: number; body: unknown };

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Bundles a script of web/test/ that shows parts of the page alone, with the styles it needs besides the page's. */
async function bundle(script: string): Promise<Record<string, Uint8Array>> {
  const web = process.env['ASSAY_WEB'] ?? '.';
  const made = await esbuild.build({
    absWorkingDir: web,
    entryPoints: [join(web, 'test', script)],
    outdir: 'out',
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2020',
    define: { IS_REPORT: 'false' },
  });
  const [js, css] = ['.js', '.css'].map(
    (end) => made.outputFiles.find((file) => file.path.endsWith(end))?.contents ?? new Uint8Array(),
  );
  return { 'assay.js': js!, 'assay.css': Buffer.concat([readFileSync(join(built(), 'assay.css')), css!]) };
}

/** Serves until use is done. script: a file of web/test/ instead of the page's own. */
export async function mock(answer: Answer, use: (url: string) => Promise<void>, script?: string): Promise<void> {
  const instead = script === undefined ? {} : await bundle(script);
  const server = createServer((request, response) => {
    void (async () => {
      const path = (request.url ?? '').replace(/^\/token\//, '');
      const headers = {
        'Content-Security-Policy': POLICY,
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-store',
      };
      const file = path === '' ? 'index.html' : path;
      if (TYPES[file]) {
        response.writeHead(200, { ...headers, 'Content-Type': TYPES[file] });
        response.end(instead[file] ?? readFileSync(join(built(), file)));
        return;
      }
      const made = path.startsWith('api/')
        ? await answer({ method: request.method ?? '', name: path.slice(4), body: await bodyOf(request) })
        : undefined;
      const refused = made as { status?: number; body?: unknown } | undefined;
      const status = made === undefined ? 404 : (refused?.status ?? 200);
      response.writeHead(status, { ...headers, 'Content-Type': 'application/json' });
      response.end(JSON.stringify(refused?.status ? refused.body : (made ?? { error: `no ${path}` })));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/token/`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
