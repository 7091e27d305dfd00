import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HttpRequest } from '../../doors/http.ts'
import { consolePages } from './console.ts'

const folder = mkdtempSync(join(tmpdir(), 'tildebase-pages-'))

beforeAll(() => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  writeFileSync(join(folder, 'assets', 'index-abc.js'), 'export {}')
  writeFileSync(join(folder, 'notes.txt'), 'not part of it')
})
afterAll(() => rmSync(folder, { recursive: true }))

function get(path: string, headers: HttpRequest['headers'] = {}, method = 'GET', from = folder) {
  const ask = { method, scheme: 'http', host: 'localhost', path, query: '', headers, body: null }
  return consolePages(from)(ask, path.split('/').filter(Boolean))
}

test.each(['/console', '/console/', '/console/index.html'])('%s is the page, asked for again every time', (path) => {
  const answer = get(path)

  expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-cache' } })
  expect(answer!.headers['content-type']).toBe('text/html; charset=utf-8')
})

test('an asset has a hash in its name and is kept permanently', () => {
  const { headers } = get('/console/assets/index-abc.js')!

  expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
  expect(headers['cache-control']).toContain('immutable')
})

test('a browser that has the current page gets 304', () => {
  const { etag } = get('/console')!.headers

  expect(get('/console', { 'if-none-match': etag! })).toMatchObject({ status: 304, body: null })
})

test('every page refuses scripts, styles and connections from elsewhere, and frames around it', () => {
  const policy = get('/console')!.headers['content-security-policy']!.split('; ')

  expect(policy).toContain("default-src 'none'")
  expect(policy.find((part) => part.startsWith('script-src'))).toMatch(/^script-src 'self' 'sha256-[\w+/]+=*'$/)
  expect(policy).toContain("style-src 'self'")
  expect(policy).toContain("connect-src 'self'")
  expect(policy).toContain("object-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
})

test.each([
  ['a file that was not built', '/console/nothing.js'],
  ['a file of another kind', '/console/notes.txt'],
  ['a way out of the folder', '/console/../package.json'],
  ['a name that objects have', '/console/constructor'],
  ['another path', '/elsewhere'],
])('%s is not there', (_, path) => {
  expect(get(path)).toBeNull()
})

test('only reading is possible', () => {
  expect(get('/console', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
})

test('a server whose console is not built says how to build it', () => {
  const answer = get('/console', {}, 'GET', join(folder, 'missing'))!

  expect(answer.status).toBe(503)
  expect(answer.body).toContain('npm run build:console')
})
