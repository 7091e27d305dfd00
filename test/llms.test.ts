import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from './host.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
  await host.request('PUT', '/~acme/schema/Boat', { name: 'string!', crew: '-> Contact[]', sail: { args: ['wind'] } })
  await host.request('PUT', '/~acme/schema/Vault', { $domain: 'secrets', combination: 'string!' })
})
afterAll(() => host.stop())

/** The names of the types that a string describes. */
const typesIn = (text: string) => [...text.matchAll(/^- (\w+): /gm)].map(([, name]) => name!)

describe('llms.txt of a tenant', () => {
  test('describes its own types first, with fields, relations and verbs', async () => {
    const { status, headers, text } = await host.request('GET', '/~acme/llms.txt')

    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(text).toMatch(/^# Tildebase: acme\n\n> /)
    expect(text).toContain('- Boat: name*, crew>Contact[]; verbs sail(wind)\n')
    expect(typesIn(text)[0]).toBe('Boat')
    expect(text).toContain(`${host.url}/~acme/openapi.json`)
  })

  test('names every operator of filters', async () => {
    const { text } = await host.request('GET', '/~acme/llms.txt')

    for (const operator of ['$eq', '$nin', '$regex', '$not', '$and', '$or', '$text']) expect(text).toContain(operator)
  })

  test('describes to a key only what it may read, and says what it may not write', async () => {
    const narrow = host.as(await host.key('acme', 'read:crm,write:Boat'))

    const { text } = await narrow('GET', '/~acme/llms.txt')

    expect(typesIn(text).toSorted()).toEqual([
      'Activity',
      'Boat',
      'Changeset',
      'Comment',
      'Contact',
      'Deal',
      'Lead',
      'Organization',
      'Pipeline',
    ])
    expect(text).not.toMatch(/Vault|combination|Invoice/)
    expect(text).toContain('It may not write Activity')
    expect(text).not.toMatch(/may not write[^.]*Boat/)
  })

  test('shows the types of a lens', async () => {
    const { text } = await host.request('GET', '/billing/~acme/llms.txt')

    expect(typesIn(text)).toContain('Invoice')
    expect(typesIn(text)).not.toContain('Deal')
  })

  test('needs a key', async () => {
    expect((await host.as('')('GET', '/~acme/llms.txt')).status).toBe(401)
  })
})

test('llms.txt of the service needs no key and names no tenant', async () => {
  const { status, text } = await host.as('')('GET', '/llms.txt')

  expect(status).toBe(200)
  expect(text).toContain(`${host.url}/~{tenant}/llms.txt`)
  expect(typesIn(text)).toContain('Contact')
  expect(text).not.toMatch(/acme|Boat|Vault/)
  expect((await host.as('')('POST', '/llms.txt', {})).status).toBe(405)
})
