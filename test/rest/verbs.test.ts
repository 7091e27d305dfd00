import { afterAll, beforeAll, describe, expect } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { EMPTY_HEADER, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
const sent = (...args: Parameters<TestApp['request']>) => host.request(...args)

beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

async function made(type: string, fields: object) {
  const { body } = await sent('POST', `/~acme/${type}`, fields)
  return body.$id as string
}

async function eventsOf(type: string, id: string): Promise<string[]> {
  const { body } = await sent('GET', `/~acme/${type}/${id}/history`)
  return body.results.map((version: any) => version.event).reverse()
}

/** The arguments in the events of an entity, oldest first. */
async function argsOf(type: string, id: string): Promise<unknown[]> {
  const { body } = await sent('GET', `/~acme/${type}/${id}/history`)
  return body.results.map((version: any) => version.args).reverse()
}

describe('a custom verb', () => {
  verifies(
    ['rest.verb', 'verb.answer', 'verb.event', 'verb.declared', 'log.every'],
    'answers the entity after it and writes its event',
    async () => {
      const id = await made('Contact', { name: 'Ada' })

      const { status, body } = await sent('POST', `/~acme/Contact/${id}/qualify`)

      expect([status, body.stage, body.$version]).toEqual([200, 'Qualified', 2])
      expect(await eventsOf('Contact', id)).toEqual(['created', 'qualified'])
    },
  )

  verifies('verb.from', 'refuses a state that it does not start from, and writes nothing', async () => {
    const id = await made('Contact', { name: 'Ada', stage: 'Customer' })

    const { status, body } = await sent('POST', `/~acme/Contact/${id}/qualify`)

    expect([status, body.error, body.field]).toEqual([409, 'invalid_transition', 'stage'])
    expect(await eventsOf('Contact', id)).toEqual(['created'])
  })

  verifies(
    ['verb.arguments', 'verb.set', 'verb.set.now', 'verb.set.args'],
    'merges its arguments, then sets what it declares',
    async () => {
      const id = await made('Deal', { name: 'D', value: 5 })

      const { body } = await sent('POST', `/~acme/Deal/${id}/lose`, { lostReason: 'price', stage: 'Won', note: 'n' })

      expect(body).toMatchObject({ stage: 'Lost', lostReason: 'price', note: 'n' })
      expect(body.actualCloseDate).toBe(body.$updatedAt.slice(0, 10))
    },
  )

  verifies(['verb.set.next', 'verb.set.next.deal'], 'moves a Deal on, stage by stage', async () => {
    const id = await made('Deal', { name: 'D' })
    const stages: string[] = []

    for (let i = 0; i < 4; i++) stages.push((await sent('POST', `/~acme/Deal/${id}/advance`)).body.stage)
    const end = await sent('POST', `/~acme/Deal/${id}/advance`)

    expect(stages).toEqual(['Qualification', 'Proposal', 'Negotiation', 'Won'])
    expect(end.status).toBe(409)
  })

  verifies('verb.set.computed', 'computes what its type knows how to', async () => {
    const form = await made('Form', { name: 'F', status: 'Published' })
    await sent('POST', `/~acme/Form/${form}/submit`)

    const { body } = await sent('POST', `/~acme/Form/${form}/submit`)

    expect(body.submissionCount).toBe(2)
  })

  verifies('verb.keeps', 'can keep its arguments for its event and change no field by them', async () => {
    const id = await made('Agent', { name: 'Scout' })

    const { body } = await sent('POST', `/~acme/Agent/${id}/ask`, { message: 'Who?', name: 'Joe', $odd: [1] })

    expect([body.name, body.message, body.$version]).toEqual(['Scout', undefined, 2])
    expect(await argsOf('Agent', id)).toEqual([null, { message: 'Who?', name: 'Joe', $odd: [1] }])
  })

  verifies('verb.args', 'writes its arguments into its event, and secrets never', async () => {
    const id = await made('Deal', { name: 'D' })
    await sent('POST', `/~acme/Deal/${id}/lose`, { lostReason: 'price' })
    await sent('POST', `/~acme/Deal/${id}/update`, { name: 'E' })
    await sent('POST', `/~acme/Deal/${id}/rollback`, { version: 1 })
    await sent('POST', `/~acme/Deal/${id}/win`)
    const hook = await made('Webhook', { url: 'https://example.com/', events: ['*'] })

    await sent('PUT', `/~acme/Webhook/${hook}`, { secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0', description: 'd' })

    expect(await argsOf('Deal', id)).toEqual([null, { lostReason: 'price' }, { name: 'E' }, { version: 1 }, null])
    const { body } = await sent('GET', '/~acme/events?type=Deal.lost')
    expect(body.results.find((event: any) => event.entityId === id).args).toEqual({ lostReason: 'price' })
    const { body: log } = await sent('GET', '/~acme/events?type=Webhook.updated')
    expect(JSON.stringify(log)).not.toContain('whsec')
  })

  verifies('verb.custom.version', 'raises the version even when no field changes', async () => {
    const id = await made('Contact', { name: 'Ada' })

    const { body } = await sent('POST', `/~acme/Contact/${id}/enrich`)

    expect(body.$version).toBe(2)
    expect(await eventsOf('Contact', id)).toEqual(['created', 'enriched'])
  })

  verifies(
    ['verb.unknown', 'type.unknown', 'method.wrong'],
    'that is not there is answered with those that are',
    async () => {
      const id = await made('Contact', { name: 'Ada' })

      const verb = await sent('POST', `/~acme/Contact/${id}/qualfy`)
      const type = await sent('GET', '/~acme/Contcat')
      const method = await sent('DELETE', '/~acme/Contact')

      expect([verb.status, verb.body.error]).toEqual([404, 'unknown_verb'])
      expect(verb.body.message).toContain('qualify')
      expect([type.status, type.body.error]).toEqual([404, 'unknown_type'])
      expect(type.body.message).toContain('Contact')
      expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET, POST'])
    },
  )
})

describe('built-in verbs', () => {
  verifies(['verb.builtin', 'verb.update.path', 'verb.delete.path'], 'are reachable as verbs', async () => {
    const id = await made('Contact', { name: 'Ada' })

    const update = await sent('POST', `/~acme/Contact/${id}/update`, { phone: '1' })
    const remove = await sent('POST', `/~acme/Contact/${id}/delete`)

    expect([update.status, update.body.phone]).toEqual([200, '1'])
    expect([remove.status, remove.text]).toEqual([204, ''])
  })

  verifies(
    ['verb.rollback', 'verb.rollback.event', 'verb.everyType'],
    'rollback writes a new version equal to the old state',
    async () => {
      const id = await made('Ticket', { subject: 'S', tags: 'a' })
      const { body: old } = await sent('GET', `/~acme/Ticket/${id}`)
      await nextMillisecond()
      await sent('PUT', `/~acme/Ticket/${id}`, { subject: 'T', tags: null, priority: 'High' })

      const { body } = await sent('POST', `/~acme/Ticket/${id}/rollback`, { asOf: old.$updatedAt })
      const wrong = await sent('POST', `/~acme/Ticket/${id}/rollback`, { asOf: 'yesterday-ish' })

      expect(body).toMatchObject({ $version: 3, subject: 'S', tags: 'a' })
      expect(body).not.toHaveProperty('priority')
      expect(await eventsOf('Ticket', id)).toEqual(['created', 'updated', 'updated'])
      expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_as_of'])
    },
  )

  verifies(['verb.restore', 'verb.restore.event'], 'restore brings back what was deleted', async () => {
    const id = await made('Contact', { name: 'Ada', email: 'back@example.org' })
    const early = await sent('POST', `/~acme/Contact/${id}/restore`)
    await sent('DELETE', `/~acme/Contact/${id}`)

    const { status, body } = await sent('POST', `/~acme/Contact/${id}/restore`)
    const found = await sent('GET', '/~acme/Contact?email=back@example.org')

    expect(early.status).toBe(409)
    expect([status, body.$version, body.name]).toEqual([200, 3, 'Ada'])
    expect(found.body.total).toBe(1)
    expect(await eventsOf('Contact', id)).toEqual(['created', 'deleted', 'restored'])
  })

  verifies(['error.event.modify'], 'do not change an Event', async () => {
    const { body } = await sent('POST', '/~acme/Event', { name: 'pageview', type: 'page' })

    const answers = [
      await sent('PUT', `/~acme/Event/${body.$id}`, { name: 'x' }),
      await sent('DELETE', `/~acme/Event/${body.$id}`),
      await sent('POST', `/~acme/Event/${body.$id}/update`, { name: 'x' }),
    ]

    expect(answers.map(({ status, headers }) => [status, headers.get('allow')])).toEqual([
      [405, 'GET'],
      [405, 'GET'],
      [405, EMPTY_HEADER],
    ])
  })

  verifies('method.wrong', 'say what is possible where a type of one’s own has no such verb', async () => {
    await sent('PUT', '/~acme/schema/Receipt', { number: 'string!', update: null })
    await sent('PUT', '/~acme/schema/Ledger', { name: 'string!', delete: null })
    const receipt = `/~acme/Receipt/${await made('Receipt', { number: '1' })}`
    const ledger = `/~acme/Ledger/${await made('Ledger', { name: 'main' })}`

    const answers = [
      await sent('PUT', receipt, { number: '2' }),
      await sent('PATCH', receipt, { number: '2' }),
      await sent('DELETE', ledger),
      await sent('POST', `${ledger}/delete`),
    ]
    const create = await sent('POST', `${ledger}/create`)
    const field = await sent('DELETE', `${ledger}/file`)

    expect(answers.map(({ status, headers }) => [status, headers.get('allow')])).toEqual([
      [405, 'GET, DELETE'],
      [405, 'GET, DELETE'],
      [405, 'GET, PUT, PATCH'],
      [405, EMPTY_HEADER],
    ])
    expect([create.status, create.body.error, create.headers.get('allow')]).toEqual([404, 'unknown_verb', null])
    expect(create.body.verbs).toEqual(['update', 'rollback'])
    expect([field.status, field.headers.get('allow')?.split(', ').toSorted()]).toEqual([405, ['GET', 'POST']])
  })
})

describe('the past of one entity', () => {
  verifies(['log.immutable'], 'is listed newest first, and two versions can be compared', async () => {
    const id = await made('Contact', { name: 'Ada', phone: '1' })
    await sent('PUT', `/~acme/Contact/${id}`, { phone: '2', title: 'Dr' })
    await sent('POST', `/~acme/Contact/${id}/qualify`)

    const { body } = await sent('GET', `/~acme/Contact/${id}/history?limit=2`)
    const rest = await sent('GET', `/~acme/Contact/${id}/history?cursor=${body.cursor}`)
    const diff = await sent('GET', `/~acme/Contact/${id}/diff?from=1&to=2`)

    expect(body.results.map((v: any) => [v.version, v.verb, v.actor])).toEqual([
      [3, 'qualify', 'operator'],
      [2, 'update', 'operator'],
    ])
    expect([body.total, body.hasMore]).toEqual([3, true])
    expect(rest.body.results.map((v: any) => v.version)).toEqual([1])
    expect(diff.body.changes).toEqual([
      { field: 'phone', from: '1', to: '2' },
      { field: 'title', from: null, to: 'Dr' },
    ])
  })
})
