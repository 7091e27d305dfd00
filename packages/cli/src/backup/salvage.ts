import { Problem, type Wire } from '@tildebase/client'
import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { Archive } from './archive/archive.ts'
import { linesOf } from './lines.ts'

/** Adds the events that a damaged file still has to the backup of its tenant. Returns the events that are lost. */
export async function addSalvaged(wire: Wire, path: string, archive: Archive): Promise<readonly string[]> {
  const response = await wire.send(`${path}/salvage`, { query: { after: archive.head.seq } })
  return addLines(linesOf(response.body!), archive)
}

/** Adds lines of a log as long as each event continues the one before. From there on, all are lost. */
export async function addLines(lines: AsyncIterable<string>, archive: Archive): Promise<readonly string[]> {
  const lost = new Map<number, string>()
  const secrets: string[] = []
  let end: JsonObject | undefined
  for await (const line of lines) {
    const told = JSON.parse(line) as JsonObject
    if (told.beside !== undefined) secrets.push(line)
    else if (told.end === true) end = told
    else if (typeof told.seq === 'number' && !(lost.size === 0 && (await isAdded(archive, line, told))))
      lost.set(told.seq, nameOf(told))
  }
  await archive.save()
  if (end === undefined) throw new Problem('unreachable', 'The answer ended early.')
  if (end.secrets === true) await archive.saveSecrets(secrets)
  for (const seq of end.unreadable as readonly number[]) lost.set(seq, `event ${seq}, which cannot be read`)
  if (end.counted !== true)
    lost.set(Number.POSITIVE_INFINITY, 'the last events, if there were more: the file does not say how many it had')
  return [...lost].toSorted(([a], [b]) => a - b).map(([, name]) => name)
}

async function isAdded(archive: Archive, line: string, event: JsonObject): Promise<boolean> {
  try {
    await archive.add(line, event)
    return true
  } catch (reason) {
    // It does not fit the chain.
    if (reason instanceof Problem && reason.code === 'validation_error') return false
    throw reason
  }
}

function nameOf({ seq, type, event, entity, at }: JsonObject): string {
  return `event ${seq}, ${type}.${event} of ${entity} at ${isoOf(Number(at))}`
}
