import { signal } from '@preact/signals'
import type { Status } from '@tildebase/client'
import { asOf } from '../place.ts'
import type { Noun } from '../values/noun.ts'
import { nouns } from './schema.ts'
import { request } from './service.ts'

const ACTIONS = ['read', 'propose', 'write', 'admin']

/** Types that only administrators may read. */
const GUARDED = new Set(['ApiKey', 'Webhook'])

/** What the key may do where, as `write:crm`, and its id. Nothing is offered until that is known. */
const key = signal<Status['key']>({ id: '', scopes: [] })

/** Loads what the key may do. The service checks each request by the same scopes. */
export async function loadAccess(): Promise<Status> {
  const status = await request<Status>('GET', '/status')
  key.value = status.key
  return status
}

/** The id of the key in use. */
export function keyId(): string {
  return key.value.id
}

/** The id of the person who is signed in; null when a key is used. */
export function personId(): string | null {
  return key.value.id.startsWith('user_') ? key.value.id : null
}

/** Whether the key may do this to this type. */
export function may(action: 'read' | 'write', noun: Pick<Noun, 'name' | 'domain'> | undefined): boolean {
  if (noun === undefined) return false
  // Which changesets a key sees is decided by what they touch.
  if (noun.name === 'Changeset')
    return key.value.scopes.some((scope) => action === 'read' || !scope.startsWith('read:'))
  return holds(GUARDED.has(noun.name) ? 'admin' : action, [noun.domain, noun.name])
}

/** Whether the key administers a type. */
export function mayAdminister(type: string): boolean {
  const noun = nouns.value.get(type)
  return noun !== undefined && holds('admin', [noun.domain, noun.name])
}

/** Whether the key lets its owner approve what it proposed itself. */
export function mayApproveOwn(): boolean {
  return key.value.scopes.includes('approve:own')
}

/** Whether the key may declare types and store hooks. */
export function mayDeclare(): boolean {
  return holds('admin', ['platform'])
}

/** Whether the key may change anything at all. */
export function mayWrite(): boolean {
  return [...nouns.value.values()].some((noun) => may('write', noun))
}

/** Whether to offer a change: the key allows it, and the page shows the present. */
export function mayChange(noun: Pick<Noun, 'name' | 'domain'> | undefined): boolean {
  return asOf.value === null && may('write', noun)
}

function holds(action: string, areas: readonly string[]): boolean {
  const needed = ACTIONS.indexOf(action)
  return key.value.scopes.some((scope) => {
    const [held = '', area = ''] = scope.split(':')
    return ACTIONS.indexOf(held) >= needed && (area === 'all' || areas.includes(area))
  })
}
