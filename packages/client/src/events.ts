import { type EventOf, type EventRecord, type NounMap, Problem } from '@tildebase/nouns'
import { type Time, timeText } from './query.ts'
import { type Page, pageOf } from './transport/page.ts'
import { backOff, pause } from './transport/retry.ts'
import { messagesIn } from './transport/sse.ts'
import type { Wire } from './transport/wire.ts'
import type { EventPattern } from './types/types.ts'

/** Which events of the change stream: those of a type or pattern, after a time. */
export interface EventFilter<Name extends string = string> {
  /** `Contact`, `Contact.created`, `*.created` or `Contact.*`. */
  readonly type?: Name | undefined
  readonly since?: Time | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions<Name extends string = string> extends EventFilter<Name> {
  /** 1 to 1000; 100 by default. */
  readonly limit?: number | undefined
  /** The cursor of the page before. */
  readonly cursor?: string | null | undefined
  /** Seconds to wait for the next event when there is none yet; 60 at most. */
  readonly wait?: number | undefined
}

export interface StreamOptions<Name extends string = string> extends EventFilter<Name> {
  /** The `seq` of the last event that was seen: the stream continues right after it. */
  readonly lastEventId?: string | number | undefined
  /** Called with true when the stream connects, and with false when the connection is lost. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined
}

/** The tenant's change stream. */
export interface Events<C extends NounMap = NounMap> {
  /** A page of events, oldest first, with the cursor to continue from. */
  list<P extends EventPattern<C> = '*'>(options?: ListOptions<P>): Promise<Page<EventOf<C, P>>>
  /** Events as they happen, until the signal ends it. Reconnects automatically, without lost or repeated events. */
  stream<P extends EventPattern<C> = '*'>(options?: StreamOptions<P>): AsyncGenerator<EventOf<C, P>, void>
}

export function eventsOf(wire: Wire, root: string): Events {
  return {
    async list({ type, since, limit, cursor, wait, signal } = {}) {
      const query = { type: type ?? '*', since: since && timeText(since), limit, cursor, wait }
      return pageOf(await wire.json(`${root}/events`, { query, signal }))
    },
    stream: (options = {}) => follow(wire, `${root}/events`, options),
  }
}

async function* follow(wire: Wire, path: string, options: StreamOptions): AsyncGenerator<EventRecord, void> {
  const { type = '*', since, signal, onConnection } = options
  let last = options.lastEventId === undefined ? undefined : String(options.lastEventId)
  for (let failures = 0; ; failures++) {
    try {
      const query = { type, since: last === undefined && since ? timeText(since) : undefined }
      const headers = { accept: 'text/event-stream', 'last-event-id': last }
      const response = await wire.send(path, { query, headers, signal })
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) throw notLive(response)
      onConnection?.(true)
      for await (const { id, data } of messagesIn(response.body!)) {
        if (id !== '') last = id
        failures = 0
        yield JSON.parse(data)
      }
    } catch (reason) {
      if (signal?.aborted) return
      // Refused, not lost: coming back would change nothing.
      if (reason instanceof Problem && reason.code !== 'unreachable') throw reason
    }
    if (signal?.aborted) return
    onConnection?.(false)
    await pause(Math.random() * backOff(failures), signal).catch(() => {})
    if (signal?.aborted) return
  }
}

function notLive(response: Response): Problem {
  return new Problem('unexpected_answer', `${response.url} answered, but not with a stream of events.`)
}
