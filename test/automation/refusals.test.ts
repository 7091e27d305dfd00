import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

const step = { verb: 'create', type: 'Activity', args: { subject: 'x', type: 'Note' } }
const stored = (workflow: object) => app.request('POST', '/~acme/Workflow', { name: 'W', steps: [step], ...workflow })

describe('a workflow is refused when it is stored', () => {
  test.each([
    [
      'an event that the type does not have',
      { triggerEvent: 'Contact.creatd' },
      'triggerEvent',
      'did you mean created?',
    ],
    ['an event that no type has', { triggerEvent: '*.creatd' }, 'triggerEvent', 'no type has an event creatd'],
    [
      'an unknown part of the event',
      { triggerEvent: 'Contact.created', steps: [{ ...step, args: { subject: '$event.dta.$id' } }] },
      'steps.0',
      'an event has no dta; did you mean data?',
    ],
    [
      'an unknown meta-field of the event’s entity',
      { triggerEvent: 'Contact.created', steps: [{ ...step, args: { subject: '$event.data.$idd' } }] },
      'steps.0',
      'an entity has no $idd; did you mean $id?',
    ],
    ['a shortcut for a schedule', { schedule: '@daily' }, 'schedule', 'five or six fields, such as 0 0 * * *'],
    ['it with a time zone', { schedule: 'TZ=Europe/Berlin @Weekly' }, 'schedule', 'such as 0 0 * * 0'],
    ['one that no program knows', { schedule: '@often' }, 'schedule', '@often is not supported'],
    [
      'an unknown meta-field inside a text',
      {
        triggerEvent: 'Contact.created',
        steps: [{ request: { method: 'GET', url: 'https://example.org/$event.data.$idd' } }],
      },
      'steps.0',
      'an entity has no $idd; did you mean $id?',
    ],
    ['code that cannot be read', { steps: [{ code: '(event, $) => { ' }] }, 'steps.0', 'the code must be a function'],
    ['code that is no function', { steps: [step, { code: '1 + 1' }] }, 'steps.1', 'the code must be a function'],
  ])('for %s', async (_, workflow, field, message) => {
    const { status, body } = await stored(workflow)

    expect([status, body.error]).toEqual([422, 'validation_error'])
    expect(body.details).toEqual([{ field, message: expect.stringContaining(message) }])
  })

  test('and a good one is changed to no bad one', async () => {
    const { body: workflow } = await stored({
      triggerEvent: 'Contact.created',
      steps: [{ code: '(event) => event.type' }],
    })

    const { status } = await app.request('PUT', `/~acme/Workflow/${workflow.$id}`, { steps: [{ code: '(event' }] })

    expect(status).toBe(422)
    const { body } = await app.request('GET', `/~acme/Workflow/${workflow.$id}`)
    expect(body.steps).toEqual([{ code: '(event) => event.type' }])
  })
})

test.each([
  'Changeset.proposed',
  'Changeset.expired',
  'Workflow.failed',
  'Goal.achieved',
  'ApiKey.expired',
  'Later.done',
])('a webhook and a workflow take %s', async (event) => {
  const webhook = await app.request('POST', '/~acme/Webhook', { url: 'https://example.org/', events: [event] })
  const workflow = await stored({ triggerEvent: event })

  expect([webhook.status, workflow.status]).toEqual([201, 201])
})

test.each(['Changeset.created', 'Contact.rotated', 'Contact.achieved'])(
  'a webhook on %s, which no type emits, is refused',
  async (event) => {
    const { status, body } = await app.request('POST', '/~acme/Webhook', {
      url: 'https://example.org/',
      events: [event],
    })

    expect([status, body.details[0].field]).toEqual([422, 'events'])
  },
)

test('an integration with a shortcut for a schedule is refused when it is stored', async () => {
  const fields = { name: 'I', provider: 'hubspot' }
  const refused = await app.request('POST', '/~acme/Integration', { ...fields, schedule: '@hourly' })
  const { body } = await app.request('POST', '/~acme/Integration', { ...fields, schedule: '0 * * * *' })
  const changed = await app.request('PUT', `/~acme/Integration/${body.$id}`, { schedule: '@hourly' })

  for (const { status, body } of [refused, changed])
    expect([status, body.field, body.message]).toEqual([422, 'schedule', expect.stringContaining('such as 0 * * * *')])
})
