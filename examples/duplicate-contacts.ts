/**
 * An agent removes duplicate contacts. It works in a fork of the tenant, where nothing can go wrong, and proposes what it
 * did there as a changeset. A person approves it, or not.
 *
 *   TILDE_ROOT_KEY=… node examples/duplicate-contacts.ts acme
 */
import { pathToFileURL } from 'node:url'
import { type ReviewedChangeset, type Tildebase, tildebase, wireTo } from '@tildebase/client'

/** Where the service is, and the operator's key, which forks tenants. */
export interface Service {
  readonly baseUrl: string
  readonly apiKey: string
}

/** Forks a tenant, removes the duplicates there, and proposes the result. Null when there are none. */
export async function proposeCleanUp(service: Service, tenant: string): Promise<ReviewedChangeset | null> {
  const fork = `${tenant}-duplicates`
  const operator = wireTo(service)
  await operator.json(`/operator/tenants/${tenant}/fork`, { method: 'POST', body: { to: fork }, once: true })
  try {
    const removed = await removeDuplicates(tildebase({ ...service, tenant: fork }))
    if (removed === 0) return null
    const title = `Merge ${removed} duplicate contact${removed === 1 ? '' : 's'}`
    const reason = 'Contacts with the same e-mail address, whatever its case. The oldest one stays.'
    const $ = tildebase({ ...service, tenant })
    const { $id } = await $.changesets.from(fork, { title, reason })
    return await $.changesets.get($id)
  } finally {
    // The changeset holds all that the fork did.
    await operator.json(`/operator/tenants/${fork}`, { method: 'DELETE' })
  }
}

/** Keeps the oldest contact of each e-mail address, filled with what the others know. Returns how many others there were. */
async function removeDuplicates($: Tildebase): Promise<number> {
  const kept = new Map<string, { readonly $id: string; readonly [field: string]: unknown }>()
  let removed = 0
  for await (const contact of $.Contact.all({ email: { $exists: true } }, { sort: 'createdAt' })) {
    const address = String(contact.email).trim().toLowerCase()
    const first = kept.get(address)
    if (!first) {
      kept.set(address, { ...contact })
      continue
    }
    const missing = Object.entries(contact).filter(
      ([field, value]) =>
        !field.startsWith('$') && !/edAt$/.test(field) && value !== null && first[field] === undefined,
    )
    if (missing.length > 0) {
      await $.Contact.update(first.$id, Object.fromEntries(missing))
      kept.set(address, { ...first, ...Object.fromEntries(missing) })
    }
    for await (const deal of $.Deal.all({ contact: contact.$id })) await $.Deal.update(deal.$id, { contact: first.$id })
    await $.Contact.delete(contact.$id)
    removed++
  }
  return removed
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { TILDE_URL = 'http://localhost:8787', TILDE_ROOT_KEY = '' } = process.env
  const [tenant = 'acme'] = process.argv.slice(2)
  const changeset = await proposeCleanUp({ baseUrl: TILDE_URL, apiKey: TILDE_ROOT_KEY }, tenant)
  if (changeset === null) console.log('There are no duplicates.')
  else {
    for (const { verb, id, changes } of changeset.diff) console.log(verb, id, JSON.stringify(changes))
    console.log(`Review it: tilde changesets diff ${changeset.$id} --tenant ${tenant}`)
  }
}
