import type { EventOf, EventPattern, EventRecord, NounMap } from '@tildebase/nouns'
import { type Time, timeText } from './entities/query.ts'
import { type FollowOptions, follow } from './transport/follow.ts'
import { type Page, pageOf } from './transport/page.ts'
import type { Wire } from './transport/wire.ts'

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

/** `lastEventId` is the `seq` of the last event that was seen. */
export interface StreamOptions<Name extends string = string> extends EventFilter<Name>, FollowOptions {}

/** The tenant's change stream. */
export interface Events<C extends NounMap = NounMap> {
  /** A page of events, oldest first, with the cursor to continue from. */
  list<P extends EventPattern<C> = '*'>(options?: ListOptions<P>): Promise<Page<EventOf<C, P>>>
  /** Events as they happen, until the signal ends it. Reconnects automatically, without lost or repeated events. */
  stream<P extends EventPattern<C> = '*'>(options?: StreamOptions<P>): AsyncGenerator<EventOf<C, P>, void>
}

/** The events of a tenant, by its path: for programs that need nothing else of a client. */
export function eventsOf(wire: Wire, root: string): Events {
  return {
    async list({ type, since, limit, cursor, wait, signal } = {}) {
      const query = { type: type ?? '*', since: since && timeText(since), limit, cursor, wait }
      return pageOf(await wire.json(`${root}/events`, { query, signal }))
    },
    stream: (options = {}) => stream(wire, `${root}/events`, options),
  }
}

async function* stream(wire: Wire, path: string, options: StreamOptions): AsyncGenerator<EventRecord, void> {
  const { type = '*', since } = options
  const query = (last: string | undefined) => ({
    type,
    since: last === undefined && since ? timeText(since) : undefined,
  })
  for await (const { data } of follow(wire, path, query, options)) yield JSON.parse(data)
}
