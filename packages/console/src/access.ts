import { signal } from '@preact/signals'
import { ask } from './api.ts'
import { asOf } from './place.ts'
import { type Noun, nouns } from './schema.ts'

type Action = 'read' | 'write'

/** What the key may do to each type, as the service answers it. Nothing is offered until that is known. */
const access = signal<{ readonly [action in Action]: ReadonlySet<string> }>({ read: new Set(), write: new Set() })

const MOST = 100

/**
 * Finds out what the key may do by asking for it: scopes can be narrow in many ways, and the service knows them best.
 * Nothing can come of the updates: no entity has the id that they name.
 */
export async function loadAccess(): Promise<void> {
  const types = [...nouns.value.keys()]
  const operations = types.flatMap((type) => [
    { id: `read ${type}`, method: 'GET', path: `/${type}`, query: { limit: 1, total: false } },
    { id: `write ${type}`, method: 'POST', path: `/${type}/none/update`, body: {} },
  ])
  const open = new Set<string>()
  for (let at = 0; at < operations.length; at += MOST) {
    const { results } = await ask<{ results: { id: string; status: number }[] }>('POST', '/batch', {
      body: { operations: operations.slice(at, at + MOST) },
    })
    for (const { id, status } of results) if (status !== 403) open.add(id)
  }
  const allowed = (action: Action) => new Set(types.filter((type) => open.has(`${action} ${type}`)))
  access.value = { read: allowed('read'), write: allowed('write') }
}

/** Whether the key may do this to this type. */
export function may(action: Action, noun: Pick<Noun, 'name'> | undefined): boolean {
  return noun !== undefined && access.value[action].has(noun.name)
}

/** Whether the key may change anything at all. */
export function mayWrite(): boolean {
  return access.value.write.size > 0
}

/** Whether to offer a change: the key allows it, and the page shows the present. */
export function mayChange(noun: Pick<Noun, 'name'> | undefined): boolean {
  return asOf.value === null && may('write', noun)
}
