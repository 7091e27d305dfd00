import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { DOCS_GUARDS } from '../host/page-guards.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'

const FOLDER = new URL('../docs/', import.meta.url)

/** The files of the page by their path. Swagger UI is kept compressed, as it is sent. */
const FILES: { readonly [path: string]: readonly [name: string, kind: string] } = {
  docs: ['index.html', 'text/html'],
  'docs/docs.js': ['docs.js', 'text/javascript'],
  'docs/part.js': ['part.js', 'text/javascript'],
  'docs/docs.css': ['docs.css', 'text/css'],
  'docs/swagger-ui.js': ['swagger-ui/swagger-ui-bundle.js.gz', 'text/javascript'],
  'docs/swagger-ui.css': ['swagger-ui/swagger-ui.css.gz', 'text/css'],
}

interface File {
  readonly bytes: Uint8Array
  readonly packed: boolean
  readonly headers: HttpResponse['headers']
}

const read = new Map<string, File>()

/** The page that lets a person read the API and try it; null for other paths. */
export function docsPage(ask: HttpRequest, segments: readonly string[]): HttpResponse | null {
  const path = segments.join('/')
  if (!Object.hasOwn(FILES, path)) return null
  if (ask.method !== 'GET' && ask.method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' }, body: null }
  const file = read.get(path) ?? readFile(path)
  if (ask.headers['if-none-match'] === file.headers.etag) return { status: 304, headers: file.headers, body: null }
  if (!file.packed) return { status: 200, headers: file.headers, body: file.bytes }
  if (/\bgzip\b/.test(ask.headers['accept-encoding'] ?? ''))
    return { status: 200, headers: { ...file.headers, 'content-encoding': 'gzip' }, body: file.bytes }
  return { status: 200, headers: file.headers, body: gunzipSync(file.bytes) }
}

function readFile(path: string): File {
  const [name, kind] = FILES[path]!
  const bytes = readFileSync(fileURLToPath(new URL(name, FOLDER)))
  const headers = {
    'content-type': `${kind}; charset=utf-8`,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    ...DOCS_GUARDS,
    'cache-control': 'no-cache',
  }
  const file = { bytes, packed: name.endsWith('.gz'), headers }
  read.set(path, file)
  return file
}
