import type { Chance } from '../../../chance.ts'
import type { World } from '../world.ts'
import { CARE } from './declarations.ts'
import { type Action, anyContact, idOf, insist, type Send, type Tenancy, to } from './tenancy.ts'

const NAMES = ['size', 'length']
/** So many that a change of all of them takes several turns. */
const LOADED = 60
const GROUPS = 5
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** Entities that refer to each other, and a filter and an include over the relation. */
const relate: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const organization = idOf(await send('POST', '/Organization', { name: marker, industry: 'construction' }))
  const contact = anyContact(tenancy, chance)
  await send('POST', '/Deal', { name: marker, value: 10, organization, contact, stage: 'Qualified' })
  const filter = encodeURIComponent(JSON.stringify({ 'organization.name': marker }))
  await send('GET', `/Deal?filter=${filter}&include=organization`)
  if (contact !== undefined) await send('PUT', `/Contact/${contact}`, { organization })
  if (organization !== undefined && chance.next() < 0.3) await send('DELETE', `/Organization/${organization}`)
}

/** Writes of one correlation that are taken back, and an entity that is erased. */
const regret: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const operations = [0, 1].map((i) => ({ method: 'POST', path: '/Organization', body: { name: `${marker}.${i}` } }))
  const reply = await send('POST', '/batch', { atomic: chance.next() < 0.5, operations })
  const id = reply?.status === 200 ? reply.body.results[0].body?.$id : undefined
  if (id === undefined) return
  const history = await send('GET', `/Organization/${id}/history`)
  const correlation = history?.status === 200 ? history.body.results[0]?.correlation : undefined
  if (correlation !== undefined && chance.next() < 0.5) await send('POST', `/undo/${correlation}`)
  else await send('POST', `/Organization/${id}/erase`, {}, { 'idempotency-key': marker })
}

/** A key with few rights, which reads, is refused, and is revoked. */
const delegate: Action = async (world, _, tenancy, marker) => {
  const send = to(world, tenancy)
  const made = await send('POST', '/api-keys', { name: marker, scopes: 'read:crm, write:Contact', expiresIn: '1h' })
  if (made?.status !== 201) return
  const own = { authorization: `Bearer ${made.body.secret}` }
  await send('GET', '/Contact?limit=2', undefined, own)
  await send('PUT', '/schema/Thing', {}, own)
  await insist(world, _, 'POST', `/~${tenancy.slug}/api-keys/${made.body.$id}/revoke`, {}, `revoke ${marker}`)
  const refused = await send('GET', '/Contact?limit=2', undefined, own)
  if (refused && refused.status < 400) tenancy.faults.push(`the revoked key ${made.body.$id} reads`)
}

/** Rows of the type whose field is renamed, and the rename. */
const change: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const rows = Array.from({ length: LOADED }, (_, i) => ({ name: `${marker}.${i}`, group: `g${i % GROUPS}` }))
  await send('POST', '/import/Thing', rows)
  const [from, name] = chance.next() < 0.5 ? NAMES : NAMES.toReversed()
  await send('POST', '/schema/Thing/rename', { from, to: name })
}

/** States that only verbs change, timers that are moved, run, refused or dropped, and sums over parts. */
const work: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const soon = () => new Date(world.time.now + chance.between(0, 3_600_000)).toISOString()
  const whole = idOf(await send('POST', '/Job', { name: marker, dueAt: soon(), hours: chance.pick([1, 2]) }))
  if (whole === undefined) return
  await send('POST', '/Job', { name: `${marker}.part`, part: whole, hours: 3 })
  await send('POST', `/Job/${whole}/${chance.pick(['begin', 'advance', 'finish'])}`, {})
  await send('PUT', `/Job/${whole}`, chance.pick([{ state: 'Done' }, { dueAt: soon() }, { dueAt: null }]))
  await send('POST', `/Job/${whole}/advance`, { state: chance.pick(['Checked', 'Done', 'Planned']) })
  await send('GET', `/Job/${whole}/timers`)
  if (chance.next() < 0.2) await send('DELETE', `/Job/${whole}`)
}

/** What the operator asks of a tenant. */
const inspect: Action = async (world, _, { slug }) => {
  await world.request('GET', '/operator/tenants?limit=5')
  await world.request('GET', `/operator/tenants/${slug}`)
  await world.request('GET', `/operator/tenants/${slug}/log?after=0&limit=50`)
  await world.request('GET', `/~${slug}/status`)
  await world.request('GET', `/~${slug}/manifest`)
  await world.request('GET', `/~${slug}/Contact?live=true`, undefined, { authorization: 'Bearer unknown' })
}

