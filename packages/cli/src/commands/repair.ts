import { stat } from 'node:fs/promises'
import { Problem } from '@tildebase/client'
import type { Call, Command } from '../command.ts'
import { operatorWire } from '../link/link.ts'
import { oneWord } from '../output/words.ts'
import { restoreLog } from './restore.ts'

export const command: Command = {
  usage: 'repair TENANT --from FOLDER|s3://BUCKET/PREFIX|FILE\nrepair TENANT',
  summary: 'replaces a damaged tenant by its backup and what its file still has; needs the operator key',
  flags: { from: { type: 'string', help: 'its backup; a cluster needs none' } },
  examples: ['tilde repair acme --from backups/acme', 'tilde repair acme --from s3://backups/tilde/acme'],
  async run(call) {
    const slug = oneWord(call, 'a tenant')
    const from = call.flags.text('from')
    if (from === undefined) return reload(call, slug)
    const isFile = !from.startsWith('s3://') && (await stat(from)).isFile()
    if (!isFile) return repair(call, slug, from)
    const { unpacked } = await import('../backup/unpack.ts')
    await unpacked(from, slug, (folder) => repair(call, slug, folder))
  },
}

/** A node of a cluster has all that was acknowledged in the log of the cluster. */
async function reload({ settings, out }: Call, slug: string): Promise<void> {
  const wire = operatorWire(settings)
  // Asks first: without a cluster the file would be taken out of use.
  await wire.json('/operator/cluster').catch((reason) => {
    if (!(reason instanceof Problem) || reason.code !== 'not_supported') throw reason
    throw new Problem('invalid_parameter', 'Name the backup: --from backups/acme. Only a cluster needs none.')
  })
  out.record(await wire.json(`/operator/tenants/${encodeURIComponent(slug)}/set-aside`, { method: 'POST' }))
}

/** Adds what the damaged file still has to the backup, and restores the tenant from there. */
async function repair(call: Call, slug: string, address: string): Promise<void> {
  const { openArchive, placeOf } = await import('../backup/open.ts')
  const { examine } = await import('../backup/portable.ts')
  const { addSalvaged } = await import('../backup/salvage.ts')
  const wire = operatorWire(call.settings)
  const path = `/operator/tenants/${encodeURIComponent(slug)}`
  const place = await placeOf(address)
  // A backup that cannot be restored leaves the tenant as it is.
  const { head } = await examine(place, null)
  const archive = await openArchive(place, slug)
  const { file } = await wire.json(`${path}/set-aside`, { method: 'POST' })
  const lost = await addSalvaged(wire, path, archive).finally(() => archive.close())
  const restored = await restoreLog(call, address, slug)
  for (const one of lost) process.stderr.write(`tilde: lost: ${one}\n`)
  const { events } = restored
  call.out.record({ ...restored, recovered: events - head.seq, lost: lost.length, damaged: file })
  if (lost.length > 0)
    throw new Problem('incomplete', `${slug} is in use again, without the events above. The damaged file is ${file}.`)
}
