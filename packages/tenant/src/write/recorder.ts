import { isPlainObject, type Json, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { CHANGESET } from '../grant/scopes.ts'
import { asOfSeq } from '../query/parameters/parameters.ts'
import type { RunResult, VerbRequest } from './verb-request.ts'

/** A verb that was proposed, with what it takes to run it again. */
export interface ProposedVerb {
  readonly type: string
  readonly verb: string
  readonly id: string
  readonly data?: JsonObject
  /** The fields that it gave or changed. A later change of one of them is a conflict. */
  readonly fields: readonly string[]
  readonly cascade?: boolean
  /** The hashes of contents that it names, which the author may use. */
  readonly contents?: readonly string[]
  /** Whether it could not run when it was proposed, so that the rights of its author are not known to be enough. */
  readonly untried?: true
}

/** What a recorder needs of the write that it follows. */
interface Followed {
  readonly engine: Engine
  onRollback(back: () => void): void
}

/** Notes the verbs that clients ask for while a proposal is tried out. Verbs that a verb runs are not recorded. */
export class Recorder {
  readonly verbs: ProposedVerb[] = []
  #depth = 0

  /** Runs a verb and notes it, unless another one leads to it. */
  run(write: Followed, noun: Noun, request: VerbRequest, run: () => RunResult): RunResult {
    if (this.#depth === 0) refuseProposal(noun, request.data)
    this.#depth++
    let result: RunResult
    try {
      result = run()
    } finally {
      this.#depth--
    }
    if (this.#depth === 0) {
      const count = this.verbs.length
      write.onRollback(() => void this.verbs.splice(count))
      this.verbs.push(proposed(write, noun, request, result))
    }
    return result
  }
}

/** Refuses what cannot be part of a changeset. */
export function refuseProposal(noun: Noun, data: unknown): void {
  if (noun.name === CHANGESET) {
    throw new Problem('invalid_operation', 'A verb of a Changeset cannot be proposed. Omit propose.', {
      type: noun.name,
      field: 'propose',
    })
  }
  const secret = Object.values(noun.fields).find(
    (field) => field.kind === 'secret' && isPlainObject(data) && data[field.name] !== undefined,
  )
  if (!secret) return
  // A proposal is kept, and secrets are never kept in plain text.
  throw new Problem(
    'invalid_operation',
    `A proposal cannot contain ${secret.name}. Omit it: the approval creates one.`,
    {
      type: noun.name,
      field: secret.name,
    },
  )
}

function proposed({ engine }: Followed, noun: Noun, request: VerbRequest, { entity, event }: RunResult): ProposedVerb {
  const { verb, cascade } = request
  const given = (isPlainObject(request.data) ? request.data : {}) as JsonObject
  const changed = event?.previous ? Object.keys(JSON.parse(event.previous)) : []
  const own = Object.keys(given).filter(
    (field) => !field.startsWith('$') && field !== 'createdAt' && field !== 'updatedAt',
  )
  const data = verb === 'create' ? { ...given, $id: entity.id } : verb === 'rollback' ? pinned() : given
  return {
    type: noun.name,
    verb,
    // A merge gives the other entity.
    id: request.id ?? entity.id,
    ...(Object.keys(data).length > 0 && { data }),
    fields: verb === 'create' || verb === 'rollback' ? changed : [...new Set([...own, ...changed])],
    ...(cascade && { cascade }),
    ...contentsIn(data),
  }

  /** A time such as `7d ago` means the day of the proposal, not that of its approval. */
  function pinned(): { readonly [field: string]: Json } {
    return given.asOf === undefined ? given : { ...given, asOf: String(asOfSeq(engine, given.asOf)) }
  }
}

/** The contents that a verb names, if there are any. Those of a verb that was tried were checked. */
export function contentsIn(data: JsonObject | undefined): { readonly contents?: readonly string[] } {
  const text = JSON.stringify(data ?? {})
  return text.includes('"sha256:') ? { contents: text.match(/sha256:[0-9a-f]{64}/g) ?? [] } : {}
}
