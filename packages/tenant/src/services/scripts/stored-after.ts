import type { Json, JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { grantFor } from '../../grant/grant.ts'
import type { LogRow } from '../../store/log.ts'
import { answerCall, isRead, scriptCall } from './call.ts'
import { LIMITS } from './limits.ts'
import { storedHook } from './stored.ts'
import { hookCall, noScript, runNow } from './stored-before.ts'

/** The host stops: what was asked of it has not been done. */
export class StoppedError extends Error {}

/** Runs the stored hook after an event. What it writes is durable at once, and is undone with what led to it. */
export async function runStoredAfter(
  tenant: Engine,
  event: LogRow,
  entity: JsonObject,
  view: JsonObject,
  hops: number,
): Promise<void> {
  const hook = storedHook(tenant, event.type, event.event)
  if (!hook) return
  const { script } = tenant.ports
  if (!script) throw noScript()
  const grant = grantFor(`hook:${event.type}.${event.event}`)
  const { error } = await script.run({
    ...LIMITS,
    code: hookCall(hook.code),
    owner: tenant.slug,
    values: { entity, args: view },
    call: async (name, args): Promise<Json> => {
      const call = scriptCall(name, args)
      const answer = () => answerCall(tenant, grant, call, event.correlation)
      return isRead(call) ? answer() : runNow(tenant, () => tenant.after(hops, answer))
    },
  })
  if (error?.code === 'busy') throw new StoppedError(error.message)
  if (error) throw new Error(error.message)
}
