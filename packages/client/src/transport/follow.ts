import { Problem } from '@tildebase/nouns'
import { backOff, pause } from './retry.ts'
import { type Message, messagesIn } from './sse.ts'
import type { Wire } from './wire.ts'

export interface FollowOptions {
  /** The id of the last message that was seen: the stream continues right after it. */
  readonly lastEventId?: string | number | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with true when the stream connects, and with false when the connection is lost. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined
}

/** The messages of a live answer, until the signal ends it. Reconnects after the last message that it saw. */
export async function* follow(
  wire: Wire,
  path: string,
  query: (last: string | undefined) => { readonly [name: string]: unknown },
  { lastEventId, signal, onConnection }: FollowOptions,
): AsyncGenerator<Message, void> {
  let last = lastEventId === undefined ? undefined : String(lastEventId)
  for (let failures = 0; ; failures++) {
    try {
      const headers = { accept: 'text/event-stream', 'last-event-id': last }
      const response = await wire.send(path, { query: query(last), headers, signal })
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) throw notLive(response)
      onConnection?.(true)
      for await (const message of messagesIn(response.body!)) {
        if (message.id !== '') last = message.id
        failures = 0
        yield message
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
