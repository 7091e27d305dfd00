import { isPlainObject, type JsonObject } from '@tildebase/nouns'
import type { Stepwise, TenantWriter } from '@tildebase/tenant'
import { type Call, flagParam, type WriteRoute } from './call.ts'
import { json, type Reply } from './reply.ts'

/**
 * Runs a write in the next commit. One that takes too long for that is a task: it is answered as usual if it is done within
 * the time of a request, and else with 202 and the task, which continues. A GET, which leaves nothing, waits for its answer.
 */
export async function replyOrTask(
  route: WriteRoute,
  call: Call,
  isProposal: boolean,
  work: (write: TenantWriter, isLong: boolean) => Stepwise<Reply>,
): Promise<Reply> {
  const { tenant, grant, writes, budget } = call
  const outcome = await tenant.writeOrBegin(grant, writes, budget, aboutOf(route, call, isProposal), work)
  if ('status' in outcome) return outcome
  if (route.method === 'GET') return outcome.done
  return (await within(budget.limitMs, outcome.done)) ?? taskReply(call, outcome.task)
}

function aboutOf({ method, taskResult = [] }: WriteRoute, { request, query, tenant }: Call, isProposal: boolean) {
  const names = isProposal ? PROPOSED : taskResult
  return {
    title: `${request.method} ${request.path.replace(`/~${tenant.slug}`, '')}`,
    isDryRun: flagParam(query, 'dryRun') || method === 'GET',
    result: (reply: Reply) => keptOf(reply, names, flagParam(query, 'dryRun')),
  }
}

/** What is kept of a proposal: its changeset. */
const PROPOSED = ['$id']

/** What is kept of an answer. That of a dry run has the form that the dry run itself has. */
function keptOf({ status, content }: Reply, names: readonly string[], isDryRun: boolean): JsonObject {
  const value = (names.length > 0 || isDryRun) && content !== null ? content.value() : null
  if (!isDryRun || !isPlainObject(value)) return { status, ...partsOf(names, value) }
  return { dryRun: true, status: value.status as number, result: partsOf(names, value.result) }
}

function partsOf(names: readonly string[], value: unknown): JsonObject {
  if (!isPlainObject(value)) return {}
  return Object.fromEntries(names.filter((name) => name in value).map((name) => [name, value[name]])) as JsonObject
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
