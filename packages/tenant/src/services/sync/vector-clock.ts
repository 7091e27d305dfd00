import type { JsonObject } from '@tildebase/nouns'

/** A vector clock: how much of each replica's work had been seen. */
export type VectorClock = { readonly [replica: string]: number }

/** The replica that every write outside a sync belongs to; its counter is the seq. */
export const SERVER = 'server'

/** Whether a clock has seen all that another has. */
export function covers(a: VectorClock, b: VectorClock): boolean {
  return Object.entries(b).every(([replica, count]) => (Object.hasOwn(a, replica) ? a[replica]! : 0) >= count)
}

/** The clock that has seen what either has. */
export function joined(clocks: readonly VectorClock[]): VectorClock {
  const all = new Map<string, number>()
  for (const clock of clocks) {
    for (const [replica, count] of Object.entries(clock)) all.set(replica, Math.max(all.get(replica) ?? 0, count))
  }
  return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** A clock from outside: counters by replica. Undefined when it is none; null when it is left out or empty. */
export function parseVectorClock(value: unknown): VectorClock | null | undefined {
  if (value === undefined || value === null) return null
  if (typeof value !== 'object' || Array.isArray(value)) return undefined
  const entries = Object.entries(value as JsonObject)
  if (entries.length > 1_000 || !entries.every(([, count]) => Number.isSafeInteger(count) && (count as number) >= 0)) {
    return undefined
  }
  return entries.length === 0 ? null : (value as VectorClock)
}