/** A proposal, its review, and the decision. */
const propose: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const contact = anyContact(tenancy, chance)
  if (contact === undefined) return
  const reply = await send('PUT', `/Contact/${contact}?propose=true`, { source: marker })
  const id = reply?.status === 202 ? reply.body.$id : undefined
  if (id === undefined) return
  await send('GET', `/Changeset/${id}/review`)
  await send('POST', `/Changeset/${id}/${chance.pick(['approve', 'reject', 'rebase'])}`, { reason: 'Looked at' })
}

/** What the operator of a webhook does: a test, a delivery once more, another address. */
const operate: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const url = `http://receiver.test/${chance.pick(['other', 'broken'])}`
  const since = new Date(world.time.now - chance.between(0, 3_600_000)).toISOString()
  const from = chance.pick([undefined, 1, since])
  const id = idOf(await send('POST', '/webhooks', { url, events: ['Contact.*', 'Organization.created'], from }))
  if (id === undefined) return
  await send('POST', '/Organization', { name: marker })
  await send('POST', `/Webhook/${id}/test`)
  // After all of its retries it fails, until it has another address.
  await world.time.sleep(chance.pick([0, 60_000, 40 * 3_600_000]))
  await send('POST', `/Organization`, { name: `${marker} later` })
  await send('POST', `/Webhook/${id}/rotate`)
  const known = await send('GET', `/Webhook/${id}/deliveries`)
  const [delivery] = known?.status === 200 ? known.body.results : []
  await send('POST', `/Webhook/${id}/redeliver`, chance.pick([{}, { deliveryId: delivery?.id }]))
  await send('PUT', `/Webhook/${id}`, { url: 'http://receiver.test/other', redirect: true })
  await world.time.sleep(chance.between(0, 600_000))
  await send('PUT', `/Webhook/${id}`, { events: ['Organization.*'] })
  await send('DELETE', `/Webhook/${id}`)
}

/** Tracked events, and the ways in which they cannot be changed. */
const track: Action = async (world, _, tenancy, marker) => {
  const send = to(world, tenancy)
  await send('POST', '/events', [{ name: marker, type: 'track', properties: { price: 1 } }])
  await send('GET', `/events?name=${marker}`)
  await send('GET', '/metrics')
}

/** Changes of a replica of another kind: without clocks, of several types, some of which are not valid. */
const replicate: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const at = (ms: number) => new Date(world.time.now - ms).toISOString()
  const contact = anyContact(tenancy, chance) ?? 'contact_none'
  const organization = `organization_${marker.replace(/\W/g, '').padEnd(22, '0')}`
  const change = (operation: string, type: string, id: string, data: object | null, more: object = {}) => ({
    ...{ type, id, operation, data, timestamp: at(chance.between(-1_000, 600_000)), ...more },
  })
  const changes = [
    change('update', 'Organization', organization, { website: 'https://example.org' }),
    change('create', 'Organization', organization, { name: marker }),
    change('create', 'Organization', 'organization_short', { name: marker }),
    change('create', 'Event', `event_${marker.replace(/\W/g, '').padEnd(22, '0')}`, { name: marker, type: 'track' }),
    change('update', 'Contact', contact, { source: marker, email: 'none' }),
    change('update', 'Contact', contact, { source: marker }, { clock: { [marker]: 1 } }),
    change('delete', 'Contact', contact, null, { clock: { [marker]: chance.pick([1, 2]) } }),
    change('update', 'Contact', contact, { source: `${marker}.late` }),
    change('create', 'Contact', contact, { name: 'Back' }),
    change('create', 'ApiKey', 'apikey_none', { name: marker }),
    change('drop', 'Contact', contact, {}),
    change('update', 'Contact', contact, { source: 'x' }, { clock: { [marker]: -1 } }),
    change('update', 'Contact', contact, { source: 'x' }, { timestamp: 'today' }),
    change('update', 'Contact', '', {}),
    'nothing',
  ]
  const some = changes.filter(() => chance.next() < 0.6)
  const lastSyncAt = chance.pick([null, at(0), at(3_600_000), at(86_400_000)])
  const request = { lastSyncAt, changes: some, replica: marker, limit: chance.pick([1, 20, 1_000]) }
  for (let n = 0; n < 2; n++) {
    const reply = await send('POST', '/sync', request)
    if (reply?.status === 200 && reply.body.hasMore)
      await send('POST', '/sync', { lastSyncAt: reply.body.syncedAt, changes: [], replica: marker })
  }
}

