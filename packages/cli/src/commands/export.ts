import type { Command } from '../command.ts'
import { saveTo } from '../files.ts'
import { jsonObject } from '../type.ts'
import { UsageError } from '../usage-error.ts'
import { oneWord } from '../words.ts'

const FORMATS = ['json', 'ndjson', 'csv', 'parquet']

/** The format that the name of a file asks for; JSON for one without. */
function formatOf(file: string): string {
  const ending = /[^/\\.]\.(\w+)$/.exec(file)?.[1]
  if (ending === undefined) return 'json'
  if (FORMATS.includes(ending.toLowerCase())) return ending.toLowerCase()
  throw new UsageError(`.${ending} is no format of an export. Use .json, .ndjson, .csv or .parquet, or say --format.`)
}

export const command: Command = {
  usage: 'export TYPE [-o FILE]',
  summary: 'writes all entities of a type to a file or to standard output',
  flags: {
    format: { type: 'string', help: 'json, ndjson, csv or parquet; by the name of the file unless told' },
    output: { type: 'string', short: 'o', help: 'the file; standard output unless told' },
    filter: { type: 'string', help: 'only those that fit, as JSON' },
    fields: { type: 'string', help: 'only these fields, with commas' },
    safe: { type: 'boolean', help: 'csv: no cell that a spreadsheet would take for a formula' },
  },
  examples: ['tilde export Contact -o contacts.csv', 'tilde export Deal --format ndjson | gzip > deals.ndjson.gz'],
  heeds: ['as-of', 'dry-run'],
  async run(call) {
    const { flags, settings, out } = call
    const type = oneWord(call, 'a type')
    const file = flags.text('output') ?? '-'
    const format = flags.text('format') ?? formatOf(file)
    if (!FORMATS.includes(format)) throw new UsageError(`--format is json, ndjson, csv or parquet, not ${format}.`)
    if (format === 'parquet' && file === '-' && out.isTerminal) {
      throw new UsageError('Parquet is not for reading here. Name a file: -o contacts.parquet')
    }
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
