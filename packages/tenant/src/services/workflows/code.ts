import { type Json, Problem } from '@tildebase/nouns'
import type { Budget } from '../../budget.ts'
import { asSteps, type Steps } from '../../engine/turns.ts'
import { runAt } from '../../store/automation/workflow-runs.ts'
import { callsOf, saveCall } from '../../store/automation/workflow-steps.ts'
import type { Transactor } from '../../write/group-commit.ts'
import type { Write } from '../../write/write.ts'
import { answerInSteps, answerRead, codeBudget, isRead, type ScriptCall, scriptCall } from '../scripts/call.ts'
import { LIMITS } from '../scripts/limits.ts'
import { noScript } from '../scripts/no-script.ts'
import { runNow } from '../scripts/run-write.ts'
import type { CodeTask, Outcome } from './run.ts'

/** The code that calls the function of a step. */
export function stepCall(code: string): string {
  return `(${code}\n)(event, $, steps)`
}

/** Runs the code of a step. Null when the host stops: the step is run again when the tenant is next open. */
export async function runStepCode(transactor: Transactor, task: CodeTask): Promise<Outcome | null> {
  const { engine } = transactor
  const { script, clock } = engine.ports
  if (!script) return { problem: noScript() }
  const { run, step, sources, deadline } = task
  const left = deadline === null ? LIMITS.timeMs : deadline - clock.now()
  const journal = new Journal(transactor, task)
  const { result, error } = await script.run({
    ...LIMITS,
    timeMs: Math.max(1, Math.min(LIMITS.timeMs, left)),
    code: stepCall(task.code),
    owner: engine.slug,
    values: { event: sources.event, steps: sources.steps.map((one) => one ?? null) },
    call: (name, args, excuse) => journal.answer(name, args, excuse),
  })
  if (error?.code === 'busy') return null
  return error
    ? { problem: new Problem(error.code, error.said || error.message, { id: run.id, field: `steps.${step}` }) }
    : { result: result ?? null }
}

/**
 * What the code of a step writes, with the answers. Each write and its record share a transaction, so code that runs
 * again, after a failure or a crash, gets the answer of before for the same call and does not write again.
 */
class Journal {
  readonly #transactor: Transactor
  readonly #task: CodeTask
  readonly #known: { readonly request: string; readonly answer: string; used: boolean }[]
  readonly #budget: Budget
  #count: number

  constructor(transactor: Transactor, task: CodeTask) {
    this.#transactor = transactor
    this.#task = task
    this.#budget = codeBudget(transactor.engine)
    const calls = callsOf(transactor.engine.sql, task.run.n, task.step)
    this.#known = calls.map(([request, answer]) => ({ request, answer, used: false }))
    this.#count = calls.length
  }

  async answer(name: string, args: readonly Json[], excuse?: (task: Promise<unknown>) => void): Promise<Json> {
    const { engine } = this.#transactor
    const call = scriptCall(name, args)
    if (isRead(call)) return answerRead({ engine, grant: this.#task.grant, budget: this.#budget }, call)
    const request = JSON.stringify([name, args])
    const known = this.#known.find((one) => !one.used && one.request === request)
    if (!known) return this.#write(call, request, excuse)
    known.used = true
    return JSON.parse(known.answer) as Json
  }

  #write(
    call: ScriptCall,
    request: string,
    excuse: ((task: Promise<unknown>) => void) | undefined,
  ): Json | Promise<Json> {
    const { run, grant } = this.#task
    const place = this.#count++
    const context = { hops: run.hops + 1, correlation: run.id }
    return runNow(this.#transactor, grant, context, (write) => this.#answerIn(write, call, request, place), excuse)
  }

  *#answerIn(write: Write, call: ScriptCall, request: string, place: number): Steps<Json> {
    const { run, step } = this.#task
    if (runAt(write.sql, run.n)?.endedAt !== null) throw new Problem('conflict', 'The run was cancelled.')
    const answer = yield* asSteps(answerInSteps(write, call))
    saveCall(write.sql, run.n, step, place, request, JSON.stringify(answer))
    return answer
  }
}
