import { isTemporary, Problem, type Wire } from '@tildebase/client'
import { waitFor } from './patience.ts'
import type { Found } from './portable.ts'
import { slicesOf } from './slices.ts'

/** Sending ends after so many failures in a row, which take about a minute and a half. */
const MOST_FAILURES = 10

/** The state of a new tenant: the number of received events, and whether it is in use. */
interface Standing {
  readonly events: number
  readonly isWhole: boolean
}

/**
 * Sends a backup into a new tenant, slice by slice. Continues after what has arrived already: of this call when the line was
 * cut or the service was away, and of an earlier one that was ended. Returns the hashes of content that is still to come; null
 * when that is not known.
 */
export async function sendBackup(
  wire: Wire,
  path: string,
  found: Found,
  slug: string,
  told: (events: number) => void = () => {},
  mostBytes?: number,
): Promise<readonly string[] | null> {
  let missing: readonly string[] | null = null
  const { seq } = found.head
  let failures = 0
  let isFirst = true
  for (;;) {
    try {
      const { events, isWhole } = await standingOf(wire, path)
      // The answer to the last slice may have been lost, and the tenant be in use since.
      if (isWhole && !isFirst && events >= seq) return missing
      if (isWhole)
        throw new Problem('conflict', `The tenant ${slug} already exists. Use another name, or delete it first.`)
      if (events > seq) throw tooMany(slug, events, seq)
      isFirst = false
      told(events)
      for await (const slice of ahead(slicesOf(found, slug, events, mostBytes))) {
        missing = await sendSlice(wire, path, slice, seq)
        failures = 0
        told(slice.seq)
      }
      return missing
    } catch (reason) {
      if (!isPassing(reason, isFirst) || ++failures > MOST_FAILURES) throw reason
      await waitFor(failures)
    }
  }
}

/** The same values. The next one is made while the service takes in the one before. */
async function* ahead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    for (let next = source.next(); ; ) {
      const { done, value } = await next
      if (done) return
      next = source.next()
      // It is thrown when its turn has come.
      next.catch(() => {})
      yield value
    }
  } finally {
    await source.return(undefined)
  }
}

async function standingOf(wire: Wire, path: string): Promise<Standing> {
  try {
    const { events, restoring = false } = await wire.json(path)
    return { events, isWhole: !restoring }
  } catch (reason) {
    if (reason instanceof Problem && reason.about.status === 404) return { events: 0, isWhole: false }
    throw reason
  }
}

async function sendSlice(wire: Wire, path: string, { text, more }: { text: string; more: boolean }, of: number) {
  const raw = { type: 'application/x-ndjson', body: text }
  const query = { of, ...(more && { more }) }
  const answer = await wire.json(`${path}/log`, { method: 'PUT', query, raw, once: true })
  return (answer.missing ?? null) as readonly string[] | null
}

/** A slice that arrived without an answer is found out by asking again. */
function isPassing(reason: unknown, isFirst: boolean): boolean {
  return isTemporary(reason) || (!isFirst && reason instanceof Problem && reason.code === 'conflict')
}

function tooMany(slug: string, events: number, seq: number): Problem {
  const message = `A restore of ${slug} has begun, and ${events} events have arrived: more than the ${seq} of this one.`
  return new Problem('conflict', `${message} Give it up with: tilde tenants delete ${slug}`)
}
