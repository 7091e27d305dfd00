import { signal } from '@preact/signals'
import type { Status } from '@tildebase/client'
import { type Noun, targetsOf } from '../values/noun.ts'

const ACTIONS = ['read', 'propose', 'write', 'admin']

/** Types that only administrators may read. */
const GUARDED = new Set(['ApiKey', 'Webhook'])

/** What the key may do where, as `write:crm`, and its id. Nothing is offered until that is known. */
export const key = signal<Status['key']>({ id: '', scopes: [] })

/** Whether the key may do this to this type. */
export function may(action: 'read' | 'write', noun: Pick<Noun, 'name' | 'domain'> | undefined): boolean {
  if (noun === undefined) return false
  // Which changesets a key sees is decided by what they touch.
  if (noun.name === 'Changeset')
    return key.value.scopes.some((scope) => action === 'read' || !scope.startsWith('read:'))
  return holds(GUARDED.has(noun.name) ? 'admin' : action, [noun.domain, noun.name])
}

/** Whether the key has a scope of at least this action on one of the areas, or everywhere. */
export function holds(action: string, areas: readonly string[]): boolean {
  const needed = ACTIONS.indexOf(action)
  return key.value.scopes.some((scope) => {
    const [held = '', area = ''] = scope.split(':')
    return ACTIONS.indexOf(held) >= needed && (area === 'all' || areas.includes(area))
  })
}

/**
 * A type as the key can use it: without relations to types that it cannot read. People stay, because work can belong to
 * the person who is signed in. A key that declares types sees all fields.
 */
export function usable(noun: Noun, all: ReadonlyMap<string, Noun>): Noun {
  if (holds('admin', ['platform'])) return noun
  const leads = (target: string) => target === 'User' || may('read', all.get(target))
  const fields = Object.entries(noun.fields).filter(([, field]) => {
    const targets = targetsOf(field)
    return targets.length === 0 || targets.some(leads)
  })
  return { ...noun, fields: Object.fromEntries(fields) }
}
