import { signal } from '@preact/signals'
import { personId } from '../service/access.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request, requestAll } from '../service/service.ts'
import { t, word } from '../texts/text.ts'

const names = signal<ReadonlyMap<string, string> | null>(null)

/** Loads the names of keys and people, as far as this key may read them. The log has only their ids. */
export async function loadActors(): Promise<void> {
  const types = ['ApiKey', 'User'].filter((type) => may('read', nouns.value.get(type)))
  try {
    const [first, own] = await Promise.all([firstOf(types), ownName()])
    const found = await Promise.all([...first].map(([type, page]) => allFrom(type, page)))
    names.value = new Map([...own, ...found.flat().map(({ $id, name }) => [$id, String(name)] as const)])
  } finally {
    names.value ??= new Map()
  }
}

/** The first names of types, in one request: browsers keep six connections, and the page asks for its data meanwhile. */
async function firstOf(types: readonly string[]): Promise<ReadonlyMap<string, Page>> {
  const query = { ...NAMES, limit: 100, total: false }
  return types.length > 0 ? requestAll(types.map((id) => ({ id, path: `/${id}`, query }))) : new Map()
}

const NAMES = { fields: 'name' }

/** All names of a type: those after the first hundred need more requests. */
async function allFrom(type: string, { hasMore, results }: Page): Promise<Page['results']> {
  return hasMore ? (await import('../service/pages.ts')).allOf(type, NAMES) : results
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
