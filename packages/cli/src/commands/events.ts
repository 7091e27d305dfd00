import type { EventRecord } from '@tildebase/client'
import type { Call, Command } from '../command.ts'
import { lastSeq } from '../link/last-seq.ts'
import { someWords } from '../output/words.ts'

const COLUMNS = ['seq', 'timestamp', 'type', 'entityId', 'actor']

export const command: Command = {
  usage: 'events [--follow]',
  summary: 'lists events, oldest first, or follows new ones',
  flags: {
    follow: { type: 'boolean', help: 'follow new events, from now or from --since or --cursor' },
    type: { type: 'string', help: 'Contact, Contact.created, *.created or Contact.*' },
    since: { type: 'string', help: 'only events after that time' },
    limit: { type: 'string', help: 'how many, 1 to 1000; default 100' },
    cursor: { type: 'string', help: 'continue after this seq' },
  },
  examples: ['tilde events --type Contact --limit 10', "tilde events --follow --type '*.created'"],
  async run(call) {
    someWords(call, [])
    if (call.flags.has('follow')) return follow(call)
    const { flags, out } = call
    const query = {
      type: flags.text('type') ?? '*',
      since: flags.text('since'),
      limit: flags.text('limit'),
      cursor: flags.text('cursor'),
    }
    const page = await call.link().$.request('GET', '/events', { query })
    out.list(page.results, COLUMNS, page)
    if (page.hasMore) out.note(`More events: --cursor ${page.cursor}`)
  },
}

async function follow({ flags, out, link }: Call): Promise<void> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const [type, since, cursor] = ['type', 'since', 'cursor'].map((name) => flags.text(name))
  const { $ } = link()
  const lastEventId = cursor ?? (since === undefined ? await lastSeq($) : undefined)
  for await (const event of $.events.stream({ type, since, lastEventId, signal: stop.signal })) {
    if (out.json) out.value(event)
    else out.line(COLUMNS.map((name) => event[name as keyof EventRecord]).join(out.isTerminal ? '  ' : '\t'))
  }
}
