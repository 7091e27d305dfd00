import { signal } from '@preact/signals'
import { ask, Refusal } from './api.ts'
import { asOf } from './place.ts'
import type { Noun } from './schema.ts'

const ACTIONS = ['read', 'write', 'admin']

/** What the key may do, as the service tells it: `read:all,write:crm`. Null until that is known: then nothing is offered. */
export const scopes = signal<string | null>(null)

/** Types whose very reading is an administrator's matter. */
const GUARDED = new Set(['ApiKey', 'Webhook'])

export async function loadAccess(): Promise<void> {
  const { key } = await ask<{ key: { scopes: string | readonly string[] } }>('GET', '/status')
  scopes.value = String(key.scopes)
}

/** Whether the key may do this to this type. */
export function may(action: 'read' | 'write' | 'admin', noun: Pick<Noun, 'name' | 'domain'> | undefined): boolean {
  if (!noun) return false
  return reaches(GUARDED.has(noun.name) ? 'admin' : action, [noun.name, noun.domain])
}

/** Whether the key may do this anywhere in these areas. */
export function reaches(action: string, areas: readonly string[]): boolean {
  return (scopes.value ?? '').split(',').some((scope) => {
    const [held = '', area = ''] = scope.trim().split(':')
    return ACTIONS.indexOf(held) >= ACTIONS.indexOf(action) && (area === 'all' || area === '*' || areas.includes(area))
  })
}

/** Whether to offer writing: the key allows it, and the page shows the present. */
export function mayChange(noun: Pick<Noun, 'name' | 'domain'> | undefined): boolean {
  return asOf.value === null && may('write', noun)
}

/** Whether an answer says that the key is too narrow. */
export function isForbidden(error: Error | null): boolean {
  return error instanceof Refusal && error.status === 403
}
