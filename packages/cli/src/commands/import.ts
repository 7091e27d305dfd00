import { stat } from 'node:fs/promises'
import { type ImportTarget, Problem, sendRows } from '@tildebase/client'
import { type CutFile, cutFile } from '@tildebase/server/rows'
import type { Call, Command } from '../command.ts'
import { importSource, SOURCES } from '../connect/run.ts'
import { streamFrom } from '../files.ts'
import { cell } from '../output/cell.ts'
import { progressBar } from '../output/progress.ts'
import { oneWord } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

const TYPES: { readonly [format: string]: string } = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv',
}

export const command: Command = {
  usage: 'import FILE --type TYPE | import FOLDER | import FILE --history | import SOURCE [FOLDER]',
  summary:
    'imports a file (JSON, NDJSON or CSV, also as .gz), or hubspot, stripe, github, salesforce-csv, folder with their past',
  flags: {
    type: { type: 'string', help: 'the type of the rows' },
    format: { type: 'string', help: 'json, ndjson or csv; default from the file name' },
    history: { type: 'boolean', help: 'the rows are past changes in the order of time' },
    token: { type: 'string', help: 'of a source: the access token (HUBSPOT_TOKEN, STRIPE_TOKEN, GITHUB_TOKEN)' },
    scope: { type: 'string', help: 'of a source: which part of it, such as the repository owner/name' },
    mapping: { type: 'string', help: 'of a source: a JSON file with the types and fields' },
    'print-mapping': { type: 'boolean', help: 'of a source: prints the mapping' },
    spool: { type: 'string', help: 'of a source: the folder for raw answers (tilde-spool/SOURCE)' },
    'api-url': { type: 'string', help: 'of a source: another address' },
    upsert: { type: 'string', help: 'a unique field: existing entities are updated' },
  },
  examples: [
    'tilde import contacts.csv --type Contact',
    'tilde import assets',
    'tilde import past.ndjson --history',
    'tilde import hubspot --dry-run',
    'tilde import folder ./exports --mapping mapping.json',
    'zcat big.ndjson.gz | tilde import - --type Event --format ndjson',
  ],
  heeds: ['dry-run'],
  async run(call) {
    const { flags, settings } = call
    const [source = ''] = call.words
    if (SOURCES.includes(source)) return importSource(call, source)
    const file = oneWord(call, 'a file')
    const isFolder = file !== '-' && (await stat(file).catch(() => null))?.isDirectory() === true
    if (isFolder && !flags.has('history')) return importFolder(call, file)
    const type = flags.text('type')
    const isHistory = flags.has('history')
    if (!isHistory && type === undefined) throw new UsageError('Name the type of the rows: --type Contact')
    if (isHistory && (type !== undefined || settings.dryRun || flags.text('upsert') !== undefined))
      throw new UsageError('With --history each row names its type. Leave out --type, --upsert and --dry-run.')
    const gzip = file.endsWith('.gz')
    const format = flags.text('format') ?? /\.(\w+)$/.exec(gzip ? file.slice(0, -3) : file)?.[1] ?? ''
    const contentType = Object.hasOwn(TYPES, format) ? TYPES[format] : undefined
    if (!contentType) throw new UsageError(`The format of ${file} is unknown. Use --format json, ndjson or csv.`)

    let bar = progressBar(process.stderr, null)
    const { stream, size } = await streamFrom(file, (bytes) => bar.at(bytes))
    bar = progressBar(process.stderr, size)
    const { wire, root } = call.link()
    const target = {
      wire,
      path: `${root}/import/${isHistory ? 'history' : encodeURIComponent(type!)}`,
      query: { upsert: flags.text('upsert') },
    }
    const report = await (settings.dryRun
      ? dryRun(target, stream, contentType, gzip)
      : sendFile(target, cutFile(gzip ? unzipped(stream) : stream, format))
    ).finally(() => bar.end())
    tell(call, report)
  },
}

/** Imports a folder that `tilde export --files` wrote: the content of files first, then the rows that name it. */
async function importFolder(call: Call, folder: string): Promise<void> {
  const { flags, settings } = call
  if (settings.dryRun) throw new UsageError('A folder cannot be imported with --dry-run: the files must be sent first.')
  const { rowsPath, sendFilesOf, typesIn } = await import('../entities/file-folder.ts')
  const link = call.link()
  const types = flags.has('type') ? [flags.text('type')!] : await typesIn(folder)
  if (types.length === 0) throw new UsageError(`${folder} has no rows: tilde export --files writes such a folder.`)
  for (const type of types) {
    await sendFilesOf(link, folder, type)
    const { stream } = await streamFrom(rowsPath(folder, type))
    const { wire, root } = link
    const target = { wire, path: `${root}/import/${encodeURIComponent(type)}`, query: { upsert: flags.text('upsert') } }
    tell(call, await sendFile(target, cutFile(stream, 'ndjson')))
  }
}

/** Shows what became of the rows. */
function tell({ out }: Call, report: Awaited<ReturnType<typeof sendFile>>): void {
  if (out.json) out.value(report)
  else {
    const { details, ...counts } = report
    out.record(counts)
    for (const { row, line, error, head } of details.slice(0, 20)) {
      const place = `row ${row}${line === undefined ? '' : ` (line ${line})`}`
      process.stderr.write(`${place}: ${cell(error)}${head === undefined ? '' : `, the newest event is of ${head}`}\n`)
    }
  }
  if (report.errors > 0 || !report.success) {
    throw new Problem('rows_rejected', `${report.errors} row(s) were not imported. --json lists them all.`)
  }
}

/** Sends a file in parts. Says its encoding when that is not the usual one. */
async function sendFile(target: ImportTarget, file: CutFile) {
  const report = await sendRows(target, file)
  const { encoding } = file.decoder
  return encoding === 'utf-8' ? report : { ...report, assumed: { ...report.assumed, encoding } }
}

/** One request, because a dry run must see all rows at once. */
function dryRun({ wire, path, query }: ImportTarget, body: ReadableStream, type: string, gzip: boolean) {
  const headers = { 'content-encoding': gzip ? 'gzip' : undefined }
  return wire.json(path, {
    method: 'POST',
    raw: { type, body },
    query: { ...query, dryRun: true },
    headers,
    once: true,
  })
}

async function* unzipped(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream.pipeThrough(new DecompressionStream('gzip') as never) as ReadableStream<Uint8Array>
  } catch {
    throw new Problem('invalid_body', 'The file is truncated, or is not valid gzip.')
  }
}
