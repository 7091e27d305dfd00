import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'

const NONE = '{"results": []}'
const DEEP = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
const mapping = { contacts: { type: 'Contact', fields: { firstname: 'name' } } }

let host: TestHost
let asked = 0
let answer = NONE
const server = createServer((_, response) => {
  asked++
  response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(answer)
})

beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
})
afterAll(async () => {
  await host.stop()
  await new Promise((done) => server.close(done))
})

test.each([
  ['pages without end', '{"results": [], "paging": {"next": {"after": "1"}}}', /20 pages/],
  ['a list of other things', '{"results": [null, 5]}', /without a list of records/],
  ['records that are nested too deeply', `{"results": [${DEEP}]}`, /nested too deeply/],
])('a provider that answers with %s is named in the preview', async (_, given, reason) => {
  const tenant = `hostile-${asked}`
  const apiBaseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  answer = NONE
  const fields = { name: 'Hub', provider: 'hubspot', apiBaseUrl, mapping }
  const { body: integration } = await host.request('POST', `/~${tenant}/Integration`, fields)
  const at = `/~${tenant}/Integration/${integration.$id}`
  await host.request('POST', `${at}/connect`, { credentials: { token: 'pat-eu1-1234' } })

  answer = given
  const before = asked
  const { status, body } = await host.request('POST', `${at}/preview`)

  expect(status).toBe(200)
  expect(body.objects).toEqual([
    { object: 'contacts', type: 'Contact', records: [], error: expect.stringMatching(reason) },
  ])
  expect(asked - before).toBeLessThanOrEqual(20)
})
