import type { JsonObject } from '@tildebase/nouns'
import { type FollowOptions, follow } from '../transport/follow.ts'
import { type Page, pageOf } from '../transport/page.ts'
import { pause } from '../transport/retry.ts'
import type { Message } from '../transport/sse.ts'
import type { Wire } from '../transport/wire.ts'
import { type Asking, listQuery } from './query.ts'

/** Changes that follow each other within this time are shown together. */
const GATHER_MS = 20

type Entities = Page<JsonObject>

/** A list that stays current: its page now, and again after each change. */
export async function* liveList(
  wire: Wire,
  path: string,
  filter: object | undefined,
  options: Asking & Omit<FollowOptions, 'lastEventId'>,
  find: () => Promise<Entities>,
): AsyncGenerator<Entities, void> {
  const own = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, own.signal]) : own.signal
  const messages = follow(wire, path, () => listQuery(filter, options), { ...options, signal })
  let page: Entities | null = null
  let next = messages.next()
  try {
    while (true) {
      const first = await next
      if (first.done) return
      const news = [first.value]
      const gathered = pause(GATHER_MS).then(() => null)
      while (true) {
        next = messages.next()
        const more = await Promise.race([next, gathered])
        if (more === null || more.done) break
        news.push(more.value)
      }
      page = after(page, news, options.sort !== undefined) ?? (await find())
      yield page
    }
  } catch (reason) {
    if (!signal.aborted) throw reason
  } finally {
    own.abort()
    next.catch(() => {})
  }
}

/** The page after some messages, or null if it must be read again. */
function after(page: Entities | null, news: readonly Message[], isSorted: boolean): Entities | null {
  let current = page
  for (const { event, data } of news) {
    const body = JSON.parse(data)
    if (event === 'page') current = pageOf(body)
    // Another entity may move up into the page, or the order may change.
    else if (current === null || current.hasMore || event === 'enter' || (isSorted && event === 'change')) return null
    else current = changed(current, event, body)
  }
  return current
}

function changed(page: Entities, event: string, entity: JsonObject): Entities {
  const rest = event === 'leave' ? page.filter(({ $id }) => $id !== entity.$id) : [...page]
  const results = rest.map((one) => (one.$id === entity.$id ? entity : one))
  const gone = page.length - results.length
  return pageOf({
    results,
    ...(page.total !== undefined && { total: page.total - gone }),
    hasMore: false,
    cursor: null,
  })
}
