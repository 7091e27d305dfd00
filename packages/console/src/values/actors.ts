import { signal } from '@preact/signals'
import { personId } from '../service/access.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t, word } from '../texts/text.ts'

const names = signal<ReadonlyMap<string, string> | null>(null)

/** Loads the names of keys and people, as far as this key may read them. The log has only their ids. */
export async function loadActors(): Promise<void> {
  const named = async (type: string, path: string) => (may('read', nouns.value.get(type)) ? namesAt(path) : [])
  try {
    const [keys, people, own] = await Promise.all([named('ApiKey', 'api-keys'), named('User', 'User'), ownName()])
    const found = [...keys, ...people]
    names.value = new Map([...own, ...found.map(({ $id, name }) => [$id, String(name)] as const)])
  } finally {
    names.value ??= new Map()
  }
}

/** The names of a type; those after the first hundred need more requests. */
async function namesAt(path: string): Promise<Page['results']> {
  const query = { fields: 'name' }
  const first = await request<Page>('GET', `/${path}`, { query: { ...query, limit: 100, total: false } })
  return first.hasMore ? (await import('../service/pages.ts')).allOf(path, query) : first.results
}

/** The person who is signed in has a name also where people cannot be read. */
async function ownName(): Promise<readonly (readonly [string, string])[]> {
  const me = personId()
  if (me === null || may('read', nouns.value.get('User'))) return []
  const { user } = await request<{ user?: { name?: string } }>('GET', '/session')
  return user?.name ? [[me, user.name]] : []
}

/** The people and keys that are known by name, in the order of their names. */
export function knownActors(): readonly { readonly id: string; readonly name: string }[] {
  const all = [...(names.value ?? [])].map(([id, name]) => ({ id, name }))
  return all.sort((a, b) => a.name.localeCompare(b.name))
}

/** Who acted, by name where this key may know it. */
export function actorName(actor: string): string {
  if (names.value === null) return '…'
  const known = names.value.get(actor)
  if (known) return known
  const [, kind, rest = ''] =
    /^(apiKey|agent|user)_(\w{16,})$/.exec(actor) ?? /^(workflow|hook|timer):(.+)$/.exec(actor) ?? []
  const end = rest.slice(-6)
  if (kind === 'apiKey') return t('Key …{}', end)
  if (kind === 'agent') return t('Agent …{}', end)
  if (kind === 'user') return t('Person …{}', end)
  if (kind === 'workflow') return t('Workflow …{}', end)
  if (kind === 'hook') return t('Hook {}', rest)
  if (kind === 'timer') return t('Timer {}', rest)
  // An imported past names people as the other system did.
  return /[^a-z]/.test(actor) ? actor : word(actor.charAt(0).toUpperCase() + actor.slice(1))
}
