import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join, sep } from 'node:path'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { CONSOLE_GUARDS } from '../../host/page-guards.ts'

const DIST = join(dirname(createRequire(import.meta.url).resolve('@tildebase/console/package.json')), 'dist')

const KINDS: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

interface File {
  readonly bytes: Uint8Array
  readonly headers: HttpResponse['headers']
}

/** Serves the console below `/console` from its built files, which are read once. */
export function consolePages(folder = DIST): (ask: HttpRequest, segments: readonly string[]) => HttpResponse | null {
  let files: ReadonlyMap<string, File> | null = null
  return (ask, segments) => {
    if (segments[0] !== 'console') return null
    if (ask.method !== 'GET' && ask.method !== 'HEAD')
      return { status: 405, headers: { allow: 'GET, HEAD' }, body: null }
    files ??= readFiles(folder)
    if (files === null) return unbuilt()
    const file = files.get(segments.slice(1).join('/') || 'index.html')
    if (!file) return null
    if (ask.headers['if-none-match'] === file.headers.etag) return { status: 304, headers: file.headers, body: null }
    return { status: 200, headers: file.headers, body: file.bytes }
  }
}

/** Every file by its path, or null when the console was not built. */
function readFiles(folder: string): ReadonlyMap<string, File> | null {
  let names: string[]
  try {
    names = readdirSync(folder, { recursive: true }) as string[]
  } catch {
    return null
  }
  const known = names.filter((name) => extname(name) in KINDS)
  return new Map(known.map((name) => [name.split(sep).join('/'), readFile(folder, name)]))
}

function readFile(folder: string, name: string): File {
  const bytes = readFileSync(join(folder, name))
  // The names of assets hold a hash of what is in them; the others keep their name when they change.
  const lasting = name.startsWith('assets')
  return {
    bytes,
    headers: {
      'content-type': KINDS[extname(name)]!,
      etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
      'cache-control': lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...CONSOLE_GUARDS,
    },
  }
}

function unbuilt(): HttpResponse {
  return {
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...CONSOLE_GUARDS },
    body: 'The console is not built. Run "npm run build:console" in the repository, then load this page again.\n',
  }
}
