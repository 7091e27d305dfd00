import { isPlainObject, type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { newId } from '../../ids.ts'
import type { WriteQueue } from '../../write/group-commit.ts'
import { answerCall, isRead, scriptCall } from './call.ts'
import { DryRun } from './dry-run.ts'
import { LIMITS } from './limits.ts'
import { codeOf } from './stored.ts'
import { noScript } from './stored-before.ts'

/** What code did. */
export interface CodeResult {
  readonly result: Json
  readonly logs: readonly string[]
  /** What everything it wrote shares, and is undone by; null when it wrote nothing. */
  readonly correlation: string | null
  /** What a dry run would have written. */
  readonly events?: readonly JsonObject[]
}

/** Reads what is asked of `do`: `{code, dryRun}`. */
export function doAsk(body: unknown): { code: string; dryRun: boolean } {
  const code = codeOf(body)
  const { dryRun } = isPlainObject(body) ? body : {}
  if (dryRun !== undefined && dryRun !== null && typeof dryRun !== 'boolean') {
    throw new Problem('invalid_body', 'dryRun is true or false.', { field: 'dryRun' })
  }
  return { code, dryRun: dryRun === true }
}

/** Runs somebody's code on the tenant. Each operation is whole by itself and durable before the code goes on. */
export async function runCode(
  tenant: Engine,
  commits: WriteQueue,
  grant: Grant,
  body: unknown,
  given: string | null = null,
): Promise<CodeResult> {
  const { code, dryRun } = doAsk(body)
  const { script, clock, random } = tenant.ports
  if (!script) throw noScript()
  const correlation = given ?? newId('do', clock, random)
  const rehearsal = dryRun ? new DryRun(tenant, commits, grant, correlation) : null
  let wrote = false

  const live = async (name: string, args: readonly Json[]): Promise<Json> => {
    const call = scriptCall(name, args)
    if (isRead(call)) return answerCall(tenant, grant, call, correlation)
    const answer = await commits.run(() => answerCall(tenant, grant, call, correlation))
    wrote = true
    return answer
  }
  const answer = await script.run({
    ...LIMITS,
    code,
    owner: tenant.slug,
    call: rehearsal ? (name, args) => rehearsal.call(name, args) : live,
  })
  const written = { correlation: wrote ? correlation : null }
  const { error, logs } = answer
  if (error) {
    const { reason } = error
    throw new Problem(error.code, error.message, { ...(reason && { reason }), logs, ...written })
  }
  return { result: answer.result ?? null, logs, ...written, ...(rehearsal && { events: rehearsal.events }) }
}
