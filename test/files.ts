import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

/** A folder of files on a free port. */
export interface Files {
  readonly url: string
  close(): Promise<void>
}

const KINDS: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Serves a folder as any server of files does. */
export async function serveFiles(folder: string): Promise<Files> {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = normalize(decodeURIComponent(new URL(url, 'http://files').pathname)).replace(/\/$/, '/index.html')
    const bytes = await readFile(join(folder, path)).catch(() => null)
    response.writeHead(bytes ? 200 : 404, { 'content-type': KINDS[extname(path)] ?? 'text/plain' }).end(bytes)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((done) => server.close(() => done())),
  }
}
