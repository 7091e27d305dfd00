import { type JsonObject, Problem } from '@tildebase/nouns'

/** An entity of 1 MiB, its state before, and every character escaped. */
const LONGEST = 16_777_216

/** The lines of a stream of bytes, each a JSON object. */
export async function* jsonLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const bytes of source) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop()!
    if (rest.length > LONGEST) throw broken('A line is too long.')
    for (const line of lines) yield parsed(line)
  }
  if (rest.trim() !== '') yield parsed(rest)
}

function parsed(line: string): JsonObject {
  try {
    const value = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Reported below.
  }
  throw broken(`A line is not a JSON object: ${line.slice(0, 60)}`)
}

/** The problem of a log that cannot be read. */
export function broken(message: string): Problem {
  return new Problem('validation_error', `The log cannot be restored. ${message}`)
}
