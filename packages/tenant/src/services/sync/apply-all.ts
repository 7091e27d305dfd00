import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Steps } from '../../engine/turns.ts'
import { keepChange, knownChange } from '../../store/clocks.ts'
import { applyChange } from './apply.ts'
import type { Change } from './change.ts'
import type { SyncSession } from './sync-session.ts'

/** What became of the changes of a request. */
export interface SyncOutcome {
  applied: number
  conflicts: number
  readonly rejected: { readonly index: number; readonly error: string }[]
  /** The changes that were not rejected, in their order. */
  readonly taken: Change[]
}

type Given = { readonly index: number; readonly read: () => Change }

/** Applies changes one by one, each whole or not at all, and none twice. */
export function* applyAll(session: SyncSession, given: readonly Given[]): Steps<SyncOutcome> {
  const outcome: SyncOutcome = { applied: 0, conflicts: 0, rejected: [], taken: [] }
  const { budget, progress } = session.write.context
  progress.expect(() => given.length)
  let left = given
  for (;;) {
    const errors: { one: Given; error: string }[] = []
    for (const one of left) {
      budget.checkTime()
      const error = attempt(session, one, outcome)
      if (error !== null) errors.push({ one, error })
      else progress.advance()
      yield
    }
    // A change may name an entity that a later change of the same request creates: try again while that helps.
    if (errors.length === 0 || errors.length === left.length) {
      outcome.rejected.push(...errors.map(({ one, error }) => ({ index: one.index, error })))
      return outcome
    }
    left = errors.map(({ one }) => one)
  }
}

function attempt(session: SyncSession, { read }: Given, outcome: SyncOutcome): string | null {
  try {
    const change = read()
    const applied = session.write.attempt(() => once(session, change))
    if (applied) outcome.applied++
    else outcome.conflicts++
    outcome.taken.push(change)
    return null
  } catch (reason) {
    // A request that has used its budget is over; any other problem is that of one change.
    if (!(reason instanceof Problem) || reason.code === 'over_budget') throw reason
    return reason.message
  }
}

function once(session: SyncSession, change: Change): boolean {
  const { sql, engine } = session.write
  const { type, id, operation, at, replica, clock, data } = change
  const digest = engine.ports.seal.sha256(
    JSON.stringify([type, id, operation, at, replica, sorted(clock), sorted(data)]),
  )
  const known = knownChange(sql, digest.subarray(0, 16))
  if (known !== undefined) return known
  const applied = applyChange(session, change)
  keepChange(sql, digest.subarray(0, 16), applied)
  return applied
}

function sorted(fields: JsonObject | null): unknown {
  return fields && Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))
}
