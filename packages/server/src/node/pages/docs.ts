import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { DOCS_GUARDS } from '../../host/page-guards.ts'

const PACKAGE = import.meta.resolve('@tildebase/server/package.json')
const PAGE = new URL('src/doors/docs/', PACKAGE)
/** Made at the installation from the package of Swagger UI, compressed as it is sent. */
const VIEWER = new URL('dist/viewer/', PACKAGE)

/** The files of the page by their path. */
const FILES: { readonly [path: string]: readonly [file: URL, kind: string] } = {
  docs: [new URL('index.html', PAGE), 'text/html'],
  'docs/docs.js': [new URL('docs.js', PAGE), 'text/javascript'],
  'docs/part.js': [new URL('part.js', PAGE), 'text/javascript'],
  'docs/docs.css': [new URL('docs.css', PAGE), 'text/css'],
  'docs/swagger-ui.js': [new URL('swagger-ui.js.gz', VIEWER), 'text/javascript'],
  'docs/swagger-ui.css': [new URL('swagger-ui.css.gz', VIEWER), 'text/css'],
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
  const [source, kind] = FILES[path]!
  const bytes = readFileSync(source)
  const headers = {
    'content-type': `${kind}; charset=utf-8`,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    ...DOCS_GUARDS,
    'cache-control': 'no-cache',
  }
  const file = { bytes, packed: source.pathname.endsWith('.gz'), headers }
  read.set(path, file)
  return file
}
