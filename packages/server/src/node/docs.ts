import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { HttpRequest, HttpResponse } from '../http.ts'

const FOLDER = new URL('../docs/', import.meta.url)

const FILES: { readonly [path: string]: readonly [name: string, kind: string] } = {
  docs: ['index.html', 'text/html'],
  'docs/docs.js': ['docs.js', 'text/javascript'],
  'docs/docs.css': ['docs.css', 'text/css'],
}

/** Nothing from elsewhere, nothing written into the page, nobody around it. */
const GUARDS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** The page that lets a person read the API and try it; null for other paths. */
export function docsPage(ask: HttpRequest, segments: readonly string[]): HttpResponse | null {
  const path = segments.join('/')
  const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined
  if (!file) return null
  if (ask.method !== 'GET' && ask.method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' }, body: null }
  const [name, kind] = file
  const body = readFileSync(fileURLToPath(new URL(name, FOLDER)), 'utf8')
  return { status: 200, headers: { 'content-type': `${kind}; charset=utf-8`, ...GUARDS }, body }
}