/** The past: as of a time, the versions of an entity, and back to one. */
const remember: Action = async (world, chance, tenancy) => {
  const send = to(world, tenancy)
  const contact = anyContact(tenancy, chance)
  const asOf = new Date(world.time.now - chance.between(0, 3_600_000)).toISOString()
  await send('GET', `/Contact?asOf=${asOf}&limit=3&sort=-$updatedAt`)
  if (contact === undefined) return
  await send('GET', `/Contact/${contact}?asOf=${asOf}&include=organization`)
  await send('PUT', `/Contact/${contact}`, { phone: '2' }, { 'if-match': '"1"' })
  await send('PUT', `/Contact/${contact}?dryRun=true`, { phone: '3' })
}

/** What an administrator sets: roles, secrets, addresses and choices, and what they must not propose. */
const administer: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const role = `Role${marker.replace(/\W/g, '')}`
  await send('PUT', `/schema/roles/${role}`, { scopes: 'read:crm', filter: { Contact: { source: 'x' } } })
  await send('PUT', `/secrets/KEY`, { value: marker })
  await send('PUT', '/inbox', { addresses: [`${marker}@example.org`], ticket: true })
  await send('POST', '/Webhook?propose=true', { url: 'http://receiver.test/other', secret: 'x'.repeat(40) })
  await send('POST', `/Changeset`, {
    title: marker,
    operations: [{ type: 'Contact', verb: 'create', data: { name: 'C' } }],
  })
  const changesets = await send('GET', '/Changeset?limit=1')
  const id = changesets?.status === 200 ? changesets.body.results[0]?.$id : undefined
  if (id !== undefined) {
    await send('GET', `/Changeset/${id}/effect`)
    await send('PUT', `/Changeset/${id}?propose=true`, { title: 'No' })
  }
  if (chance.next() < 0.5) await send('DELETE', `/schema/roles/${role}`)
  if (chance.next() < 0.5) await send('DELETE', '/secrets/KEY')
  await send('PUT', '/schema/Spare', { name: 'string' })
  await send('DELETE', '/schema/Spare')
  await send('GET', `/Contact/count?filter={"name":"${marker}"}`)
  await send('GET', '/Contact?explain=true')
  await send('GET', '/Metric/mrr')
  await send('POST', '/Contact/contact_none/create', {})
  await send('PUT', '/Event/event_none', {})
  await send('GET', `/Contact/${anyContact(tenancy, chance)}`, undefined, { 'if-none-match': '*' })
}

/** A file of a job: its content is acknowledged, and is there as long as no erasure took it. */
const attach: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const id = idOf(await send('POST', '/Job', { name: marker }))
  if (id === undefined) return
  const type = { 'content-type': 'text/csv' }
  const sent = await send('POST', `/Job/${id}/contract`, marker.repeat(chance.pick([1, 900])), type)
  const loose = await send('POST', '/files', `loose ${marker}`, type)
  if (sent?.status === 200) tenancy.files.push({ id, hash: sent.body.contract.hash })
  const hash = chance.pick([loose?.body?.hash, sent?.body?.contract?.hash, `sha256:${'0'.repeat(64)}`])
  const given = chance.pick([{ hash }, { hash, size: 1 }, { hash, type: 'image/png' }, { hash: 7 }])
  const other = idOf(await send('POST', '/Job', { name: `${marker} other`, contract: given, scans: [{ hash }] }))
  await send('POST', `/Job?propose=true`, { name: marker, contract: { hash } })
  if (other === undefined) return
  await send('GET', `/Job/${other}/contract`)
  await send('PUT', `/Job/${other}`, { contract: null })
  await send('POST', `/Job/${other}/rollback`, { version: 1 })
}

