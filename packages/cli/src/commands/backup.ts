import type { Command } from '../command.ts'
import { saveTo } from '../files.ts'
import { operatorWire } from '../link.ts'
import { oneWord } from '../words.ts'

export const command: Command = {
  usage: 'backup TENANT [-o FILE]',
  summary: "saves a tenant to a file while it is in use; needs the operator's key",
  flags: { output: { type: 'string', short: 'o', help: 'the file; TENANT.db unless told' } },
  examples: ['tilde backup acme -o acme.db'],
  async run(call) {
    const slug = oneWord(call, 'a tenant')
    const file = call.flags.text('output') ?? `${slug}.db`
    const response = await operatorWire(call.settings).send(`/operator/tenants/${encodeURIComponent(slug)}/backup`)
    const bytes = await saveTo(file, response, call.out)
    call.out.note(`${file}: ${bytes} bytes.`)
  },
}
