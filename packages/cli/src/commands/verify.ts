import { Problem } from '@tildebase/client'
import type { Command } from '../command.ts'
import { operatorWire } from '../link.ts'
import { oneWord } from '../words.ts'

export const command: Command = {
  usage: 'verify TENANT',
  summary: "checks that a tenant's file and its log are whole; needs the operator's key",
  flags: {},
  examples: ['tilde verify acme'],
  async run(call) {
    const slug = encodeURIComponent(oneWord(call, 'a tenant'))
    const found = await operatorWire(call.settings).json(`/operator/tenants/${slug}/verify`)
    call.out.record(found)
    if (found.ok === false) throw new Problem('damaged', `${slug} is not whole. Restore it from a backup.`)
  },
}
