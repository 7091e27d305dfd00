import { Problem } from '@tildebase/client'
import { isoOf } from '@tildebase/nouns'
import type { Call, Command } from '../command.ts'
import { operatorWire } from '../link/link.ts'
import { withProgress } from '../output/task-progress.ts'
import { oneWord, someWords } from '../output/words.ts'

export const command: Command = {
  usage: 'verify TENANT\nverify --from FOLDER [--against CHECKPOINT]\nverify --against CHECKPOINT',
  summary:
    'checks that a tenant (with the operator key) or a backup is complete, or that its history continues a checkpoint',
  flags: {
    from: { type: 'string', help: 'the folder of a backup, or s3://BUCKET/PREFIX, which is read locally' },
    against: { type: 'string', help: 'a saved checkpoint that the history must continue' },
    keys: { type: 'string', help: 'a file with the public keys; default those that the service publishes' },
  },
  examples: [
    'tilde verify acme',
    'tilde verify --from backups/acme',
    'tilde verify --against checkpoint.txt',
    'tilde verify --from backups/acme --against checkpoint.txt --keys keys.json',
  ],
  async run(call) {
    const from = call.flags.text('from')
    const against = call.flags.text('against')
    if (against !== undefined) return verifyAgainst(call, from, against)
    if (from !== undefined) return verifyFolder(call, from)
    const slug = encodeURIComponent(oneWord(call, 'a tenant'))
    const wire = operatorWire(call.settings)
    const found = await withProgress(wire, slug, wire.json(`/operator/tenants/${slug}/verify`))
    call.out.record(found)
    if (found.ok === false) throw new Problem('damaged', `${slug} is damaged. Restore it from a backup.`)
  },
}

/** Compares the log of a backup, or the current one, with a checkpoint that the caller saved. */
async function verifyAgainst(call: Call, from: string | undefined, checkpoint: string): Promise<void> {
  someWords(call, [])
  const { verifyBackup, verifyService } = await import('../proof/against.ts')
  call.out.record(
    from === undefined ? await verifyService(call, checkpoint) : await verifyBackup(call, from, checkpoint),
  )
}

async function verifyFolder(call: Call, folder: string): Promise<void> {
  someWords(call, [])
  const { examine } = await import('../backup/portable.ts')
  const { placeOf } = await import('../backup/open.ts')
  const { tenant, head } = await examine(await placeOf(folder), null)
  const hash = Buffer.from(head.hash).toString('hex')
  call.out.record({ tenant, ok: true, events: head.seq, at: isoOf(head.at), head: { seq: head.seq, hash } })
}
