import type { Verb } from '@tildebase/nouns'
import { partsNaming } from '../../store/changesets.ts'
import { currentOf } from '../../store/entities.ts'
import { eraseValues } from '../../store/log/erase.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { type Operation, partOf, writeParts } from './operations.ts'

/** What is left of a changeset once an entity was erased: a verb of the service's own, which no client can name. */
const REDACT: Verb = { name: 'redact', before: 'redacting', event: 'redacted' }

/** Takes an entity that is being erased out of every changeset: operations that name it are dropped. */
export function eraseFromChangesets(write: Write, id: string): void {
  for (const part of partsNaming(write.sql, id)) {
    const { ordinal, data } = currentOf(write.sql, 'ChangesetPart', part)!
    const operations = partOf(write.engine, part)
    const events = eraseValues(write.sql, write.engine.ports.seal, 'ChangesetPart', part, ordinal)
    applyVerb(write, { type: 'Erasure', verb: 'create', data: { type: 'ChangesetPart', entity: part, events } })
    if (operations.length > 0) keepOthers(write, (JSON.parse(data) as { changeset: string }).changeset, operations, id)
  }
}

/** Writes the operations that do not name the entity as their own part. */
function keepOthers(write: Write, changeset: string, operations: readonly Operation[], id: string): void {
  const current = JSON.parse(currentOf(write.sql, 'Changeset', changeset)!.data) as {
    parts: number
    operationCount: number
  }
  const kept = operations.filter((operation) => !JSON.stringify(operation).includes(id))
  const stored = kept.map(({ base: _, ...operation }) => operation)
  const { parts } = writeParts(write, changeset, current.parts, operations[0]!.base, stored)
  const operationCount = current.operationCount - (operations.length - kept.length)
  applyVerb(write, {
    type: 'Changeset',
    verb: REDACT.name,
    id: changeset,
    data: {},
    internalVerb: REDACT,
    serviceFields: { parts, operationCount },
  })
}
