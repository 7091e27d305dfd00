import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, type Tab } from './browser.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
let tab: Tab | null = null

const send = async (path: string, body: object = {}) => (await stage.host.request('POST', `/~acme${path}`, body)).body

describe.skipIf(BROWSER === null)('what a tenant does by itself, in the console', () => {
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage?.stop())
  afterEach(async () => {
    const faults = tab?.faults ?? []
    await tab?.page.close()
    tab = null
    expect(faults).toEqual([])
  })

  test('an entity shows what is due next', async () => {
    const { $id } = await send('/Activity', { subject: 'Call', type: 'Call', reminderAt: '2099-01-01T00:00:00Z' })

    tab = await stage.enter(`Activity/${$id}`)

    const due = tab.page.getByRole('region', { name: 'Due next' })
    await due.getByText('Remind').waitFor()
    expect(await due.locator('time').first().getAttribute('datetime')).toBe('2099-01-01T00:00:00.000Z')
  })

  test('a workflow shows its runs with their steps, and a failed one is retried', async () => {
    const steps = [{ verb: 'qualify', type: 'Contact', id: '$event.data.nobody' }]
    const { $id } = await send('/Workflow', { name: 'w', triggerEvent: 'Lead.created', steps })
    await send(`/Workflow/${$id}/activate`)
    await send('/Lead', { name: 'Ada' })
    const failed = async () => (await stage.host.request('GET', `/~acme/Workflow/${$id}/runs?status=Failed`)).body.total
    await expect.poll(failed, { timeout: 20_000 }).toBe(1)

    tab = await stage.enter(`Workflow/${$id}`)
    const runs = tab.page.getByRole('region', { name: 'Runs' })
    await runs.getByText('Lead.created').click()
    await runs.getByText('Contact.qualify', { exact: false }).first().waitFor()
    await runs.getByRole('button', { name: 'Retry' }).click()

    await tab.page.getByText('It runs again.').waitFor()
    await expect.poll(failed, { timeout: 20_000 }).toBe(2)
  })
})
