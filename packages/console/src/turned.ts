import { signal } from '@preact/signals'
import { href } from './place.ts'
import { type Session, session } from './session.ts'

/** How the last list was looked at, and how far its pages are turned. Its entities lead back to that. */
interface Turned {
  readonly session: Session | null
  readonly type: string
  readonly query: { readonly [name: string]: string }
  /** What was asked: another question starts at its first page. */
  readonly question: string
  readonly cursors: readonly string[]
  readonly active: number
}

export const turned = signal<Turned | null>(null)

/** The address of a type's list, as it was left. */
export function hrefOfList(type: string): string {
  const last = turned.value
  if (last?.session !== session.value || last?.type !== type) return href([type])
  // The time is that of the page, wherever it has been since.
  const { asOf, ...query } = last.query
  return href([type], query)
}
