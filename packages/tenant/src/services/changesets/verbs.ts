import { invalid, isoOf, isPlainObject, type Json, Problem } from '@tildebase/nouns'
import type { Steps } from '../../engine/turns.ts'
import { isAgents, may } from '../../grant/grant.ts'
import { mayApproveOwn } from '../../grant/scopes.ts'
import { applyVerb } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { SpecialVerb, Write } from '../../write/write.ts'
import { type Changeset, changesetOf, openChangeset, textIn } from './changeset.ts'
import { createChangeset, ofItsOwn } from './file.ts'
import { dropParts, type Operation, operationsOf, writeParts } from './operations.ts'
import { replay } from './replay.ts'

const LONGEST_COMMENT = 10_000
const MOST_COMMENTS = 1_000

/** The verbs of Changeset. No other way leads into one. */
export const changesetVerbs: { readonly [name: string]: SpecialVerb } = {
  'Changeset.create': create,
  'Changeset.approve': approve,
  'Changeset.reject': reject,
  'Changeset.comment': comment,
  'Changeset.rebase': rebase,
}

/** Creates a changeset without operations, for proposals to come. */
function create(write: Write, { data }: VerbRequest): RunResult {
  const { title, reason, ...others } = argsOf(data)
  const [unknown] = Object.keys(others).filter((field) => !field.startsWith('$'))
  if (unknown !== undefined) {
    throw invalid('Changeset', [
      { field: unknown, message: 'is set by the service; send title and reason, and propose the operations' },
    ])
  }
  return createChangeset(write, { title: title as string, reason: reason as string | undefined }, [])
}

/** Runs the operations, all or those that `{operations}` names, or changes nothing. */
function* approve(write: Write, request: VerbRequest): Steps<RunResult> {
  const { engine, grant } = write
  const changeset = opened(write, request, 'approve')
  if (isAgents(grant)) {
    throw new Problem('forbidden', 'An agent cannot approve a changeset: a person decides, on the page of its url.', {
      type: 'Changeset',
      id: changeset.id,
    })
  }
  // What a caller stored has the caller's rights, and is not another person.
  if (changeset.author === (grant.author?.actor ?? grant.actor) && !mayApproveOwn(grant.scopes)) {
    throw new Problem('forbidden', 'Authors cannot approve their own changesets. This needs the scope approve:own.', {
      type: 'Changeset',
      id: changeset.id,
    })
  }
  const all = operationsOf(engine, changeset)
  const numbers = numbersIn(argsOf(request.data), 'operations', all)
  const chosen = numbers === null ? all : all.filter(({ number }) => numbers.has(number))
  if (chosen.length === 0) {
    throw new Problem('invalid_operation', 'This changeset has no operations to approve.', { field: 'operations' })
  }
  // All that an approval writes is undone by the id of the changeset.
  const replaying = write.as({ ...grant, onBehalfOf: changeset.author }).within({ correlation: changeset.id })
  const { steps, conflicts } = yield* replay(replaying, chosen)
  const forbidden = steps.find(({ problem }) => problem?.code === 'forbidden')
  if (forbidden) throw forbidden.problem!
  if (conflicts.length > 0) {
    throw new Problem(
      'conflict',
      `Nothing was changed: ${conflicts.length} of the operations ${conflicts.length === 1 ? 'is' : 'are'} in conflict.`,
      { type: 'Changeset', id: changeset.id, conflicts: conflicts as never },
    )
  }
  const result = settle(write, changeset, 'approve', {
    reviewer: grant.actor,
    ...(numbers !== null && { approved: chosen.map(({ number }) => number) }),
  })
  const results = steps.map(({ operation: { number, type, id }, result: done }) => ({
    operation: number,
    type,
    id,
    version: done!.entity.version,
    // What a run of a workflow or a hook gives is kept: it shows no secrets.
    ...(done!.secret !== undefined && grant.author === undefined && { secret: done!.secret }),
  }))
  return { ...result, entity: { ...result.entity, extra: { correlation: changeset.id, results } } }
}

/** Closes a changeset without running it. */
function reject(write: Write, request: VerbRequest): RunResult {
  const changeset = opened(write, request, 'reject')
  demandSay(write, changeset)
  const { reason } = argsOf(request.data)
  const said = reason === undefined ? {} : { comments: commented(write, changeset, reason) }
  return settle(write, changeset, 'reject', { reviewer: write.grant.actor, ...said })
}

function comment(write: Write, request: VerbRequest): RunResult {
  const changeset = changesetOf(write.engine, write.grant, request.id ?? '')
  return settle(write, changeset, 'comment', { comments: commented(write, changeset, argsOf(request.data).text) })
}

