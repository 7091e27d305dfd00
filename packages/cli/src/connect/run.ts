import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importHistory, Problem } from '@tildebase/client'
import {
  CONNECTORS,
  type Found,
  type Mapping,
  type ObjectMapping,
  type PastRow,
  pastOf,
  patient,
  type Sent,
  settled,
} from '@tildebase/server/connect'
import type { Call } from '../command.ts'
import { UsageError } from '../parse/usage-error.ts'
import { type FileSource, folder, objectsIn, salesforce } from './files.ts'
import { Spool } from './spool.ts'

const FILES: { readonly [name: string]: FileSource } = { 'salesforce-csv': salesforce, folder }

/** The sources that `tilde import` knows. */
export const SOURCES: readonly string[] = [...Object.keys(CONNECTORS), ...Object.keys(FILES)]

/** A source as a run needs it. */
interface Reading {
  readonly words: Parameters<typeof pastOf>[0]
  records(object: string, mapping: ObjectMapping): AsyncIterable<Found>
  /** The objects of the mapping that the source has. */
  has(object: string): boolean
}

const TIMEOUT = 60_000

/** Imports a source with its past. */
export async function importSource(call: Call, source: string): Promise<void> {
  const { flags, settings, out } = call
  const mapping = mappingOf(source, flags.text('mapping'))
  if (flags.has('print-mapping')) {
    process.stdout.write(`${JSON.stringify(mapping, null, 2)}\n`)
    return
  }
  const spool = new Spool(flags.text('spool') ?? join('tilde-spool', source))
  const reading = Object.hasOwn(FILES, source)
    ? fileReading(call, FILES[source]!, mapping)
    : askReading(call, source, spool)
  const counts: { [what: string]: number } = {}
  const rows = settled(spool.sorted(rowsOf(reading, mapping, counts)))
  if (settings.dryRun) {
    for await (const { type, verb } of rows) counts[`${type}.${verb}`] = (counts[`${type}.${verb}`] ?? 0) + 1
    out.record({ ...counts })
    return
  }
  const { wire, root } = call.link()
  let sent = 0
  const report = await importHistory(wire, root, rows, {
    onSent: (count) => {
      sent += count
      progress(`${sent} changes`)
    },
  })
  progress('')
  if (out.json) out.value(report)
  else {
    const { details, ...sums } = report
    out.record(sums)
    for (const { row, error } of details.slice(0, 20)) process.stderr.write(`row ${row}: ${error}\n`)
  }
  if (report.errors > 0) throw new Problem('rows_rejected', `${report.errors} change(s) were not imported.`)
  spool.finish()
}

/** The rows of all objects, not sorted. */
async function* rowsOf(
  reading: Reading,
  mapping: Mapping,
  counts: { [what: string]: number },
): AsyncGenerator<PastRow> {
  for (const [object, one] of Object.entries(mapping)) {
    if (!reading.has(object)) continue
    for await (const found of reading.records(object, one)) {
      counts[object] = (counts[object] ?? 0) + 1
      if (counts[object]! % 100 === 0) progress(`${counts[object]} ${object}`)
      yield* pastOf(reading.words, object, one, found)
    }
  }
  progress('')
}

function fileReading({ words }: Call, source: FileSource, mapping: Mapping): Reading {
  const path = words[1]
  if (path === undefined) throw new UsageError(`Name the folder: tilde import ${words[0]} FOLDER`)
  if (Object.keys(mapping).length === 0) throw new UsageError('A folder needs a mapping: --mapping FILE')
  const objects = objectsIn(path)
  return {
    words: { name: source.name, refersTo: source.refersTo(mapping), words: source.words },
    records: (object, one) => source.records(path, object, one),
    has: (object) => objects.includes(object),
  }
}

function askReading({ flags }: Call, source: string, spool: Spool): Reading {
  const connector = CONNECTORS[source]!
  const variable = `${source.toUpperCase()}_TOKEN`
  const token = flags.text('token') ?? process.env[variable]
  if (token === undefined) throw new UsageError(`${source} needs a token: --token, or the variable ${variable}.`)
  const scope = flags.text('scope') ?? null
  const address = (flags.text('api-url') ?? connector.apiUrl).replace(/\/+$/, '')
  const wait = (ms: number) => {
    if (ms > 2_000) progress(`${source} asks for a pause of ${Math.ceil(ms / 1_000)} s`)
    return new Promise<void>((done) => setTimeout(done, ms))
  }
  const send = (path: string) => request(`${address}${path}`, connector.headers(token))
  const ask = spool.keeping(patient({ send, wait, now: Date.now }))
  return {
    words: connector,
    records: (object, mapping) => connector.records(ask, { object, mapping, since: null, now: Date.now(), scope }),
    has: () => true,
  }
}

async function request(url: string, headers: { readonly [name: string]: string }): Promise<Sent> {
  try {
    const answer = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT) })
    return { status: answer.status, text: await answer.text(), headers: Object.fromEntries(answer.headers) }
  } catch (reason) {
    return { error: (reason as Error).message }
  }
}

/** The mapping of a file in place of the default one, object by object. */
function mappingOf(source: string, file: string | undefined): Mapping {
  const standard = Object.hasOwn(FILES, source) ? FILES[source]!.mapping : CONNECTORS[source]!.mapping
  if (file === undefined) return standard
  let given: Mapping
  try {
    given = JSON.parse(readFileSync(file, 'utf8'))
  } catch (reason) {
    throw new UsageError(`The mapping ${file} cannot be read: ${(reason as Error).message}`)
  }
  for (const [object, one] of Object.entries(given)) {
    const isValid = typeof one?.type === 'string' && typeof one.fields === 'object' && one.fields !== null
    if (!isValid)
      throw new UsageError(`The mapping of ${object} must be {"type", "fields": {"<their field>": "<our field>"}}.`)
  }
  return given
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
}
