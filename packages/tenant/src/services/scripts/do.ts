import { isPlainObject, type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Steps, Stepwise } from '../../engine/turns.ts'
import type { Grant } from '../../grant/grant.ts'
import { newId } from '../../ids.ts'
import { type UnknownField, unknownMembers } from '../../query/parameters/unknown-names.ts'
import type { Transactor } from '../../write/group-commit.ts'
import type { Write, WriteContext } from '../../write/write.ts'
import { changesetOf } from '../changesets/changeset.ts'
import { beginProposal, propose } from '../changesets/propose.ts'
import { AnswerRows } from './answer-rows.ts'
import { answerInSteps, answerRead, codeBudget, isRead, scriptCall } from './call.ts'
import { DryRun, type TrialRunner } from './dry-run.ts'
import { LIMITS } from './limits.ts'
import { noScript } from './no-script.ts'
import { codeOf } from './stored.ts'
import { CodeWarnings } from './unknown.ts'

/** What code did. */
export interface CodeResult {
  readonly result: Json
  readonly logs: readonly string[]
  /** What everything it wrote shares, and is undone by; null when it wrote nothing. */
  readonly correlation: string | null
  /** Names that the types do not know. */
  readonly warnings?: readonly UnknownField[]
  /** What a dry run would have written. */
  readonly events?: readonly JsonObject[]
  /** What it proposed, when it was to propose; null when it wrote nothing. */
  readonly changeset?: ProposedChangeset | null
}

/** Where a proposal is found, and how to follow it. */
interface ProposedChangeset {
  readonly $id: string
  readonly title: string
  readonly state: string
  readonly operationCount: number
  readonly url: string
}

/** Runs the writes of code: in the next commit, or as a task with which it calls `excuse`. */
export interface CodeWriter {
  /** Runs verbs. In a task, computed fields follow once at its end. */
  toEnd<T>(
    context: Partial<WriteContext>,
    work: (write: Write) => Stepwise<T>,
    excuse?: (task: Promise<unknown>) => void,
  ): Promise<T>
  /** Runs a trial, or what proposes: computed fields follow each verb. */
  tried<T>(
    context: Partial<WriteContext>,
    work: (write: Write) => Steps<T>,
    excuse?: (task: Promise<unknown>) => void,
  ): Promise<T>
}

/** Runs code with the rights of a grant. Each operation is atomic and durable before the code continues. */
export async function runCode(
  { engine }: Transactor,
  grant: Grant,
  context: Partial<WriteContext>,
  write: CodeWriter,
  body: unknown,
): Promise<CodeResult> {
  const { code, dryRun, strict, into, reason, unknown } = parseRequest(body)
  const { script, clock, random } = engine.ports
  if (!script) throw noScript()
  const correlation = context.correlation ?? newId('do', clock, random)
  const begin = into === null ? null : (one: Write) => beginProposal(one, into)
  const run: TrialRunner = (work, excuse) => write.tried({ correlation, isDryRun: true }, work, excuse)
  const dry = dryRun || begin ? new DryRun(engine, grant, run, begin) : null
  const warnings = new CodeWarnings(engine, grant, strict, context.budget?.cpu ?? clock.now)
  const rows = new AnswerRows(grant)
  const { budget = codeBudget(engine), lens, url = null } = context
  const reading = { engine, grant, budget, ...(lens && { lens }), url }
  let wrote = false
  const live = async (name: string, args: readonly Json[], excuse?: (task: Promise<unknown>) => void) => {
    const call = scriptCall(name, args)
    if (isRead(call)) return answerRead(reading, call)
    const answer = await write.toEnd({ correlation }, (one) => answerInSteps(one, call), excuse)
    wrote = true
    return answer
  }
  const answer = await script.run({
    ...LIMITS,
    code,
    owner: engine.slug,
    call: async (name, args, excuse) => {
      warnings.look(scriptCall(name, args))
      return rows.counted(await (dry ? dry.call(name, args, excuse) : live(name, args, excuse)))
    },
  })
  const written = { correlation: wrote ? correlation : null }
  const { error, logs } = answer
  if (error) {
    const { reason } = error
    throw new Problem(error.code, error.message, { ...(reason && { reason }), logs, ...written })
  }
  const unknownNames = [...unknown, ...warnings.list]
  const told = {
    result: answer.result ?? null,
    logs,
    ...written,
    ...(unknownNames.length > 0 && { warnings: unknownNames }),
    ...(dry && { events: dry.events }),
  }
  if (into === null || dry === null || dryRun) return told
  if (!dry.wrote) return { ...told, changeset: null }
  return write.tried({ correlation }, function* (one) {
    const { changeset } = yield* propose(one, { into, reason, source: code }, (trial) => dry.replay(trial))
    return { ...told, changeset: summaryOf(one, changeset) }
  })
}

function summaryOf({ engine, grant, context }: Write, id: string): ProposedChangeset {
  const { title, state, operationCount } = changesetOf(engine, grant, id)
  return { $id: id, title, state, operationCount, url: `${context.url ?? engine.context}/changesets/${id}` }
}

const MEMBERS = ['code', 'dryRun', 'strict', 'propose', 'reason']

/** Reads what is asked of `do`. */
function parseRequest(body: unknown): {
  code: string
  dryRun: boolean
  strict: boolean
  into: string | null
  reason?: string
  unknown: readonly UnknownField[]
} {
  const code = codeOf(body)
  const { dryRun, strict, propose: into = null, reason } = isPlainObject(body) ? body : {}
  for (const [field, flag] of Object.entries({ dryRun, strict })) {
    if (flag === undefined || flag === null || typeof flag === 'boolean') continue
    throw new Problem('invalid_body', `${field} must be true or false.`, { field })
  }
  for (const [field, value] of Object.entries({ propose: into ?? undefined, reason })) {
    if (value === undefined || typeof value === 'string') continue
    throw new Problem('invalid_body', `${field} must be a string.`, { field })
  }
  return {
    code,
    dryRun: dryRun === true,
    strict: strict === true,
    into: into as string | null,
    unknown: unknownMembers(body, MEMBERS, { isStrict: strict === true }),
    ...(reason !== undefined && { reason: reason as string }),
  }
}
