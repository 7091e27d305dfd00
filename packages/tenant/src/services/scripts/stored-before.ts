import { isPlainObject, type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { grantFor } from '../../grant/grant.ts'
import { HookRetry, type Question, WAITING } from '../../write/hook-retry.ts'
import { answerCall, isRead, scriptCall } from './call.ts'
import { HOOK_LIMITS } from './limits.ts'

/** A write is attempted at most this often: once more for each hook that only an earlier answer leads to. */
const MOST_ROUNDS = 100

/** Runs a write through `run`. Where stored BEFORE hooks have a say, they are asked and the write is run again. */
export async function withHookAnswers<T>(
  tenant: Engine,
  run: <R>(work: () => R) => Promise<R>,
  work: () => T,
): Promise<T> {
  const trial = new HookRetry()
  for (let round = 0; round < MOST_ROUNDS; round++) {
    try {
      return await run(() => trial.attempt(tenant, work))
    } catch (reason) {
      if (reason !== WAITING) throw reason
    }
    await Promise.all(trial.wanted.map(async (question) => trial.learn(question, await answerTo(tenant, question))))
  }
  throw new Problem('busy', 'What this writes changes faster than its hooks can be asked. Try again, or write less.')
}

/** Runs a write of its own at once, durable when it is answered; a promise of it where stored hooks are asked before. */
export function runNow<T>(tenant: Engine, work: () => T): T | Promise<T> {
  const trial = new HookRetry()
  try {
    return tenant.transaction(() => trial.attempt(tenant, work) as never)
  } catch (reason) {
    if (reason !== WAITING) throw reason
  }
  return withHookAnswers(tenant, async (attempt) => tenant.transaction(attempt as never), work)
}

/** The problem of a host that cannot run code of strangers. */
export function noScript(): Problem {
  return new Problem('not_supported', 'This host does not run code: it has no interpreter to run it in.')
}

async function answerTo(tenant: Engine, { hook, verb, entity, args }: Question): Promise<JsonObject | Problem> {
  const { script } = tenant.ports
  if (!script) return noScript()
  const name = `${hook.type}.${hook.name}`
  const { result, error } = await script.run({
    ...HOOK_LIMITS,
    code: hookCall(hook.code),
    owner: tenant.slug,
    values: { entity, args },
    call: async (called, given) => readOnly(tenant, name, called, given),
  })
  if (error?.code === 'busy') return new Problem('busy', error.message)
  if (error) return new Problem('rejected', error.said || `The hook ${name}: ${error.message}`, { type: hook.type })
  if (result === null || result === undefined) return {}
  if (isPlainObject(result)) return result as JsonObject
  const fault = `The hook ${name} must return an object of fields to change, or nothing; ${verb} was refused.`
  return new Problem('rejected', fault, { type: hook.type })
}

/** The code that calls a stored hook. */
export function hookCall(code: string): string {
  return `(${code}\n)(entity, $, args)`
}

function readOnly(tenant: Engine, hook: string, called: string, args: readonly Json[]): Json {
  const call = scriptCall(called, args)
  if (isRead(call)) return answerCall(tenant, grantFor(`hook:${hook}`), call, null)
  throw new Problem('forbidden', `A hook before a verb may only read; do ${called} in the hook after it.`)
}
