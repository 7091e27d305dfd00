import { Problem } from '@tildebase/nouns'
import { FORM } from '@tildebase/server/log'
import { type Backup, restLines } from './portable.ts'

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
export async function* slicesOf(backup: Backup, slug: string, after: number, most = MOST_BYTES): AsyncGenerator<Slice> {
  let first = after
  let seq = after
  let lines: string[] = []
  let bytes = 0
  const cut = (more: boolean): Slice => {
    const slice = { after: first, seq, text: `${headLine(backup, first)}${lines.join('')}`, more }
    first = seq
    lines = []
    bytes = 0
    return slice
  }
  for await (const [at, line] of backup.events(after)) {
    const length = Buffer.byteLength(line)
    if (lines.length > 0 && bytes + length > most - HEAD_BYTES) yield cut(true)
    lines.push(line)
    bytes += length
    seq = at
  }
  if (backup.head.seq < after) throw tooMany(slug, after, backup.head.seq)
  const rest = await restLines(backup, slug)
  if (lines.length > 0 && bytes + Buffer.byteLength(rest) > most - HEAD_BYTES) yield cut(true)
  lines.push(rest)
  yield cut(false)
}

/** Of another restore into the same slug more events have arrived than this one has. */
export function tooMany(slug: string, events: number, seq: number): Problem {
  const message = `A restore of ${slug} has begun, and ${events} events have arrived: more than the ${seq} of this one.`
  return new Problem('conflict', `${message} Give it up with: tilde tenants delete ${slug}`)
}

function headLine({ tenant }: Backup, after: number): string {
  return `${JSON.stringify({ tildebase: 'log', form: FORM, tenant, after })}\n`
}
