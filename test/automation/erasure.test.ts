import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({})
})
afterAll(() => app.stop())

const at = (path: string) => `/~erasing/${path}`
const get = async (path: string) => (await app.request('GET', at(path))).body

/** A workflow that runs for new Leads and is now waiting in its first step for one of them. */
async function waiting(step: object, lead: object) {
  const { body: workflow } = await app.request('POST', at('Workflow'), {
    name: 'w',
    triggerEvent: 'Lead.created',
    filter: { name: 'Jane Roe' },
    steps: [step, { verb: 'create', type: 'Activity', args: { subject: 'After the wait' } }],
  })
  await app.request('POST', at(`Workflow/${workflow.$id}/activate`))
  const { body } = await app.request('POST', at('Lead'), { name: 'Jane Roe', ...lead })
  const runs = async () => (await get(`Workflow/${workflow.$id}/runs`)).results
  await expect.poll(async () => (await runs())[0]?.status, { timeout: 20_000 }).toBe('Waiting')
  return { lead: body.$id, workflow: workflow.$id, run: async () => (await runs())[0] }
}

test('an erasure cancels what waits for an event of the entity, and leaves no value of it there', async () => {
  const { lead, workflow, run } = await waiting({ ask: { of: 'role:Admin', title: '$event.data.name' } }, {})
  const asks = async () => (await get('asks')).results
  await expect.poll(async () => (await asks()).length).toBe(1)
  const [asked] = await asks()

  await app.request('POST', at(`Lead/${lead}/erase`), {})

  await expect.poll(async () => (await run()).status, { timeout: 20_000 }).toBe('Cancelled')
  const shown = [await get(`asks/${asked.id}`), await get(`Workflow/${workflow}/runs/${(await run()).id}`)]
  expect(asked.title).toBe('Jane Roe')
  expect(JSON.stringify(shown)).not.toContain('Jane Roe')
  expect((await get('Activity/count')).count).toBe(0)
})

test('a run that waits for an entity that is erased fails, and does not wait permanently', async () => {
  const { body: contact } = await app.request('POST', at('Contact'), { name: 'Ada' })
  const step = { waitFor: 'Contact.updated', filter: { $id: '$event.data.contact' }, timeout: '5s' }
  const { workflow, run } = await waiting(step, { contact: contact.$id })
  const begun = async () => (await get(`Workflow/${workflow}/runs/${(await run()).id}`)).steps[0]?.status
  await expect.poll(begun).toBe('Waiting')

  await app.request('POST', at(`Contact/${contact.$id}/erase`), {})

  await expect.poll(async () => (await run()).status, { timeout: 20_000 }).toBe('Failed')
  expect((await run()).error).toContain('erased')
})
