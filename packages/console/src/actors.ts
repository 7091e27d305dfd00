import { signal } from '@preact/signals'
import { may } from './access.ts'
import type { Entity } from './entity.ts'
import { nouns, type Page } from './schema.ts'
import { request } from './service.ts'

const names = signal<ReadonlyMap<string, string>>(new Map())

/** Loads the names of the keys, if this key may read them. The log has only their ids. */
export async function loadActors(): Promise<void> {
  names.value = new Map()
  if (!may('read', nouns.value.get('ApiKey'))) return
  const { results } = await request<Page<Entity>>('GET', '/api-keys', {
    query: { limit: 100, fields: 'name', total: false },
  })
  names.value = new Map(results.map(({ $id, name }) => [$id, String(name)]))
}

/** Who acted, by name where this key may know it. */
export function actorName(actor: string): string {
  const known = names.value.get(actor)
  if (known) return known
  if (actor.startsWith('apiKey_')) return `Key …${actor.slice(-6)}`
  return actor.charAt(0).toUpperCase() + actor.slice(1)
}
