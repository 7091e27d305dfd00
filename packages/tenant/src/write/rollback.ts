import { type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { asOfSeq } from '../query/parameters/parameters.ts'
import type { Current } from '../store/entities.ts'
import { readEntry } from '../store/log/log.ts'
import { seqsOf } from '../store/log/versions.ts'

/** The seq that `{asOf}` or `{version}` of a rollback means. */
export function rollbackSeq(engine: Engine, noun: Noun, current: Current, args: JsonObject): number {
  if (args.version !== undefined) return seqOfVersion(engine, noun, current, args.version)
  if (args.asOf !== undefined) return asOfSeq(engine, args.asOf)
  throw new Problem('invalid_as_of', 'The rollback needs asOf, such as 2026-01-31T12:00:00Z or 7d ago, or a version.', {
    type: noun.name,
    field: 'asOf',
  })
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
