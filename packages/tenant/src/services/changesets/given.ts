import { type Issue, invalid, isPlainObject, type JsonObject } from '@tildebase/nouns'
import type { Steps } from '../../engine/turns.ts'
import { mayUse } from '../../write/files.ts'
import { contentsIn, type ProposedVerb, Recorder, refuseProposal } from '../../write/recorder.ts'
import type { RunResult } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'
import { createChangeset } from './file.ts'
import { demandSize, type Operation, ofToday } from './operations.ts'
import { type Conflict, replay } from './replay.ts'

/** A changeset created from operations, with their conflicts. */
export interface GivenChangeset {
  readonly result: RunResult
  readonly conflicts: readonly Conflict[]
}

/**
 * Creates a changeset from operations that are given as such: `{title, reason, operations, base, from}`. They may be in
 * conflict with what happened after `base`: that is for its review.
 */
export function* createFromOperations(write: Write, body: { readonly [name: string]: unknown }): Steps<GivenChangeset> {
  const { engine } = write
  const { title, reason, operations, base = engine.head.seq, from } = body
  const issues: Issue[] = []
  if (typeof base !== 'number' || !Number.isInteger(base) || base < 0 || base > engine.head.seq)
    issues.push({ field: 'base', message: `must be the seq of an event, 0 to ${engine.head.seq}` })
  if (from !== undefined && typeof from !== 'string') issues.push({ field: 'from', message: 'must be a string' })
  if (!Array.isArray(operations)) issues.push({ field: 'operations', message: 'must be a list' })
  const list = Array.isArray(operations) ? operations : []
  demandSize(list.length, 0)
  const given = list.map((one, index) => operationOf(write, one, index, base as number, issues))
  if (issues.length > 0) throw invalid('Changeset', issues)
  const recorder = new Recorder()
  const now = given.map((one) => ofToday(engine, one))
  const { result } = yield* write.transaction.dryRunInSteps(function* () {
    const tried = yield* replay(write.within({ isDryRun: true, recorder }), now)
    return { ...tried, recorded: [...recorder.verbs] }
  })
  const forbidden = result.steps.find(({ problem }) => problem?.code === 'forbidden')
  if (forbidden) throw forbidden.problem!
  let next = 0
  const verbs = result.steps.map(({ operation, problem }) =>
    problem === null ? result.recorded[next++]! : untried(write, operation),
  )
  const about = { title: title as string, reason: reason as string | undefined, base: base as number }
  const created = createChangeset(write, { ...about, ...(typeof from === 'string' && { from }) }, verbs)
  return { result: created, conflicts: result.conflicts }
}

function operationOf(write: Write, given: unknown, index: number, base: number, issues: Issue[]): Operation {
  const { type, verb, id, data = {} } = isPlainObject(given) ? given : {}
  const at = `operations.${index}`
  const noun = typeof type === 'string' ? write.engine.nouns.get(type) : undefined
  if (!noun) issues.push({ field: `${at}.type`, message: 'must be the name of a type' })
  if (typeof verb !== 'string') issues.push({ field: `${at}.verb`, message: 'must be the name of a verb' })
  if (!isPlainObject(data)) issues.push({ field: `${at}.data`, message: 'must be an object of fields' })
  if (verb !== 'create' && typeof id !== 'string') issues.push({ field: `${at}.id`, message: 'must be an id' })
  if (noun) refuseProposal(noun, data)
  const named = noun?.name ?? String(type)
  const draft = data as JsonObject
  const own = typeof id === 'string' ? id : typeof draft.$id === 'string' ? draft.$id : write.newId(noun?.prefix ?? '')
  const filled = verb === 'create' ? { ...draft, $id: own } : draft
  return { number: index + 1, base, type: named, verb: String(verb), id: own, data: filled, fields: fieldsOf(draft) }
}

/** A verb that could not be tried. The contents that it names are checked all the same, with the rights of its author. */
function untried(write: Write, { number: _, base: __, ...verb }: Operation): ProposedVerb {
  const { contents } = contentsIn(verb.data)
  const own = contents && { contents: contents.filter((hash) => mayUse(write, hash)) }
  return { ...verb, ...own, untried: true }
}

function fieldsOf(data: JsonObject): string[] {
  return Object.keys(data).filter((field) => !field.startsWith('$'))
}
