import type { JsonObject } from '@tildebase/nouns'
import { audiencesOf } from '../../query/rights/changeset-rows.ts'
import type { ProposedVerb } from '../../write/recorder.ts'
import { applyVerb } from '../../write/verb.ts'
import type { VerbResult } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'
import { type Changeset, textIn } from './changeset.ts'
import { demandSize, operationsOf, writeParts } from './operations.ts'
import { staleAt } from './stale.ts'

const LONGEST_TITLE = 200
const LONGEST_REASON = 10_000
const LONGEST_SOURCE = 10_000

/** The verbs behind `Changeset.proposed`: the first proposal creates the changeset, others add to it. */
const CREATE = { name: 'create', before: 'proposing', event: 'proposed' }
const ADD = { name: 'propose', before: 'proposing', event: 'proposed' }

/** What a new changeset says of itself. */
export interface NewChangeset {
  readonly title: string
  readonly reason?: string | undefined
  /** The seq that its operations were made at; now when absent. */
  readonly base?: number
  /** The request or the code that proposed it. */
  readonly source?: string | undefined
  /** The fork that they come from. */
  readonly from?: string
}

/** Creates a changeset with its operations, which may be none yet. */
export function createChangeset(write: Write, about: NewChangeset, verbs: readonly ProposedVerb[]): VerbResult {
  const own = ofItsOwn(write)
  const id = own.newId('changeset')
  const base = about.base ?? own.engine.head.seq
  const { title, reason, from, source } = about
  const empty = { id, operationCount: 0, bytes: 0, parts: 0, types: [] }
  const result = applyVerb(own, {
    type: 'Changeset',
    verb: CREATE.name,
    internalVerb: CREATE,
    keepId: true,
    data: {
      $id: id,
      title: textIn('title', title, LONGEST_TITLE),
      ...(reason !== undefined && { reason: textIn('reason', reason, LONGEST_REASON) }),
    },
    serviceFields: {
      state: 'Open',
      author: own.grant.actor,
      base,
      ...(from !== undefined && { from }),
      ...(source !== undefined && { source: source.slice(0, LONGEST_SOURCE) }),
      ...filed(own, empty, base, verbs),
    },
  })
  write.wakeAt(staleAt(write.engine, result.entity.createdAt))
  return result
}

/** Adds operations to a changeset. */
export function addOperations(write: Write, changeset: Changeset, verbs: readonly ProposedVerb[]): VerbResult {
  const own = ofItsOwn(write)
  return applyVerb(own, {
    type: 'Changeset',
    verb: ADD.name,
    id: changeset.id,
    internalVerb: ADD,
    serviceFields: filed(own, changeset, own.engine.head.seq, verbs),
  })
}

/** The same write without its correlation: undoing what a request wrote must not stop at the changeset itself. */
export function ofItsOwn(write: Write): Write {
  return write.within({ correlation: null })
}

/** Writes operations behind those that a changeset has, and returns what it then says of them. */
function filed(
  write: Write,
  changeset: Pick<Changeset, 'id' | 'operationCount' | 'bytes' | 'parts' | 'types'>,
  base: number,
  verbs: readonly ProposedVerb[],
): JsonObject {
  const { engine, grant } = write
  const operationCount = changeset.operationCount + verbs.length
  demandSize(operationCount, changeset.bytes)
  const first = (operationsOf(engine, changeset).at(-1)?.number ?? 0) + 1
  const numbered = verbs.map((verb, index) => ({ number: first + index, ...verb }))
  const { parts, bytes } = writeParts(write, changeset.id, changeset.parts, base, numbered)
  demandSize(operationCount, changeset.bytes + bytes)
  const types = [...new Set([...changeset.types, ...verbs.map(({ type }) => type)])].sort()
  const audience = audiencesOf(engine, grant, types)
  return {
    operationCount,
    parts,
    bytes: changeset.bytes + bytes,
    ...(types.length > 0 && { types }),
    ...(audience.length > 0 && { audience }),
  }
}
