import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DOCS_GUARDS } from '../host/page-guards.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'

const FOLDER = new URL('../docs/', import.meta.url)

const FILES: { readonly [path: string]: readonly [name: string, kind: string] } = {
  docs: ['index.html', 'text/html'],
  'docs/docs.js': ['docs.js', 'text/javascript'],
  'docs/docs.css': ['docs.css', 'text/css'],
}

/** The page that lets a person read the API and try it; null for other paths. */
export function docsPage(ask: HttpRequest, segments: readonly string[]): HttpResponse | null {
  const path = segments.join('/')
  const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined
  if (!file) return null
  if (ask.method !== 'GET' && ask.method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' }, body: null }
  const [name, kind] = file
  const body = readFileSync(fileURLToPath(new URL(name, FOLDER)), 'utf8')
  return {
    status: 200,
    headers: { 'content-type': `${kind}; charset=utf-8`, ...DOCS_GUARDS, 'cache-control': 'no-cache' },
    body,
  }
}
