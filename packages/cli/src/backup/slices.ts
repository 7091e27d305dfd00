import { FORM } from '@tildebase/server/log'
import { type Found, restLines, sentEvents } from './portable.ts'

/** A part of a backup's log that is sent in one request. */
interface Slice {
  /** The event that it continues after. */
  readonly after: number
  /** Its last event. */
  readonly seq: number
  readonly text: string
  /** Whether others follow. */
  readonly more: boolean
}

/** What every host takes in one request. */
const MOST_BYTES = 16_777_216
/** Room for the head of a slice. */
const HEAD_BYTES = 1_024

/** The log of a backup after an event, in slices that each fit into a request. The last one has the end. */
export async function* slicesOf(found: Found, slug: string, after: number, most = MOST_BYTES): AsyncGenerator<Slice> {
  let first = after
  let seq = after
  let lines: string[] = []
  let bytes = 0
  const cut = (more: boolean): Slice => {
    const slice = { after: first, seq, text: `${headLine(found, first)}${lines.join('')}`, more }
    first = seq
    lines = []
    bytes = 0
    return slice
  }
  for await (const [at, line] of sentEvents(found, after)) {
    const length = Buffer.byteLength(line)
    if (lines.length > 0 && bytes + length > most - HEAD_BYTES) yield cut(true)
    lines.push(line)
    bytes += length
    seq = at
  }
  const rest = await restLines(found, slug)
  if (lines.length > 0 && bytes + Buffer.byteLength(rest) > most - HEAD_BYTES) yield cut(true)
  lines.push(rest)
  yield cut(false)
}

function headLine({ tenant }: Found, after: number): string {
  return `${JSON.stringify({ tildebase: 'log', form: FORM, tenant, after })}\n`
}
