import { isoOf, type JsonObject, type Noun } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { visibilityOf } from '../query/rights/visibility.ts'
import { currentOf } from '../store/entities.ts'
import { readEntries } from '../store/log/log.ts'
import { countVerb, seqsOfVerb } from '../store/log/versions.ts'
import { notFound } from '../write/verb.ts'

/** Records that are read at most for a narrowed grant. */
const MOST = 10_000

/** What a form was sent: the arguments of one `submit`. */
interface Submission {
  /** The id of its event. */
  readonly id: string
  readonly seq: number
  readonly timestamp: string
  readonly actor: string
  readonly data: JsonObject
}

export interface SubmissionPage {
  readonly results: readonly Submission[]
  readonly total: number
  readonly hasMore: boolean
  readonly cursor: string | null
}

/** The submissions of a form that a grant sees, newest first. They are kept in the events of the form. */
export function submissions(
  engine: Engine,
  grant: Grant,
  noun: Noun,
  id: string,
  limit: number,
  before: number | null,
): SubmissionPage {
  const { sql } = engine
  const form = currentOf(sql, noun.name, id)
  if (!form || form.deleted) throw notFound(noun.name, id)
  const { show } = visibilityOf(engine, grant, null)
  const isNarrow = Object.hasOwn(grant.rows, noun.name)
  // A narrowed grant sees a record by the state in it, so each is read.
  const seen = (seq: number) => readEntries(sql, [seq]).some((record) => show(record) !== null)
  const all = isNarrow ? seqsOfVerb(sql, form.ordinal, 'submit', null, MOST).filter(seen) : null
  const seqs =
    all?.filter((seq) => before === null || seq < before) ?? seqsOfVerb(sql, form.ordinal, 'submit', before, limit + 1)
  const page = seqs.slice(0, limit)
  const results = readEntries(sql, page)
    .flatMap((record) => show(record) ?? [])
    .map(({ id, seq, at, actor, args }) => ({
      id,
      seq,
      timestamp: isoOf(at),
      actor,
      data: args === null ? {} : (JSON.parse(args) as JsonObject),
    }))
  const hasMore = seqs.length > limit
  return {
    results,
    total: all?.length ?? countVerb(sql, form.ordinal, 'submit'),
    hasMore,
    cursor: hasMore ? String(page.at(-1)) : null,
  }
}
