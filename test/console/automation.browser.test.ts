import { describe, expect, test } from 'vitest'
import { BROWSER } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const send = async (path: string, body: object = {}) => (await stage.host.request('POST', `/~acme${path}`, body)).body

describe.skipIf(BROWSER === null)('timers and workflows in the console', () => {
  test('an entity shows what is due next', async () => {
    const { $id } = await send('/Activity', { subject: 'Call', type: 'Call', reminderAt: '2099-01-01T00:00:00Z' })

    const { page } = await stage.enter(`Activity/${$id}`)

    const due = page.getByRole('region', { name: 'Due next' })
    await due.getByText('Remind').waitFor()
    expect(await due.locator('time').first().getAttribute('datetime')).toBe('2099-01-01T00:00:00.000Z')
  })

  test('a workflow shows its runs with their steps, and a failed one is retried', async () => {
    const steps = [{ verb: 'qualify', type: 'Contact', id: '$event.data.missing' }]
    const { $id } = await send('/Workflow', { name: 'w', triggerEvent: 'Lead.created', steps })
    await send(`/Workflow/${$id}/activate`)
    await send('/Lead', { name: 'Ada' })
    const failed = async () => (await stage.host.request('GET', `/~acme/Workflow/${$id}/runs?status=Failed`)).body.total
    await expect.poll(failed).toBe(1)

    const { page } = await stage.enter(`Workflow/${$id}`)
    const runs = page.getByRole('region', { name: 'Runs' })
    await runs.getByText('Lead.created').click()
    await runs.getByText('Contact.qualify', { exact: false }).first().waitFor()
    await runs.getByRole('button', { name: 'Retry' }).click()

    await page.getByText('It runs again.').waitFor()
    await expect.poll(failed).toBe(2)
  })

  test('a workflow is built, tried on a real event without a trace, and saved', async () => {
    const { $id } = await send('/Workflow', { name: 'A project for each deal' })
    const deal = await send('/Deal', { name: 'Roof', value: 5_000, stage: 'Negotiation' })
    await send(`/Deal/${deal.$id}/win`)
    const projects = async () => (await stage.host.request('GET', '/~acme/Project/count')).body.count
    const before = await projects()

    const { page } = await stage.enter(`Workflow/${$id}`)
    const editor = page.getByRole('form', { name: 'What it does' })
    await editor.getByLabel('When this event comes').fill('Deal.won')
    await editor.getByRole('button', { name: 'Add a step' }).click()
    await page.getByRole('menuitem', { name: 'Change an entry' }).click()
    await editor.getByLabel('Type').selectOption('Project')
    await editor.getByLabel('Action', { exact: true }).selectOption('create')
    await editor.getByRole('button', { name: 'Field' }).click()
    await editor.getByLabel('Field', { exact: true }).selectOption('name')
    await editor.getByLabel('Value of name').fill('$event.data.name')
    await editor.getByLabel('Try it on').waitFor()
    await editor.getByRole('button', { name: 'Try it without a trace' }).click()

    await editor.getByText('It would run, and succeed.').waitFor()
    expect(await editor.getByLabel('Events it would write').innerText()).toBe('Project.created Roof')
    expect(await projects()).toBe(before)
    await editor.getByRole('button', { name: 'Save the workflow' }).click()
    await page.getByText('A project for each deal saved.').waitFor()
    const { body } = await stage.host.request('GET', `/~acme/Workflow/${$id}`)
    expect(body).toMatchObject({
      triggerEvent: 'Deal.won',
      steps: [{ verb: 'create', type: 'Project', args: { name: '$event.data.name' } }],
    })
    expect(await editor.getByRole('button', { name: 'Save the workflow' }).isDisabled()).toBe(true)
  })

  test('a trial says when a filter does not fit the event, and which step is wrong', async () => {
    const steps = [{ verb: 'create', type: 'Project', args: { name: '$event.data.name' } }]
    const fields = { name: 'Large deals', triggerEvent: 'Deal.created', filter: { value: { $gte: 1_000_000 } }, steps }
    const { $id } = await send('/Workflow', fields)
    await send('/Deal', { name: 'Small', value: 1 })

    const { page } = await stage.enter(`Workflow/${$id}`)
    const editor = page.getByRole('form', { name: 'What it does' })
    await editor.getByRole('button', { name: 'Try it without a trace' }).click()
    await editor.getByText('It would not run for this event').waitFor()
    await editor.getByLabel('Action', { exact: true }).selectOption('complete')
    await editor.getByLabel('Of the entry').fill('$event.data.missing')
    await editor.getByRole('button', { name: 'Try it without a trace' }).click()

    await editor.locator('.attempts', { hasText: 'Failed' }).waitFor()
  })
})
