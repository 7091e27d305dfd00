import { INVALID_PARAMS, ProtocolError } from '@modelcontextprotocol/server'
import { isPlainObject } from '@tildebase/nouns'
import type { Call } from '../call.ts'
import { problemOf } from '../respond.ts'
import type { Answer } from './result.ts'

const PAGE = 100

/** The codes of the working group; every other problem is one of the parameters. */
const CODES: { readonly [code: string]: number } = {
  not_found: -32_011,
  forbidden: -32_012,
  too_many: -32_013,
  not_supported: -32_014,
  unavailable: -32_015,
}

/** Answers `events/list`: a page of the event types that the grant may read. */
export function listEvents({ tenant, grant }: Call, params: unknown): Answer {
  const cursor = isPlainObject(params) ? params.cursor : undefined
  const types = tenant.subscriptions.types(grant)
  const after = cursor === undefined || cursor === null ? 0 : types.findIndex(({ name }) => name === cursor) + 1
  if (after === 0 && cursor !== undefined && cursor !== null)
    throw new ProtocolError(INVALID_PARAMS, 'The cursor is not one of this list.')
  const events = types.slice(after, after + PAGE)
  return { events, ...(after + PAGE < types.length && { nextCursor: events.at(-1)!.name }) }
}

/** Answers `events/subscribe`. */
export function subscribe(call: Call, params: unknown): Promise<Answer> {
  return withCodes(call, () => call.tenant.subscriptions.subscribe(call.grant, params))
}

/** Answers `events/unsubscribe`. */
export function unsubscribe(call: Call, params: unknown): Promise<Answer> {
  return withCodes(call, async () => {
    call.tenant.subscriptions.unsubscribe(call.grant, params)
    return {}
  })
}

async function withCodes(call: Call, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (reason) {
    const { code, message, about } = problemOf(reason)
    if (code === 'internal') {
      call.report(reason)
      throw reason
    }
    throw new ProtocolError(CODES[code] ?? INVALID_PARAMS, message, about)
  }
}