/** Keeps some operations as if they were proposed now, without the fields that `{leave}` names, and drops the others. */
function rebase(write: Write, request: VerbRequest): RunResult {
  const { engine } = write
  const changeset = opened(write, request, 'rebase')
  demandSay(write, changeset)
  const all = operationsOf(engine, changeset)
  const args = argsOf(request.data)
  const numbers = numbersIn(args, 'keep', all)
  const kept = numbers === null ? all : all.filter(({ number }) => numbers.has(number))
  const left = leftIn(args.leave, kept)
  const base = engine.head.seq
  const own = ofItsOwn(write)
  const operations = kept.flatMap(({ base: _, ...operation }) => without(operation, left.get(operation.number)))
  const { parts, bytes } = writeParts(own, changeset.id, changeset.parts, base, operations)
  dropParts(own, changeset.id, changeset.parts)
  return settle(write, changeset, 'rebase', { base, parts, bytes, operationCount: operations.length })
}

function settle(write: Write, { id }: Changeset, verb: string, serviceFields: { [field: string]: Json }): RunResult {
  return applyVerb(ofItsOwn(write), { type: 'Changeset', verb, id, data: {}, serviceFields })
}

/** The changeset that a verb is about, if it is open and the sender has seen its newest version. */
function opened({ engine, grant }: Write, { id = '', ifVersions }: VerbRequest, verb: string): Changeset {
  const changeset = openChangeset(engine, grant, id, verb)
  const { version } = changeset.entity
  if (ifVersions === undefined || ifVersions.includes(version)) return changeset
  throw new Problem('version_mismatch', `The Changeset has version ${version}. Read it again and retry.`, {
    type: 'Changeset',
    id,
    version,
  })
}

/** Its author can withdraw or rebase a changeset, and so can grants with write access to all its types. */
function demandSay({ engine, grant }: Write, { id, author, types }: Changeset): void {
  if (author === grant.actor) return
  const missing = types.find((type) => !may(grant, 'write', engine.noun(type)))
  if (missing === undefined && types.length > 0) return
  throw new Problem('forbidden', 'Only its author, or a key with write access to all its types, can do this.', {
    type: 'Changeset',
    id,
    ...(missing && { missing: `write:${missing}` }),
  })
}

function commented(write: Write, { comments }: Changeset, given: unknown): Json {
  const text = textIn('text', given, LONGEST_COMMENT)
  if (comments.length >= MOST_COMMENTS) {
    throw new Problem('too_many', `A changeset may have at most ${MOST_COMMENTS} comments.`, { limit: MOST_COMMENTS })
  }
  return [...comments, { by: write.grant.actor, at: isoOf(write.now()), text }]
}

/** The operations that an argument names by their numbers; null when it is absent, which means all. */
function numbersIn(
  args: { readonly [name: string]: unknown },
  field: string,
  all: readonly Operation[],
): ReadonlySet<number> | null {
  const given = args[field]
  if (given === undefined || given === null) return null
  const known = new Set(all.map(({ number }) => number))
  const unknown = Array.isArray(given) ? given.find((number) => !known.has(number)) : given
  if (Array.isArray(given) && unknown === undefined) return new Set(given)
  const message = Array.isArray(given)
    ? `there is no operation ${JSON.stringify(unknown)} in this changeset`
    : 'must be a list of operation numbers, such as [1, 3]'
  throw invalid('Changeset', [{ field, message }])
}

/** The fields that `[{operation, field}]` leaves out, by the numbers of their operations. */
function leftIn(given: unknown, kept: readonly Operation[]): ReadonlyMap<number, ReadonlySet<string>> {
  const left = new Map<number, Set<string>>()
  const known = new Map<unknown, Operation>(kept.map((operation) => [operation.number, operation]))
  const refuse = (message: string): never => {
    throw invalid('Changeset', [{ field: 'leave', message }])
  }
  if (given !== undefined && given !== null && !Array.isArray(given))
    refuse('must be a list, such as [{"operation": 1, "field": "title"}]')
  for (const one of (given ?? []) as readonly unknown[]) {
    const { operation: number, field } = isPlainObject(one) ? one : {}
    const operation = known.get(number)
    if (!operation) return refuse(`there is no operation ${JSON.stringify(number) ?? ''} that is kept`)
    const isGiven = typeof field === 'string' && Object.hasOwn(operation.data ?? {}, field)
    // The other verbs are one act, and the arguments of a verb say how.
    if (operation.verb !== 'update' || !isGiven)
      return refuse(`operation ${operation.number} is not an update with the field ${JSON.stringify(field) ?? ''}`)
    left.set(operation.number, (left.get(operation.number) ?? new Set()).add(field))
  }
  return left
}

/** An operation without some fields; nothing, if it has no others. */
function without<T extends Omit<Operation, 'base'>>(operation: T, left: ReadonlySet<string> | undefined): readonly T[] {
  if (left === undefined) return [operation]
  const data = Object.fromEntries(Object.entries(operation.data ?? {}).filter(([field]) => !left.has(field)))
  if (Object.keys(data).every((field) => field.startsWith('$'))) return []
  return [{ ...operation, data, fields: operation.fields.filter((field) => !left.has(field)) }]
}

function argsOf(data: unknown): { readonly [name: string]: unknown } {
  if (data === undefined || data === null) return {}
  if (isPlainObject(data)) return data
  throw invalid('Changeset', [{ field: '', message: 'the body must be a JSON object' }])
}
