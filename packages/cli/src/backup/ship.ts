import { setTimeout as pause } from 'node:timers/promises'
import { isTemporary, Problem, type Wire } from '@tildebase/client'
import type { JsonObject } from '@tildebase/nouns'
import type { Archive } from './archive/archive.ts'
import { saveContents } from './contents.ts'
import { linesOf } from './lines.ts'
import { waitFor } from './patience.ts'

/** How long the service delays an answer without events. */
const WAIT_SECONDS = 30

/** Adds the new events of a tenant to its archive; returns their number. */
export async function shipOnce(wire: Wire, path: string, archive: Archive): Promise<number> {
  // The request includes the newest event of the archive, to check that the archive belongs to this tenant.
  return ship(wire, path, archive, { after: Math.max(archive.head.seq - 1, 0) })
}

/**
 * Adds events as the tenant writes them, until it is stopped. Continues after the service was unreachable. With an interval,
 * in milliseconds, events are gathered for half of it, so that each is saved within it.
 */
export async function shipOn(
  wire: Wire,
  path: string,
  archive: Archive,
  signal: AbortSignal,
  told: (events: number, trouble?: string) => void,
  interval = 0,
): Promise<void> {
  let failures = 0
  let isKnown = false
  while (!signal.aborted) {
    try {
      const more = { after: archive.head.seq, wait: WAIT_SECONDS }
      const events = isKnown ? await ship(wire, path, archive, more, signal) : await shipOnce(wire, path, archive)
      isKnown = true
      failures = 0
      if (events > 0) told(events)
      if (interval > 0) await pause(interval / 2, null, { signal }).catch(() => {})
    } catch (reason) {
      if (signal.aborted) return
      if (!isTemporary(reason)) throw reason
      told(0, (reason as Error).message)
      await waitFor(failures++, signal)
    }
  }
}

async function ship(
  wire: Wire,
  path: string,
  archive: Archive,
  query: { readonly after: number; readonly wait?: number },
  signal?: AbortSignal,
): Promise<number> {
  // What a failed attempt has left.
  await archive.save()
  const { seq } = archive.head
  const response = await wire.send(path, { query: { ...query, beside: 'secrets' }, signal })
  const secrets: string[] = []
  let end: JsonObject | undefined
  try {
    for await (const line of linesOf(response.body!)) {
      const told = JSON.parse(line) as JsonObject
      if (told.beside !== undefined) secrets.push(line)
      else if (told.end === true) end = told
      else if (told.seq !== undefined) {
        // The bytes come first: an event in the archive has its files there.
        await saveContents(wire, path.replace(/\/log$/, ''), archive.place, line)
        await archive.add(line, told)
      }
    }
  } finally {
    // Events received before an answer ended early are complete.
    await archive.save()
  }
  if (end === undefined) throw new Problem('unreachable', 'The answer ended early.')
  if (end.seq !== archive.head.seq) {
    throw new Problem('conflict', `The tenant has ${end.seq} events, its backup has ${seq}. Use a new folder.`)
  }
  await archive.saveSecrets(secrets)
  return archive.head.seq - seq
}
