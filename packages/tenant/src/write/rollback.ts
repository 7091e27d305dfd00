import { type JsonObject, type Noun, Problem, parseInstant } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Current } from '../store/entities.ts'
import { readEntry, seqAt } from '../store/log.ts'
import { seqsOf } from '../store/versions.ts'

/** The seq that `{asOf}` or `{version}` of a rollback means. */
export function rollbackSeq(engine: Engine, noun: Noun, current: Current, args: JsonObject): number {
  if (args.version !== undefined) return seqOfVersion(engine, noun, current, args.version)
  const at = typeof args.asOf === 'string' ? parseInstant(args.asOf) : null
  if (at === null) {
    throw new Problem('invalid_as_of', 'Give asOf as an ISO 8601 time, such as 2026-01-31T12:00:00Z, or a version.', {
      type: noun.name,
      field: 'asOf',
    })
  }
  return seqAt(engine.sql, engine.head, at)
}

function seqOfVersion({ sql }: Engine, noun: Noun, current: Current, version: unknown): number {
  const seq = seqsOf(sql, current.ordinal).find((seq) => readEntry(sql, seq)?.version === version)
  if (seq !== undefined) return seq
  throw new Problem('not_found', `This ${noun.name} has no version ${version}.`, {
    type: noun.name,
    id: current.id,
    field: 'version',
  })
}
