import type { Command } from '../command.ts'
import { someWords } from '../output/words.ts'

export const command: Command = {
  usage: 'fetch TYPE ID',
  summary: 'reads one entity, now or as of a time',
  flags: {
    include: { type: 'string', help: 'relations to load, separated by commas' },
    fields: { type: 'string', help: 'the fields to show, separated by commas' },
  },
  examples: ['tilde fetch Contact contact_… --include organization,deals', 'tilde fetch Metric mrr'],
  heeds: ['as-of', 'dry-run'],
  async run(call) {
    const [type, id] = someWords(call, ['a type', 'an id']).map(encodeURIComponent)
    const { flags, settings } = call
    const query = { include: flags.text('include'), fields: flags.text('fields'), asOf: settings.asOf }
    call.out.record(await call.link().$.request('GET', `/${type}/${id}`, { query }))
  },
}
