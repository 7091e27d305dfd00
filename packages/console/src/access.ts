import { signal } from '@preact/signals'
import { ask } from './api.ts'
import { asOf } from './place.ts'
import { type Noun, nouns } from './schema.ts'

const ACTIONS = ['read', 'write', 'admin']

/** Types whose very reading is an administrator's matter. */
const GUARDED = new Set(['ApiKey', 'Webhook'])

/** What the key may do where, as `write:crm`. Nothing is offered until that is known. */
const scopes = signal<readonly string[]>([])

/** Learns what the key may do. The service judges each request by the same scopes. */
export async function loadAccess(): Promise<void> {
  const { key } = await ask<{ key: { scopes: string[] } }>('GET', '/status')
  scopes.value = key.scopes
}

/** Whether the key may do this to this type. */
export function may(action: 'read' | 'write', noun: Pick<Noun, 'name' | 'domain'> | undefined): boolean {
  if (noun === undefined) return false
  const needed = ACTIONS.indexOf(GUARDED.has(noun.name) ? 'admin' : action)
  return scopes.value.some((scope) => {
    const [held = '', area = ''] = scope.split(':')
    return ACTIONS.indexOf(held) >= needed && ['all', noun.domain, noun.name].includes(area)
  })
}

/** Whether the key may change anything at all. */
export function mayWrite(): boolean {
  return [...nouns.value.values()].some((noun) => may('write', noun))
}

/** Whether to offer a change: the key allows it, and the page shows the present. */
export function mayChange(noun: Pick<Noun, 'name' | 'domain'> | undefined): boolean {
  return asOf.value === null && may('write', noun)
}
