import { stat } from 'node:fs/promises'
import { Problem, type Wire } from '@tildebase/client'
import { isoOf } from '@tildebase/nouns'
import type { Call, Command } from '../command.ts'
import { streamFrom } from '../files.ts'
import { operatorWire } from '../link/link.ts'
import { progressBar } from '../output/progress.ts'
import { withProgress } from '../output/task-progress.ts'
import { oneWord } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

export const command: Command = {
  usage: 'restore FILE --as TENANT\nrestore FOLDER|s3://BUCKET/PREFIX --as TENANT [--as-of TIME|SEQ]',
  summary: 'creates a new tenant from a backup; needs the operator key',
  flags: { as: { type: 'string', help: 'the name of the new tenant' } },
  examples: [
    'tilde restore acme.db --as acme-restored',
    'tilde restore backups/acme --as acme-before --as-of 2026-01-31T12:00:00Z',
    'tilde restore s3://backups/tilde/acme --as acme',
  ],
  heeds: ['as-of'],
  async run(call) {
    const from = oneWord(call, 'the file, the folder or the bucket of a backup')
    const slug = call.flags.text('as')
    if (slug === undefined) throw new UsageError('Name the new tenant: --as acme-restored')
    if (from.startsWith('s3://') || (from !== '-' && (await stat(from)).isDirectory())) return fromLog(call, from, slug)
    if (call.settings.asOf !== undefined)
      throw new UsageError('--as-of needs the folder or the bucket of a backup, not a file.')
    const path = `/operator/tenants/${encodeURIComponent(slug)}/restore`
    let bar = progressBar(process.stderr, null)
    const { stream, size } = await streamFrom(from, (read) => bar.at(read))
    bar = progressBar(process.stderr, size)
    const raw = { type: 'application/vnd.sqlite3', body: stream }
    const wire = operatorWire(call.settings)
    call.out.record(await wire.json(path, { method: 'PUT', raw, once: true }).finally(bar.end))
    await warnOfSecrets(wire, slug)
  },
}

async function fromLog(call: Call, address: string, slug: string): Promise<void> {
  call.out.record(await restoreLog(call, address, slug))
  await warnOfSecrets(operatorWire(call.settings), slug)
}

/** Sends a backup to the server, which tests every event and verifies the new tenant. */
export async function restoreLog({ settings }: Call, address: string, slug: string) {
  const { momentOf, openBackup } = await import('../backup/portable.ts')
  const { sendBackup } = await import('../backup/send.ts')
  const { sendContents } = await import('../backup/contents.ts')
  const { placeOf } = await import('../backup/open.ts')
  const place = await placeOf(address)
  const backup = await openBackup(place, momentOf(settings.asOf))
  const wire = operatorWire(settings)
  const path = `/operator/tenants/${encodeURIComponent(slug)}`
  const bar = progressBar(process.stderr, backup.expected, 'events')
  const { missing, verified } = await sendBackup(wire, path, backup, slug, bar.at).finally(bar.end)
  const lost = await sendContents(wire, path, place, missing)
  if (lost > 0) process.stderr.write(`tilde: The backup lacks the content of ${lost} files.\n`)
  const { seq, at } = backup.head
  const hash = Buffer.from(backup.head.hash).toString('hex')
  if (!verified) {
    const { ok, head } = await withProgress(wire, slug, wire.json(`${path}/verify`))
    // A client may have written to it already: then its head is another one.
    if ((!ok && lost === 0) || (head.seq <= seq && head.hash !== hash))
      throw new Problem('damaged', `${slug} differs from the backup. Delete it and restore it again.`)
  }
  return { tenant: slug, events: seq, at: isoOf(at), head: hash }
}

/** Says if secrets of webhooks were encrypted on a server with another key: their deliveries would wait. */
async function warnOfSecrets(wire: Wire, slug: string): Promise<void> {
  const { unreadableSecrets = 0 } = await wire.json(`/~${encodeURIComponent(slug)}/status`)
  if (unreadableSecrets === 0) return
  process.stderr.write(
    `tilde: ${unreadableSecrets} ${unreadableSecrets === 1 ? 'webhook has a secret that was' : 'webhooks have secrets that were'} encrypted with another TILDE_SECRET_KEY, or for another name of the tenant. Start this server with the key of the old one (data/secret.key there) and use the same name, or replace them: tilde webhooks rotate\n`,
  )
}
