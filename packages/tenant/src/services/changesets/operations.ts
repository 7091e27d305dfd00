import { Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { afterMigrations, migrationsOf, nameNow, since } from '../../engine/migrations.ts'
import { currentOf } from '../../store/entities.ts'
import type { ProposedVerb } from '../../write/recorder.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import type { Changeset } from './changeset.ts'

/** A verb of a changeset under its number, which it keeps while others are dropped. */
export interface Operation extends ProposedVerb {
  readonly number: number
  /** The seq that it was proposed at. */
  readonly base: number
}

/** A hundred batches. */
const MOST_OPERATIONS = 10_000
const MOST_BYTES = 16_777_216
/** About how long the JSON of a part is: one row of the log. */
const PART_LENGTH = 131_072

type StoredOperation = Omit<Operation, 'base'>

/** The operations of a changeset, in their order: those of an open one with the names and kinds that fields have now. */
export function operationsOf(
  engine: Engine,
  { id, parts: count, state }: Pick<Changeset, 'id' | 'parts'> & Partial<Pick<Changeset, 'state'>>,
): Operation[] {
  const parts = Array.from({ length: count }, (_, index) => partOf(engine, partId(id, index)))
  const operations = parts.flat().sort((one, other) => one.number - other.number)
  return state === 'Open' ? operations.map((operation) => ofToday(engine, operation)) : operations
}

/** An operation as the migrations since its proposal would have left it. */
export function ofToday(engine: Engine, operation: Operation): Operation {
  const { type, base, data, fields } = operation
  const noun = engine.nouns.get(type)
  const migrations = since(migrationsOf(engine, type), base)
  if (!noun || migrations.length === 0) return operation
  return {
    ...operation,
    ...(data && { data: afterMigrations(noun, migrations, data) }),
    fields: fields.map((field) => nameNow(migrations, field)),
  }
}

/** The operations of one part. None once it was dropped or erased. */
export function partOf(engine: Engine, id: string): Operation[] {
  const part = currentOf(engine.sql, 'ChangesetPart', id)
  if (!part || part.deleted) return []
  const { base = 0, operations = [] } = JSON.parse(part.data) as { base?: number; operations?: StoredOperation[] }
  return operations.map((operation) => ({ ...operation, base }))
}

/** What was written of some operations: in how many parts, and how long they are. */
export interface WrittenParts {
  readonly parts: number
  readonly bytes: number
}

/** Writes operations as new parts of a changeset, from `first` on: no part is written again, so that it can be erased. */
export function writeParts(
  write: Write,
  changeset: string,
  first: number,
  base: number,
  operations: readonly StoredOperation[],
): WrittenParts {
  let parts = first
  let bytes = 0
  for (const chunk of chunksOf(operations)) {
    bytes += chunk.length
    const data = { $id: partId(changeset, parts++), changeset, base, operations: chunk.operations as never }
    applyVerb(write, { type: 'ChangesetPart', verb: 'create', data, keepId: true })
  }
  return { parts, bytes }
}

/** Removes the parts before `end`. */
export function dropParts(write: Write, changeset: string, end: number): void {
  for (let index = 0; index < end; index++) {
    const id = partId(changeset, index)
    if (currentOf(write.sql, 'ChangesetPart', id)?.deleted === false)
      applyVerb(write, { type: 'ChangesetPart', verb: 'delete', id })
  }
}

/** Refuses a changeset that would be larger than one person can review, or one transaction should run. */
export function demandSize(operations: number, bytes: number): void {
  if (operations > MOST_OPERATIONS) {
    throw new Problem(
      'too_many',
      `A changeset may have at most ${MOST_OPERATIONS} operations; this one has ${operations}.`,
      {
        field: 'operations',
        limit: MOST_OPERATIONS,
      },
    )
  }
  if (bytes > MOST_BYTES) {
    throw new Problem(
      'too_large',
      `The operations of a changeset may have at most 16 MiB of JSON; these have ${bytes}.`,
      {
        field: 'operations',
        limit: MOST_BYTES,
      },
    )
  }
}

function* chunksOf(operations: readonly StoredOperation[]) {
  let chunk: StoredOperation[] = []
  let length = 0
  for (const operation of operations) {
    chunk.push(operation)
    length += JSON.stringify(operation).length
    if (length < PART_LENGTH) continue
    yield { operations: chunk, length }
    chunk = []
    length = 0
  }
  if (chunk.length > 0) yield { operations: chunk, length }
}

function partId(changeset: string, index: number): string {
  return `changesetPart_${changeset.slice(changeset.indexOf('_') + 1)}-${index}`
}
