import { type Action, anyContact, idOf, insist, to } from './tenancy.ts'

const PASSWORD = 'correct horse battery'
/** No key. */
const NO_KEY = { authorization: '' }

/** A person who accepts an invitation, works with a session, is suspended and is refused. */
const visit: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const email = `${marker}@example.org`
  const user = idOf(await send('POST', '/User', { name: marker, email, role: chance.pick(['Member', 'Viewer']) }))
  if (user === undefined) return
  const invited = await send('POST', `/User/${user}/invite`)
  const token = invited?.body?.invitation?.split('#')[1]
  await send('POST', '/invitation/accept', { token, password: 'short' }, NO_KEY)
  const accepted = await send('POST', '/invitation/accept', { token, password: PASSWORD }, NO_KEY)
  if (accepted?.status !== 201) return
  const session = { ...NO_KEY, cookie: accepted.cookie! }
  const own = { ...session, 'x-tilde-csrf': accepted.body.csrf }
  await send('GET', '/session', undefined, session)
  await send('POST', '/Comment', { body: marker, entityId: user }, session)
  await send('POST', '/Comment', { body: marker, entityId: user }, own)
  await send('PUT', `/Contact/${anyContact(tenancy, chance)}`, { source: marker }, own)
  await world.request('GET', '/events?limit=1', undefined, session)
  await send('POST', '/session', { email, password: chance.pick([PASSWORD, 'a wrong guess']) }, NO_KEY)
  const suspended = await insist(world, chance, 'POST', `/~${tenancy.slug}/User/${user}/suspend`, {}, `stop ${marker}`)
  if (suspended?.status !== 200) return
  const refused = await send('GET', '/Contact?limit=1', undefined, session)
  if (refused && refused.status < 400) tenancy.faults.push(`the suspended person ${user} reads`)
}

/** A tenant that begins with a sign-up. Its first key works from then on, in that tenant and in no other. */
const join: Action = async (world, chance, tenancy, marker) => {
  const slug = marker.replaceAll('.', '-')
  const first = await world.request('POST', `/~${slug}/api-keys`, { name: marker, scopes: 'read:crm' }, NO_KEY)
  await world.request('POST', `/~${slug}/api-keys`, { name: 'second' }, NO_KEY)
  await world.request('GET', `/~${slug}/Contact`, undefined, NO_KEY)
  if (first?.status !== 201) return
  const { secret } = first.body
  tenancy.keys.push({ slug, secret })
  const own = { authorization: `Bearer ${secret}` }
  await world.request('POST', `/~${slug}/Contact`, { name: marker }, own)
  await world.request('GET', '/events?limit=1', undefined, own)
  const foreign = await world.request('GET', `/~${tenancy.slug}/Contact?limit=1`, undefined, own)
  if (foreign && foreign.status < 400) tenancy.faults.push(`the key of ${slug} reads another tenant`)
  if (chance.next() < 0.5) return
  await world.request('GET', `/~${slug}/Contact?limit=1`, undefined, {
    authorization: `Bearer ${'a'.repeat(40)}~${slug}`,
  })
}

/** A key that sees and writes a part of the Contacts. */
const narrow: Action = async (world, chance, tenancy, marker) => {
  const send = to(world, tenancy)
  const filter = { Contact: { source: marker }, Organization: { industry: 'narrow' } }
  const made = await send('POST', '/api-keys', { name: marker, scopes: 'write:crm', filter, expiresIn: '1h' })
  if (made?.status !== 201) return
  const own = { authorization: `Bearer ${made.body.secret}` }
  const id = idOf(await send('POST', '/Contact', { name: `${marker} narrow`, source: marker }, own))
  await send('POST', '/Contact', { name: `${marker} outside`, source: 'other' }, own)
  const organization = idOf(await send('POST', '/Organization', { name: marker, industry: 'broad' }))
  const seen = await send('GET', `/Contact?limit=100`, undefined, own)
  if (seen?.status === 200 && seen.body.results.some(({ source }: { source?: string }) => source !== marker))
    tenancy.faults.push(`the narrowed key of ${marker} reads more than its part`)
  const other = anyContact(tenancy, chance)
  if (other !== undefined) await send('PUT', `/Contact/${other}`, { source: marker }, own)
  if (id === undefined) return
  await send('PUT', `/Contact/${id}`, { organization }, own)
  await send('PUT', `/Contact/${id}`, { source: 'other' }, own)
  const changes = [
    {
      type: 'Contact',
      id,
      operation: 'update',
      data: { phone: '7' },
      timestamp: new Date(world.time.now).toISOString(),
    },
    { type: 'Contact', id: other, operation: 'delete', timestamp: new Date(world.time.now).toISOString() },
  ]
  await send('POST', '/sync', { lastSyncAt: new Date(world.time.now - 60_000).toISOString(), changes }, own)
  await send('DELETE', `/Contact/${id}`, undefined, own)
  await send('POST', `/Contact/${id}/restore`, {}, own)
}

export const ACCESS: readonly Action[] = [visit, join, narrow]
