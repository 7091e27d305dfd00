import type { Json, JsonObject } from '@tildebase/nouns'
import { act } from '../../authorship/stored.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import type { LogRow } from '../../store/log/log.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { storedHook } from '../../write/stored-hooks.ts'
import { answerInSteps, answerRead, codeBudget, isRead, scriptCall } from './call.ts'
import { LIMITS } from './limits.ts'
import { noScript } from './no-script.ts'
import { hookCall, runNow } from './run-write.ts'

/** The host stops: what was asked of it has not been done. */
export class StoppedError extends Error {}

/** Runs the stored hook after an event. What it writes is durable at once, and is undone with what led to it. */
export async function runStoredAfter(
  transactor: Transactor,
  event: LogRow,
  entity: JsonObject,
  view: JsonObject,
  hops: number,
): Promise<void> {
  const { engine } = transactor
  const hook = storedHook(engine, event.type, event.event)
  if (!hook) return
  const { script } = engine.ports
  if (!script) throw noScript()
  const { declaration, grant } = act(hook.code)
  // Its author lost the type, for example because the type moved to another domain.
  if (visibilityOf(engine, grant, null).show(event) === null) return
  const reading = { engine, grant, budget: codeBudget(engine) }
  const { error } = await script.run({
    ...LIMITS,
    code: hookCall(declaration),
    owner: engine.slug,
    values: { entity, args: view },
    call: async (name, args, excuse): Promise<Json> => {
      const call = scriptCall(name, args)
      if (isRead(call)) return answerRead(reading, call)
      const context = { hops, correlation: event.correlation }
      return runNow(transactor, grant, context, (write) => answerInSteps(write, call), excuse)
    },
  })
  if (error?.code === 'busy') throw new StoppedError(error.message)
  if (error) throw new Error(error.message)
}
