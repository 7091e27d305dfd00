import { isTemporary, Problem, type Wire } from '@tildebase/client'
import { waitFor } from './patience.ts'
import { type Backup, examine } from './portable.ts'
import { slicesOf, tooMany } from './slices.ts'

/** Sending ends after so many failures in a row, which take about a minute and a half. */
const MOST_FAILURES = 10

/** The state of a new tenant: the number of received events, and whether it is in use. */
interface Standing {
  readonly events: number
  readonly isWhole: boolean
}

/** What the service answers to the last slice. */
interface Sent {
  /** The hashes of content that is still to come; null when that is not known. */
  readonly missing: readonly string[] | null
  /** Whether the service has verified the new tenant. */
  readonly verified: boolean
}

/**
 * Sends a backup into a new tenant, slice by slice. Continues after what has arrived already: of this call when the line was
 * cut or the service was away, and of an earlier one that was ended. A backup that turns out to be damaged is given up.
 */
export async function sendBackup(
  wire: Wire,
  path: string,
  backup: Backup,
  slug: string,
  told: (events: number) => void = () => {},
  mostBytes?: number,
): Promise<Sent> {
  let sent: Sent = { missing: null, verified: false }
  let failures = 0
  let isFirst = true
  for (;;) {
    try {
      const { events, isWhole } = await standingOf(wire, path)
      // The answer to the last slice may have been lost, and the tenant be in use since.
      if (isWhole && !isFirst && events >= backup.head.seq) return sent
      if (isWhole)
        throw new Problem('conflict', `The tenant ${slug} already exists. Use another name, or delete it first.`)
      if (backup.expected !== null && events > backup.expected) throw tooMany(slug, events, backup.expected)
      isFirst = false
      told(events)
      const slices = ahead(slicesOf(backup, slug, events, mostBytes))
      for await (const [slice, answer] of overlapping(slices, (one) => sendSlice(wire, path, one, backup.expected))) {
        sent = answer
        failures = 0
        told(slice.seq)
      }
      return sent
    } catch (reason) {
      if (isRefused(reason)) await demandUsable(wire, path, backup)
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

/**
 * Sends slices, and yields each with its answer. The service receives a slice while it works on the one before. The first
 * goes alone: the others continue it.
 */
async function* overlapping<T, A>(slices: AsyncIterable<T>, send: (slice: T) => Promise<A>): AsyncGenerator<[T, A]> {
  let before: Promise<[T, A]> | null = null
  let isFirst = true
  try {
    for await (const slice of slices) {
      const sent: Promise<[T, A]> = send(slice).then((answer) => [slice, answer])
      // It is thrown when its turn has come.
      sent.catch(() => {})
      if (before) yield before
      before = sent
      if (isFirst) await sent
      isFirst = false
    }
    if (before) yield before
  } finally {
    // The state of the new tenant is asked for next.
    await before?.catch(() => {})
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

async function sendSlice(
  wire: Wire,
  path: string,
  { text, more }: { readonly text: string; readonly more: boolean },
  of: number | null,
): Promise<Sent> {
  const raw = { type: 'application/x-ndjson', body: text }
  const query = { ...(of !== null && { of }), ...(more && { more }) }
  const { missing = null, verified = false } = await wire.json(`${path}/log`, { method: 'PUT', query, raw, once: true })
  return { missing, verified }
}

/** Whether the reason may be the backup: an event is damaged, or there is none at the moment. */
function isRefused(reason: unknown): boolean {
  return reason instanceof Problem && ['damaged', 'not_found', 'validation_error'].includes(reason.code)
}

/** Throws what is wrong with a backup, and removes what has arrived of it. */
async function demandUsable(wire: Wire, path: string, { place, moment }: Backup): Promise<void> {
  try {
    await examine(place, moment)
  } catch (reason) {
    const { events, isWhole } = await standingOf(wire, path)
    if (!isWhole && events > 0) await wire.send(path, { method: 'DELETE' })
    throw reason
  }
}

/** A slice that arrived without an answer is found out by asking again. */
function isPassing(reason: unknown, isFirst: boolean): boolean {
  return isTemporary(reason) || (!isFirst && reason instanceof Problem && reason.code === 'conflict')
}
