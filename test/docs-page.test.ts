import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestHost, testHost } from './host.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

const HTML = { accept: 'text/html,application/xhtml+xml' }

test.each(['/docs', '/~acme/docs', '/crm/~acme/docs'])('%s is a page that needs no key to look at', async (path) => {
  const { status, headers, text } = await host.as('')('GET', path, undefined, HTML)

  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
  expect(text).toContain('<title>Tildebase: the API</title>')
})

test('the page loads its own files and nothing else, and holds no script itself', async () => {
  const { text } = await host.as('')('GET', '/docs', undefined, HTML)
  const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!)

  expect(links).toEqual(['/docs/docs.css', '/docs/docs.js'])
  expect(text).not.toMatch(/<script(?![^>]*src=)|\son\w+=|style=/)
  for (const link of links) expect((await host.as('')('GET', link)).status).toBe(200)
})

test('a program that asks for docs means a type of that name', async () => {
  expect((await host.as('')('GET', '/~acme/docs')).status).toBe(401)
  await host.request('PUT', '/~acme/schema/Doc', { title: 'string!' })
  await host.request('POST', '/~acme/docs', { title: 'Notes' })

  expect((await host.request('GET', '/~acme/docs')).body.total).toBe(1)
})

test('nothing can be sent to it', async () => {
  expect((await host.as('')('POST', '/docs', {})).status).toBe(405)
})
