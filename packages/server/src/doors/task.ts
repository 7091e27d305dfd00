import { isPlainObject, type JsonObject } from '@tildebase/nouns'
import type { Stepwise, TenantWriter } from '@tildebase/tenant'
import { type Call, flagParam, type WriteRoute } from './call.ts'
import { json, type Reply } from './reply.ts'

/**
 * Runs a write in the next commit. One that takes too long for that is a task: it is answered as usual if it is done within
 * the time of a request, and else with 202 and the task, which continues.
 */
export async function replyOrTask(
  route: WriteRoute,
  call: Call,
  work: (write: TenantWriter, isLong: boolean) => Stepwise<Reply>,
): Promise<Reply> {
  const { tenant, grant, writes, budget } = call
  const outcome = await tenant.writeOrBegin(grant, writes, budget, aboutOf(route, call), work)
  if ('status' in outcome) return outcome
  return (await within(budget.limitMs, outcome.done)) ?? taskReply(call, outcome.task)
}

function aboutOf(route: WriteRoute, { request, query, tenant }: Call) {
  return {
    title: `${request.method} ${request.path.replace(`/~${tenant.slug}`, '')}`,
    isDryRun: flagParam(query, 'dryRun'),
    result: (reply: Reply) => ({ status: reply.status, ...partsOf(route, reply) }),
  }
}

function partsOf({ taskResult = [] }: WriteRoute, { content }: Reply): JsonObject {
  const value = taskResult.length > 0 && content !== null ? content.value() : null
  if (!isPlainObject(value)) return {}
  return Object.fromEntries(taskResult.filter((name) => name in value).map((name) => [name, value[name]])) as JsonObject
}

function taskReply({ tenant, grant, address }: Call, id: string): Reply {
  return json(202, tenant.tasks.get(grant, id), { location: `${address.slice(address.lastIndexOf('/~'))}/tasks/${id}` })
}

/** What a promise gives within so many milliseconds, or null. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((late) => {
    timer = setTimeout(late, ms, null)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
