import { signal } from '@preact/signals'
import { may } from './access.ts'
import { ask } from './api.ts'
import { type Entity, nouns, type Page } from './schema.ts'

const names = signal<ReadonlyMap<string, string>>(new Map())

/** Learns what the keys are called, if this one may know. The log has only their ids. */
export async function loadActors(): Promise<void> {
  names.value = new Map()
  if (!may('read', nouns.value.get('ApiKey'))) return
  const { results } = await ask<Page<Entity>>('GET', '/api-keys', {
    query: { limit: 100, fields: 'name', total: false },
  })
  names.value = new Map(results.map(({ $id, name }) => [$id, String(name)]))
}

/** Who that is, as far as this key may know. */
export function actorName(actor: string): string {
  return names.value.get(actor) ?? actor
}
