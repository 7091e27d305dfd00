import type { Status } from '@tildebase/client'
import { asOf } from '../place.ts'
import type { Noun } from '../values/noun.ts'
import { holds, key, may } from './rights.ts'
import { nouns } from './schema.ts'
import { request } from './service.ts'

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

/** Whether the key may change entities of a type. Taking part in changesets is not that. */
export function mayWrite(): boolean {
  return [...nouns.value.values()].some((noun) => noun.name !== 'Changeset' && may('write', noun))
}

/** Whether the key may read this type. */
export function mayRead(type: string): boolean {
  return may('read', nouns.value.get(type))
}

/** Whether to offer a change: the key allows it, and the page shows the present. */
export function mayChange(noun: Pick<Noun, 'name' | 'domain'> | undefined): boolean {
  return asOf.value === null && may('write', noun)
}
