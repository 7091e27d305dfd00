import { expect, test } from 'vitest'
import { targetOf } from './target.ts'

const at = (path: string, host = 'localhost:8787', suffix = 'localhost', scheme = 'http') =>
  targetOf(scheme, host, path, suffix)
const refusal = (code: string) => expect.objectContaining({ code })

test.each([
  ['a tenant and a path below it', '/~acme/Contact/contact_1', 'acme', [], ['Contact', 'contact_1']],
  ['a tenant alone', '/~acme', 'acme', [], []],
  ['a slash at the end, which says nothing', '/~acme/Contact/', 'acme', [], ['Contact']],
  ['no tenant', '/health', null, [], ['health']],
  ['nothing', '/', null, [], []],
  ['a lens before the tenant', '/sales/eu/~acme/Contact', 'acme', ['sales', 'eu'], ['Contact']],
  ['a tilde that is escaped', '/%7Eacme/Contact', 'acme', [], ['Contact']],
  ['a second tilde, which is part of the path', '/~acme/~globex', 'acme', [], ['~globex']],
  ['escapes', '/~acme/Contact/%C3%A9%20x', 'acme', [], ['Contact', 'é x']],
])('a path has %s', (_, path, tenant, dimensions, segments) => {
  expect(at(path)).toMatchObject({ tenant, dimensions, segments })
})

test.each([
  ['the base host', 'example.com', 'example.com', [], 'https://example.com'],
  ['a port', 'example.com:8443', 'example.com', [], 'https://example.com:8443'],
  [
    'labels, which are the lens',
    'sales.eu.example.com:8443',
    'example.com',
    ['sales', 'eu'],
    'https://example.com:8443',
  ],
  ['labels that say nothing', 'www.sales.api.example.com', 'example.com', ['sales'], 'https://example.com'],
  ['capitals', 'SALES.Example.COM', 'example.com', ['sales'], 'https://example.com'],
  ['another name, which has no labels', 'sales.other.com', 'example.com', [], 'https://sales.other.com'],
  ['a name that only ends alike', 'badexample.com', 'example.com', [], 'https://badexample.com'],
  ['a dot at the end', 'sales.example.com.:8443', 'example.com', ['sales'], 'https://example.com:8443'],
  ['an IPv6 address', '[::1]:8787', 'example.com', [], 'https://[::1]:8787'],
  ['nothing', '', 'example.com', [], 'https://example.com'],
])('a host has %s', (_, host, suffix, dimensions, baseUrl) => {
  expect(at('/~acme', host, suffix, 'https')).toMatchObject({ dimensions, baseUrl })
})

test('the scheme is that of the request, also when the host is that of the one before', () => {
  expect(at('/', 'a.example', 'a.example', 'http').baseUrl).toBe('http://a.example')
  expect(at('/', 'a.example', 'a.example', 'https').baseUrl).toBe('https://a.example')
})

test.each([
  ['a slug with a capital', '/~Acme', 'invalid_tenant'],
  ['a slug that ends in a hyphen', '/~acme-', 'invalid_tenant'],
  ['a slug of 64 letters', `/~${'a'.repeat(64)}`, 'invalid_tenant'],
  ['an empty slug', '/~/Contact', 'invalid_tenant'],
  ['a way out', '/~../etc', 'invalid_tenant'],
  ['an escaped slash', '/~acme/Contact/a%2Fb', 'invalid_path'],
  ['an escaped null character', '/~acme/Contact/a%00b', 'invalid_path'],
  ['a malformed escape', '/~acme/Contact/%zz', 'invalid_path'],
  ['more than 4096 characters', `/~acme/${'a'.repeat(4_090)}`, 'invalid_path'],
])('a path with %s is refused', (_, path, code) => {
  expect(() => at(path)).toThrow(refusal(code))
})

test('a path of 4096 characters and a slug of 63 letters are not refused', () => {
  expect(at(`/~acme/${'a'.repeat(4_089)}`).tenant).toBe('acme')
  expect(at(`/~${'a'.repeat(63)}`).tenant).toHaveLength(63)
})

test.each(['a b', 'a/b', 'a@b', 'exa\u0000mple', 'a'.repeat(256), 'a:b', '[::1', 'a:123456'])(
  'the host %j is refused',
  (host) => {
    expect(() => at('/~acme', host)).toThrow(refusal('invalid_path'))
  },
)
