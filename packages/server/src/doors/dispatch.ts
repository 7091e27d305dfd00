import { Problem } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import {
  type Call,
  flagParam,
  type Match,
  type Route,
  type RouteTable,
  type StreamRoute,
  type WriteRoute,
} from './call.ts'
import type { MaybePromise } from './http.ts'
import { json, type Reply } from './reply.ts'
import { redacted } from './watch/redact.ts'
import { isOnce, remember, rememberLong } from './writing/idempotency.ts'
import { isProposed, proposed } from './writing/propose.ts'

/** The route of a request, or the problem of having none. */
export function findRoute<R>(
  routes: RouteTable<R>,
  method: string,
  segments: readonly string[],
  document = '/~{tenant}/openapi.json',
): Match<R> {
  const found = routes.find(method, segments)
  if (found === null) {
    const path = segments.join('/').slice(0, 200)
    throw new Problem('unknown_path', `The path /${path} does not exist. See ${document} for all paths.`)
  }
  if ('allow' in found) {
    const allow = found.allow.join(', ')
    throw new Problem('method_not_allowed', `${method} is not supported here; use ${allow}.`, { allow })
  }
  return found
}

/** Runs a route, once the indexes that it asks are up to date. */
export function runRoute(route: Route, call: Call): MaybePromise<Reply> {
  const isBehind = asksIndexes(call) ? call.tenant.catchUp() : undefined
  return isBehind ? isBehind.then(() => runNow(route, call)) : runNow(route, call)
}

/** Whether a request may ask for words or for the past, as far as its text shows. */
function asksIndexes({ request: { query, body }, params }: Call): boolean {
  if (query !== '' && /%24text|\$text|asOf/i.test(query)) return true
  // The body of an entity's own paths holds fields, and no question.
  if (params.type !== undefined || !(body instanceof Uint8Array) || body.length >= MOST_LOOKED_AT) return false
  return /\$text|asOf/.test(new TextDecoder().decode(body))
}

const MOST_LOOKED_AT = 65_536

/** Runs a route: a reading one at once, a writing one in the next commit, once per Idempotency-Key. */
function runNow(route: Route, call: Call): MaybePromise<Reply> {
  const prepared = route.mode === 'write' ? route.prepare?.(call) : null
  return prepared ? prepared.then((whole) => runPrepared(route, whole)) : runPrepared(route, call)
}

function runPrepared(route: Route, call: Call): MaybePromise<Reply> {
  const isProposal = isProposed(route, call)
  if (route.mode === 'stream')
    return route.repeats ? route.handle(call) : rememberLong(call, () => runStream(route, call))
  if (route.mode === 'read' && !isOnce(call)) return route.handle(call)
  const isPlain = !isOnce(call) && !isProposal && !flagParam(call.query, 'dryRun')
  const inTurns = route.mode === 'write' && isPlain ? route.inTurns?.(call) : null
  if (inTurns) return inTurns
  return call.tenant.write(call.grant, call.writes, call.budget, (write) => {
    const work = () =>
      isProposal ? proposed(call, write, route.handle as WriteRoute['handle']) : handleIn(route, call, write)
    return route.mode === 'write' && flagParam(call.query, 'dryRun')
      ? dryRun(call, write, work)
      : remember(call, write, work)
  })
}

/** Runs a route inside a write. */
export function handleIn(route: Exclude<Route, StreamRoute>, call: Call, write: TenantWriter): Reply {
  if (route.mode === 'write') return route.handle(call, write)
  return route.handle({ ...call, read: call.read.atOnce() }) as Reply
}

/** Runs a write that leaves no trace: what it would answer, and the events it would write. */
export function dryRun(call: Call, write: TenantWriter, work: () => Reply): Reply {
  const { result, events } = write.dryRun(work)
  const value = result.content === null ? null : result.content.value()
  // A secret that was never issued is not shown.
  return json(200, { dryRun: true, status: result.status, result: redacted(value, call.writes.secrets), events })
}

async function runStream(route: StreamRoute, call: Call): Promise<Reply> {
  return route.handle(call)
}
