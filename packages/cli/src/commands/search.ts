import type { Command } from '../command.ts'
import { columnsOf, describeType, jsonObject } from '../entities/type.ts'
import { UsageError } from '../parse/usage-error.ts'

export const command: Command = {
  usage: 'search TYPE WORDS…',
  summary: 'finds entities in which every word occurs, best first',
  flags: {
    filter: { type: 'string', help: 'an additional filter as JSON' },
    sort: { type: 'string', help: 'fields to sort by; default by relevance' },
    limit: { type: 'string', help: 'how many, 1 to 100; default 25' },
  },
  examples: ['tilde search Contact ada lovelace', `tilde search Deal engine --filter '{"value":{"$gte":1000}}'`],
  heeds: ['as-of', 'dry-run'],
  async run({ words, flags, settings, out, link }) {
    const [type, ...rest] = words
    if (type === undefined || rest.length === 0) throw new UsageError('Give a type and words: tilde search Contact ada')
    const tenant = link()
    const noun = await describeType(tenant, type)
    const filter = { ...jsonObject(flags.text('filter') ?? '{}', '--filter'), $text: rest.join(' ') }
    const query = { filter, sort: flags.text('sort'), limit: flags.text('limit'), asOf: settings.asOf }
    const page = await tenant.$.request('GET', `/${noun.name}`, { query })
    out.list(page.results, columnsOf(noun), page)
  },
}
