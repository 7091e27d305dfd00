import { signal } from '@preact/signals'
import { session } from './service/session.ts'

/** An entity that was opened. */
export interface Visit {
  readonly type: string
  readonly id: string
  readonly title: string
}

const MOST = 8
const visits = signal<{ readonly session: unknown; readonly list: readonly Visit[] }>({ session: null, list: [] })

/** The entities that were opened last, newest first. They are kept in memory and leave with the key. */
export function recent(): readonly Visit[] {
  return visits.value.session === session.value ? visits.value.list : []
}

export function visit(one: Visit): void {
  const others = recent().filter(({ id }) => id !== one.id)
  visits.value = { session: session.value, list: [one, ...others].slice(0, MOST) }
}
