import { mkdir } from 'node:fs/promises'
import type { Call, Command } from '../command.ts'
import { jsonObject } from '../entities/type.ts'
import { refuseFolder, saveTo } from '../files.ts'
import { oneWord } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

const FORMATS = ['json', 'ndjson', 'csv', 'parquet']

/** The format from the file extension; JSON without one. */
function formatOf(file: string): string {
  const ending = /[^/\\.]\.(\w+)$/.exec(file)?.[1]
  if (ending === undefined) return 'json'
  if (FORMATS.includes(ending.toLowerCase())) return ending.toLowerCase()
  throw new UsageError(`.${ending} is not an export format. Use .json, .ndjson, .csv or .parquet, or set --format.`)
}

export const command: Command = {
  usage: 'export TYPE [-o FILE]\nexport TYPE --files [-o FOLDER]',
  summary: 'writes all entities of a type to a file or to standard output',
  flags: {
    format: { type: 'string', help: 'json, ndjson, csv or parquet; default from the file name' },
    output: { type: 'string', short: 'o', help: 'the file; default standard output' },
    filter: { type: 'string', help: 'only matching entities; a filter as JSON' },
    fields: { type: 'string', help: 'only these fields, separated by commas' },
    files: { type: 'boolean', help: 'a folder with the rows and the content of their files, for tilde import' },
    safe: { type: 'boolean', help: 'csv: escape cells that a spreadsheet would run as a formula' },
  },
  examples: [
    'tilde export Contact -o contacts.csv',
    'tilde export Deal --format ndjson | gzip > deals.ndjson.gz',
    'tilde export Asset --files -o assets',
  ],
  heeds: ['as-of', 'dry-run'],
  async run(call) {
    const { flags, settings, out } = call
    const type = oneWord(call, 'a type')
    if (flags.has('files')) return toFolder(call, type)
    const file = flags.text('output') ?? '-'
    const format = flags.text('format') ?? formatOf(file)
    if (!FORMATS.includes(format)) throw new UsageError(`--format must be json, ndjson, csv or parquet, not ${format}.`)
    if (format === 'parquet' && file === '-' && out.isTerminal) {
      throw new UsageError('Parquet is a binary format. Name a file: -o contacts.parquet')
    }
    await refuseFolder(file)
    const filter = flags.text('filter')
    const { wire, root } = call.link()
    const response = await wire.send(`${root}/export/${encodeURIComponent(type)}`, {
      query: {
        format,
        filter: filter && jsonObject(filter, '--filter'),
        fields: flags.text('fields'),
        safe: flags.has('safe') || undefined,
        asOf: settings.asOf,
      },
      headers: { accept: '*/*' },
    })
    const bytes = await saveTo(file, response, out)
    if (file !== '-') out.note(`${file}: ${bytes} bytes.`)
  },
}

/** Writes the rows of a type and the bytes of their files, all as of one moment. */
async function toFolder(call: Call, type: string): Promise<void> {
  const { flags, settings, out } = call
  const folder = flags.text('output') ?? type
  if (folder === '-') throw new UsageError('Name the folder: -o assets')
  if ((flags.text('format') ?? 'ndjson') !== 'ndjson') throw new UsageError('With --files the rows are NDJSON.')
  const { rowsPath, saveFiles } = await import('../entities/file-folder.ts')
  const link = call.link()
  const asOf = settings.asOf ?? String((await link.$.status()).log.seq)
  const filter = flags.text('filter')
  await mkdir(folder, { recursive: true })
  const response = await link.wire.send(`${link.root}/export/${encodeURIComponent(type)}`, {
    query: { format: 'ndjson', filter: filter && jsonObject(filter, '--filter'), fields: flags.text('fields'), asOf },
    headers: { accept: '*/*' },
  })
  await saveTo(rowsPath(folder, type), response, out)
  const { files, bytes } = await saveFiles(link, folder, type, asOf, out)
  out.note(`${folder}: ${files} new files, ${bytes} bytes.`)
}
