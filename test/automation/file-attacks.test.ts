import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashOf, send as sendBytes } from '../content/content.ts'
import { type TestApp, testApp } from '../host.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({})
  await app.request('PUT', at('schema/Lead'), { contract: 'file' })
})
afterAll(() => app.stop())

const at = (path: string) => `/~copied/${path}`

/** A workflow of the operator that copies a value of an event into the file of an Asset. */
async function copier(value: unknown) {
  const { body } = await app.request('POST', at('Workflow'), {
    name: 'copy',
    triggerEvent: 'Lead.updated',
    steps: [{ verb: 'create', type: 'Asset', args: { name: 'copy', file: value } }],
  })
  await app.request('POST', at(`Workflow/${body.$id}/activate`))
  return async () => {
    const run = async () => (await app.request('GET', at(`Workflow/${body.$id}/runs`))).body.results[0]
    await expect.poll(async () => (await run())?.endedAt ?? null, { timeout: 20_000 }).not.toBeNull()
    await app.request('POST', at(`Workflow/${body.$id}/pause`))
    return run()
  }
}

test.each([
  ['in other data', '$event.data.attachment', (hash: string) => ({ hash })],
  ['in parts', { hash: 'sha256:$event.data.attachment' }, (hash: string) => hash.slice('sha256:'.length)],
])('a hash %s of an event is not a file: its writer may not read the content', async (_, value, attached) => {
  const { body: asset } = await app.request('POST', at('Asset'), { name: 'hidden' })
  await sendBytes(app, 'POST', at(`Asset/${asset.$id}/file`), 'top secret')
  const { body: lead } = await app.request('POST', at('Lead'), { name: 'Ada' })
  const send = app.as(await app.key('copied', 'write:Lead'))
  const ended = await copier(value)

  await send('PUT', at(`Lead/${lead.$id}`), { attachment: attached(hashOf('top secret')) })

  const { status, error } = await ended()
  expect([status, error]).toEqual(['Failed', expect.stringContaining('there is no content')])
  expect((await app.request('GET', at('Asset/count?name=copy'))).body.count).toBe(0)
})

test('a file of the entity of an event is copied', async () => {
  const { body: lead } = await app.request('POST', at('Lead'), { name: 'Bob' })
  const ended = await copier('$event.data.contract')

  await sendBytes(app, 'POST', at(`Lead/${lead.$id}/contract`), 'the contract')

  expect((await ended()).status).toBe('Succeeded')
  const { results } = (await app.request('GET', at('Asset?name=copy'))).body
  expect(results.map(({ file }: any) => file.hash)).toEqual([hashOf('the contract')])
})