/** Requests that are refused: nothing of them may stay. */
const mistake: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const contact = anyContact(tenancy, chance) ?? 'contact_none'
  const wrong: readonly Parameters<Send>[] = [
    ['POST', '/Contact', { name: 7 }],
    ['POST', '/Contact', '{'],
    ['POST', '/Contract', { name: marker }],
    ['POST', '/Organization', { name: 'refused' }],
    ['PATCH', `/Contact/${contact}`, { nme: 'x' }],
    ['DELETE', '/Contact/contact_none'],
    ['POST', `/Contact/${contact}/fly`],
    ['GET', '/Contact?filter={"name":{"$near":1}}'],
    ['GET', '/Contact', undefined, { authorization: 'Bearer tb_none' }],
    ['PUT', '/Contact', {}],
    ['POST', '/batch', { atomic: true, operations: [{ method: 'POST', path: '/Contact', body: { name: 7 } }] }],
    ['POST', '/import/Contact', [{ name: 7 }, { email: 'x' }]],
    ['POST', '/sync', { lastSyncAt: 'never', changes: [] }],
    ['POST', '/sync', []],
    ['POST', '/sync', { changes: {} }],
    ['POST', '/sync', { changes: [], types: 'Contact' }],
    ['POST', '/sync', { changes: [], replica: 'two words' }],
    ['POST', '/Contact/', undefined, { 'content-type': 'text/xml' }],
    ['POST', '/Contact', '<Contact/>', { 'content-type': 'text/xml' }],
    ['POST', '/Contact', { name: marker }, { 'content-encoding': 'gzip' }],
    ['POST', '/Contact', { name: marker }, { 'idempotency-key': 'long'.repeat(100) }],
    ['POST', '/Contact', { name: 'x'.repeat(1_100_000) }],
    ['POST', '/Contact', { name: 'x'.repeat(600_000), description: 'y'.repeat(600_000) }],
    ['POST', `/events?propose=true`, [{ name: marker, type: 'track' }]],
    ['POST', `/sync?propose=true`, { changes: [] }],
    ['POST', `/Contact/${contact}/erase?dryRun=true`],
    ['GET', '/fly/away/now'],
    ['PUT', `/Contact/${contact}`, { $id: 'contact_other' }, { 'if-match': '"999"' }],
    ['POST', `/Contact/${contact}/restore`, {}],
    ['POST', '/Contact', { name: marker }, { authorization: 'Basic x', 'x-request-id': marker }],
    ['GET', '/Contact', undefined, { 'accept-encoding': 'gzip', traceparent: TRACE, origin: 'https://other.test' }],
    ['POST', '/Contact', { name: 'Other' }, { 'idempotency-key': 'used by many' }],
    ['POST', '/Contact', { name: `Other ${marker}` }, { 'idempotency-key': 'used by many' }],
    ['OPTIONS', '/Contact'],
    ['HEAD', `/Contact/${contact}`],
  ]
  for (const one of wrong) if (chance.next() < 0.5) await send(...one)
}

export const DAILY_WORK: readonly Action[] = [
  ...[
    relate,
    regret,
    delegate,
    change,
    work,
    inspect,
    propose,
    operate,
    track,
    remember,
    replicate,
    administer,
    attach,
  ],
  mistake,
]

/**
 * Each job that has begun has one comment about it, and a long one has one about its end. A workflow that failed five times in
 * a row was paused: then some runs may not have come so far.
 */
export function careFaults(log: readonly { type: string; entityId: string; data: any }[]): string[] {
  const count = (id: string, body: string) =>
    log.filter(({ type, data }) => type === 'Comment.created' && data.body === body && data.entityId === id).length
  const wasPaused = log.some(({ type, data }) => type === 'Workflow.paused' && data.name === CARE.name)
  return log.flatMap(({ type, entityId, data }) => {
    if (type !== 'Job.begun') return []
    const counts = [count(entityId, 'begun'), count(entityId, 'undone')]
    const expected = [1, data.hours > 1 ? 1 : 0]
    const isRight = counts.every((times, i) => times === expected[i] || (wasPaused && times < expected[i]!))
    return isRight ? [] : [`${entityId} has begun, with comments ${counts} instead of ${expected}`]
  })
}

/** After all of it the field has one name, in the declaration and in every entity. */
export async function thingFaults(world: World, chance: Chance, { slug }: Tenancy): Promise<string[]> {
  const ask = async (path: string) => (await insist(world, chance, 'GET', `/~${slug}${path}`))!.body
  const declared = JSON.stringify(await ask('/schema/Thing'))
  const [name, other] = declared.includes(`"${NAMES[0]}"`) ? NAMES : NAMES.toReversed()
  const count = async (filter: object) =>
    (await ask(`/Thing?limit=1&filter=${encodeURIComponent(JSON.stringify(filter))}`)).total
  const [half, none] = [await count({ [other!]: { $exists: true } }), await count({ [name!]: { $exists: false } })]
  return half + none === 0 ? [] : [`${half} Things have ${other}, and ${none} have no ${name}`]
}
