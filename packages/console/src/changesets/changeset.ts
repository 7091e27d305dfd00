import type { Conflict, ProposedChange, ReviewedChangeset } from '@tildebase/client'
import type { Json } from '@tildebase/nouns'
import { t } from '../texts/text.ts'
import { labelOf } from '../values/format.ts'

/** A changeset as the review page has it. */
export interface Reviewed extends ReviewedChangeset {
  readonly $createdAt: string
  readonly operationCount: number
  readonly types?: readonly string[]
  readonly from?: string
  readonly source?: string
  readonly reviewer?: string
  /** The numbers of the operations that were run, when not all were. */
  readonly approved?: readonly number[]
}

/** One line of a review. All lines are equally high, so that only those in sight are drawn. */
export type Line =
  | {
      readonly kind: 'entity'
      readonly key: string
      readonly type: string
      readonly id: string
      readonly isNew: boolean
    }
  | {
      readonly kind: 'operation'
      readonly key: string
      readonly number: number
      readonly verb: string
      readonly type: string
      readonly conflicts: readonly string[]
    }
  | {
      readonly kind: 'change'
      readonly key: string
      readonly type: string
      readonly field: string
      readonly from: Json
      readonly to: Json
      readonly isConflict: boolean
    }

/** What to show of a review. */
export interface Choice {
  readonly words: string
  readonly onlyConflicts: boolean
}

/** What a person decides about a conflict: one field of an update, or an operation as a whole. */
export interface Decision {
  readonly key: string
  readonly operation: number
  /** Null when the operation cannot run without the field. */
  readonly field: string | null
  readonly reason: string
}

/** What `rebase` takes: the operations that stay, and the fields that they leave out. */
export interface Rebase {
  readonly keep: readonly number[]
  readonly leave: readonly { readonly operation: number; readonly field: string }[]
}

/** Why a field is in conflict, in the reader's language. The service says it in English, as it says what a rule refuses. */
function reasonOf({ field, reason }: Conflict): string {
  const isChange = field !== undefined && reason.endsWith('was changed after the proposal.')
  return isChange ? t('{} was changed after the proposal.', labelOf(field)) : reason
}

/** The decisions that the conflicts of a review ask for. */
export function decisionsOf({ operations, conflicts }: Pick<Reviewed, 'operations' | 'conflicts'>): Decision[] {
  const against = Map.groupBy(conflicts, ({ operation }) => operation)
  return operations.flatMap(({ number, verb, id, data = {} }): Decision[] => {
    const found = against.get(number) ?? []
    const isOwn = (one: Conflict) => one.id === id && one.field !== undefined && Object.hasOwn(data, one.field)
    if (verb === 'update' && found.every(isOwn))
      return found.map((conflict) => ({
        key: `${number} ${conflict.field}`,
        operation: number,
        field: conflict.field!,
        reason: reasonOf(conflict),
      }))
    const reason = found.map(reasonOf).join(' ')
    return found.length === 0 ? [] : [{ key: String(number), operation: number, field: null, reason }]
  })
}

/** The rebase without what these decisions leave. An update of which all fields are left is dropped by the service. */
export function rebaseOf(operations: Reviewed['operations'], left: readonly Decision[]): Rebase {
  const dropped = new Set(left.flatMap(({ operation, field }) => (field === null ? [operation] : [])))
  return {
    keep: operations.map(({ number }) => number).filter((number) => !dropped.has(number)),
    leave: left.flatMap(({ operation, field }) => (field === null ? [] : [{ operation, field }])),
  }
}

/** What was proposed and not approved: the service lists only what was written. */
function leftOut({ approved, operations, diff }: Reviewed): ProposedChange[] {
  if (!approved) return []
  const rest = operations.filter(
    ({ number }) => !approved.includes(number) && !diff.some(({ operation }) => operation === number),
  )
  return rest.map(({ number, type, id, verb, data }) => {
    const changes = Object.entries(data ?? {}).map(([field, to]) => [field, { from: null, to }])
    return { operation: number, type, id, verb, changes: Object.fromEntries(changes) }
  })
}

/** The lines of a review: each entity, its operations, and their fields. */
export function linesOf(review: Reviewed, { words, onlyConflicts }: Choice): Line[] {
  const { conflicts } = review
  const diff = [...review.diff, ...leftOut(review)]
  const against = Map.groupBy(conflicts, ({ operation }) => operation)
  const wanted = diff.filter(
    (change) => (!onlyConflicts || against.has(change.operation)) && (words === '' || isAbout(change, words)),
  )
  const entities = Map.groupBy(wanted, ({ type, id }) => `${type} ${id}`)
  return [...entities].flatMap(([key, changes]) => {
    const { type, id } = changes[0]!
    const isNew = changes.some(({ verb }) => verb === 'create')
    return [{ kind: 'entity', key, type, id, isNew } as const, ...changes.flatMap((change) => changeLines(change, key))]
  })

  function changeLines(change: ProposedChange, entity: string): Line[] {
    const found = against.get(change.operation) ?? []
    const fields = new Set(found.filter(({ id }) => id === change.id).map(({ field }) => field))
    const key = `${entity} ${change.operation}`
    const { operation: number, verb, type } = change
    return [
      { kind: 'operation', key, number, verb, type, conflicts: found.map(reasonOf) },
      ...Object.entries(change.changes).map(([field, { from, to }]) => ({
        kind: 'change' as const,
        key: `${key} ${field}`,
        type,
        field,
        from,
        to,
        isConflict: fields.has(field),
      })),
    ]
  }
}

/** An id that the service made: its type, its time, and characters by chance. */
const ID = /\b[a-z0-9]+_[a-z0-9]{22}\b/g

/** Whether all words are in a change. Ids are found by their beginning: what chance wrote into them is not what people look for. */
function isAbout({ type, id, verb, changes }: ProposedChange, words: string): boolean {
  const all = JSON.stringify([type, id, verb, changes]).toLowerCase()
  const ids = all.match(ID) ?? []
  const text = all.replace(ID, '')
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word) || ids.some((one) => one.startsWith(word)))
}
