import { Problem } from '@tildebase/client'
import { isoOf } from '@tildebase/nouns'
import type { Call, Command } from '../command.ts'
import { operatorWire } from '../link.ts'
import { oneWord, someWords } from '../words.ts'

export const command: Command = {
  usage: 'verify TENANT\nverify --from FOLDER',
  summary:
    "checks that a tenant's file and its log, or a folder of backups, are whole; the first needs the operator's key",
  flags: { from: { type: 'string', help: 'the folder of a backup, which is read here and sent nowhere' } },
  examples: ['tilde verify acme', 'tilde verify --from backups/acme'],
  async run(call) {
    const from = call.flags.text('from')
    if (from !== undefined) return verifyFolder(call, from)
    const slug = encodeURIComponent(oneWord(call, 'a tenant'))
    const found = await operatorWire(call.settings).json(`/operator/tenants/${slug}/verify`)
    call.out.record(found)
    if (found.ok === false) throw new Problem('damaged', `${slug} is not whole. Restore it from a backup.`)
  },
}

async function verifyFolder(call: Call, folder: string): Promise<void> {
  someWords(call, [])
  const { examine } = await import('../backup/portable.ts')
  const { tenant, head } = await examine(folder, null)
  const hash = Buffer.from(head.hash).toString('hex')
  call.out.record({ tenant, ok: true, events: head.seq, at: isoOf(head.at), head: { seq: head.seq, hash } })
}
