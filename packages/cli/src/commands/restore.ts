import type { Command } from '../command.ts'
import { streamFrom } from '../files.ts'
import { operatorWire } from '../link.ts'
import { UsageError } from '../usage-error.ts'
import { oneWord } from '../words.ts'

export const command: Command = {
  usage: 'restore FILE --as TENANT',
  summary: "makes a new tenant of a backup; needs the operator's key",
  flags: { as: { type: 'string', help: 'the name of the new tenant' } },
  examples: ['tilde restore acme.db --as acme-restored'],
  async run(call) {
    const file = oneWord(call, 'the file of a backup')
    const slug = call.flags.text('as')
    if (slug === undefined) throw new UsageError('Name the new tenant: --as acme-restored')
    const raw = { type: 'application/vnd.sqlite3', body: (await streamFrom(file)).stream }
    const path = `/operator/tenants/${encodeURIComponent(slug)}/restore`
    call.out.record(await operatorWire(call.settings).json(path, { method: 'PUT', raw, once: true }))
  },
}
