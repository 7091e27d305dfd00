/** One message of a stream of server-sent events. */
export interface Message {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** The messages in a stream of bytes, as the HTML standard reads them: comments and messages without data are skipped. */
export async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let id = ''
  let event = ''
  let data: string[] = []
  for await (const line of linesIn(body)) {
    if (line === '') {
      if (data.length > 0) yield { id, event: event || 'message', data: data.join('\n') }
      event = ''
      data = []
      continue
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id' && !value.includes('\0')) id = value
  }
}

/** Lines that end with LF, CR or both; what follows the last end is not a line yet. */
async function* linesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      rest += decoder.decode(chunk.value, { stream: true })
      // A CR at the very end may be half of a CRLF: it waits for what comes next.
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop()!
      yield* lines
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
