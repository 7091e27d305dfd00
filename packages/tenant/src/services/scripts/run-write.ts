import { isPlainObject, type JsonObject, Problem } from '@tildebase/nouns'
import { act } from '../../authorship/stored.ts'
import { TOO_LONG, unlimited } from '../../budget.ts'
import type { Transaction } from '../../engine/engine.ts'
import { done, type Stepwise, TURN } from '../../engine/turns.ts'
import type { Grant } from '../../grant/grant.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { HOOKS_PENDING, HookAnswers, type HookQuestion, hasStoredHooks } from '../../write/stored-hooks.ts'
import type { Write, WriteContext } from '../../write/write.ts'
import { answerRead, codeBudget, isRead, scriptCall } from './call.ts'
import { HOOK_LIMITS } from './limits.ts'
import { noScript } from './no-script.ts'

/** A write is attempted at most this often: once more for each hook that only an earlier answer leads to. */
const MOST_ROUNDS = 100

type Context = Partial<WriteContext>
type Commit = <T>(work: (transaction: Transaction) => T) => Promise<T>

/** Runs a write through `commit`. Where stored BEFORE hooks have a say, they are asked and the write is run again. */
export function runWrite<T>(
  transactor: Transactor,
  commit: Commit,
  grant: Grant,
  context: Context,
  work: (write: Write) => Stepwise<T>,
): Promise<T> {
  const answers = answersFor(transactor)
  return untilAnswered(transactor, answers, context, () =>
    commit((transaction) => done(attemptWrite(transactor, transaction, answers, grant, context, work))),
  )
}

/** Attempts a write until all stored hooks that have a say in it have been asked. */
export async function untilAnswered<T>(
  transactor: Transactor,
  answers: HookAnswers,
  context: Context,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    try {
      return await attempt()
    } catch (reason) {
      if (reason !== HOOKS_PENDING) throw reason
    }
    const ask = async (question: HookQuestion) => answers.learn(question, await askHook(transactor, context, question))
    await Promise.all(answers.open.map(ask))
  }
  throw new Problem('busy', 'The data changes faster than its hooks can run. Try again, or write less.')
}

/**
 * Runs a write of background work at once, durable when it is answered. Where stored hooks are asked before, or if it takes
 * too long for one commit and becomes a task, it is a promise. It calls `excuse` with the task.
 */
export function runNow<T>(
  transactor: Transactor,
  grant: Grant,
  context: Context,
  work: (write: Write) => Stepwise<T>,
  excuse: (task: Promise<unknown>) => void = () => {},
): T | Promise<T> {
  const { engine } = transactor
  const inTask = (reason: unknown) => {
    if (reason !== TOO_LONG) throw reason
    const task = transactor.long!(grant, context, work)
    excuse(task)
    return task
  }
  try {
    return engine.commit((transaction) => attemptBriefly(transactor, transaction, grant, context, work))
  } catch (reason) {
    if (reason !== HOOKS_PENDING) return inTask(reason)
  }
  const own = bounded(transactor, context)
  return runWrite(transactor, async (attempted) => engine.commit(attempted), grant, own, brief(work)).catch(inTask)
}

/** Runs a write of background work inside a transaction. Throws when stored hooks have to be asked, or if it takes too long. */
export function attemptBriefly<T>(
  transactor: Transactor,
  transaction: Transaction,
  grant: Grant,
  context: Context,
  work: (write: Write) => Stepwise<T>,
): T {
  const own = bounded(transactor, context)
  return done(attemptWrite(transactor, transaction, answersFor(transactor), grant, own, brief(work)))
}

function brief<T>(work: (write: Write) => Stepwise<T>): (write: Write) => T {
  return (write) => write.context.budget.slice(TURN.attempt, () => done(work(write)))
}

/** Where the host has tasks, what takes too long for one commit becomes one. */
function bounded({ long, engine }: Transactor, context: Context): Context {
  return long ? { ...context, budget: unlimited(engine.ports.turns?.now) } : context
}

/** The code that calls a stored hook. */
export function hookCall(code: string): string {
  return `(${code}\n)(entity, $, args)`
}

/** A place for what stored BEFORE hooks answer about one write. */
export function answersFor({ engine }: Transactor): HookAnswers {
  const { seal, random, clock } = engine.ports
  return new HookAnswers(seal, random, clock)
}

/** Runs a write once, inside a transaction. Throws HOOKS_PENDING when stored hooks have to be asked first. */
export function attemptWrite<T>(
  transactor: Transactor,
  transaction: Transaction,
  hookAnswers: HookAnswers,
  grant: Grant,
  context: Context,
  work: (write: Write) => Stepwise<T>,
): Stepwise<T> {
  const own = { ...context, hookAnswers }
  if (!hasStoredHooks(transactor.engine)) return work(transactor.begin(transaction, grant, own))
  return hookAnswers.attempt((random) =>
    work(transactor.begin(transaction, grant, { ...own, random, clock: hookAnswers.clock })),
  )
}

async function askHook(
  { engine }: Transactor,
  { budget }: Context,
  { hook, verb, entity, args }: HookQuestion,
): Promise<JsonObject | Problem> {
  const { script } = engine.ports
  if (!script) return noScript()
  const name = `${hook.type}.${hook.name}`
  const { declaration, grant } = act(hook.code)
  const reading = { engine, grant, budget: budget ?? codeBudget(engine) }
  const { result, error } = await script.run({
    ...HOOK_LIMITS,
    code: hookCall(declaration),
    owner: engine.slug,
    values: { entity, args },
    call: async (called, given) => {
      const call = scriptCall(called, given)
      if (isRead(call)) return answerRead(reading, call)
      throw new Problem('forbidden', `A BEFORE hook can only read; run ${called} in an AFTER hook.`)
    },
  })
  if (error?.code === 'busy') return new Problem('busy', error.message)
  if (error) return new Problem('rejected', error.said || `The hook ${name}: ${error.message}`, { type: hook.type })
  if (result === null || result === undefined) return {}
  if (isPlainObject(result)) return result as JsonObject
  const fault = `The hook ${name} must return an object of fields to change, or nothing; ${verb} was refused.`
  return new Problem('rejected', fault, { type: hook.type })
}
