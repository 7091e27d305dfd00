import { Late, Refusal, send } from './api.ts'
import type { Json } from './schema.ts'

/** An event of the tenant's log, as the change stream tells it. */
export interface LogEvent {
  readonly id: string
  readonly seq: number
  readonly type: string
  readonly timestamp: string
  readonly verb: string
  readonly entityType: string
  readonly entityId: string
  readonly version: number
  readonly actor: string
  readonly data: { readonly [field: string]: Json } | null
  readonly previous?: { readonly [field: string]: Json }
}

const LONGEST_WAIT = 15_000

/** Follows the log from `after` on, for ever: it comes back after a break and goes on where it was. */
export async function* follow(
  type: string,
  after: string | null,
  signal: AbortSignal,
  onLine: (isOpen: boolean) => void,
): AsyncGenerator<LogEvent> {
  let last = after
  let wait = 500
  while (!signal.aborted) {
    try {
      const response = await send('GET', '/events', {
        query: { type: type || null },
        headers: { accept: 'text/event-stream', ...(last !== null && { 'last-event-id': last }) },
        signal,
      })
      onLine(true)
      wait = 500
      for await (const block of blocks(response.body!)) {
        const { id, data } = fieldsOf(block)
        if (id !== undefined) last = id
        if (data !== '') yield JSON.parse(data) as LogEvent
      }
    } catch (reason) {
      if (signal.aborted || reason instanceof Late) return
      // A refusal stays one; what broke is tried again.
      if (reason instanceof Refusal && reason.status >= 400 && reason.status < 500) throw reason
    }
    onLine(false)
    await new Promise((done) => setTimeout(done, wait))
    wait = Math.min(wait * 2, LONGEST_WAIT)
  }
}

/** The blocks of a stream of server-sent events, which end with an empty line. */
async function* blocks(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let text = ''
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    text += chunk.value
    const parts = text.split(/\r?\n\r?\n/)
    text = parts.pop()!
    yield* parts
  }
}

function fieldsOf(block: string): { id: string | undefined; data: string } {
  let id: string | undefined
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name === 'id') id = value
    if (name === 'data') data.push(value)
  }
  return { id, data: data.join('\n') }
}
