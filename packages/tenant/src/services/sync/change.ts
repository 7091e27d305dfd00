import { isPlainObject, type JsonObject, Problem, parseInstant } from '@tildebase/nouns'
import { parseVectorClock, type VectorClock } from './vector-clock.ts'

const OPERATIONS = ['create', 'update', 'delete'] as const
export type SyncOperation = (typeof OPERATIONS)[number]

/** A change that a replica brings. */
export interface Change {
  readonly type: string
  readonly id: string
  readonly operation: SyncOperation
  readonly data: JsonObject
  readonly at: number
  readonly replica: string
  readonly clock: VectorClock | null
}

/** A change of a request, or the problem of not being one. */
export function changeOf(value: unknown, replica: string): Change {
  if (!isPlainObject(value)) throw wrong('A change must be an object with type, id, operation, data and timestamp.')
  const { type, id, operation, data = {}, timestamp } = value
  if (typeof type !== 'string') throw wrong('A change needs a type, such as Contact.', 'type')
  if (typeof id !== 'string' || id === '') throw wrong('A change needs the id of its entity.', 'id')
  if (!isOperation(operation)) throw wrong(`operation is ${OPERATIONS.join(', ')}.`, 'operation')
  if (data !== null && !isPlainObject(data)) throw wrong('data must be an object of the changed fields.', 'data')
  const at = typeof timestamp === 'string' ? parseInstant(timestamp) : null
  if (at === null) throw wrong('timestamp must be an ISO 8601 time, such as 2026-01-31T12:00:00.000Z.', 'timestamp')
  const clock = parseVectorClock(value.clock)
  if (clock === undefined) throw wrong('clock must be an object of replica ids to whole numbers from 0.', 'clock')
  return { type, id, operation, data: (data ?? {}) as JsonObject, at, replica, clock }
}

function isOperation(value: unknown): value is SyncOperation {
  return (OPERATIONS as readonly unknown[]).includes(value)
}

function wrong(message: string, field?: string): Problem {
  return new Problem('invalid_parameter', message, field === undefined ? {} : { field })
}
