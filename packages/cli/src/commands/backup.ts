import { Problem, type Wire } from '@tildebase/client'
import { isoOf } from '@tildebase/nouns'
import type { Archive } from '../backup/archive/archive.ts'
import type { Call, Command } from '../command.ts'
import { refuseFolder, saveTo } from '../files.ts'
import { operatorWire } from '../link/link.ts'
import { progressBar } from '../output/progress.ts'
import { withProgress } from '../output/task-progress.ts'
import { oneWord, someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

export const command: Command = {
  usage:
    'backup TENANT [-o FILE]\nbackup TENANT --to FOLDER|s3://BUCKET/PREFIX [--follow]\nbackup --all --to FOLDER|s3://BUCKET/PREFIX [--follow]',
  summary: 'saves a tenant to a file, or its log to a folder or a bucket, while it is in use; needs the operator key',
  flags: {
    output: { type: 'string', short: 'o', help: 'the file; default TENANT.db' },
    to: { type: 'string', help: 'a folder, or s3://BUCKET/PREFIX (TILDE_S3_…); only new events are added' },
    all: { type: 'boolean', help: 'all tenants, each in its own folder inside that folder' },
    follow: { type: 'boolean', help: 'continue with new events until it is stopped' },
    interval: { type: 'string', help: 'with --follow: how long a write may wait until it is saved; default 1s' },
  },
  examples: [
    'tilde backup acme -o acme.db',
    'tilde backup acme --to backups/acme',
    'tilde backup acme --to backups/acme --follow',
    'tilde backup --all --to backups --follow',
    'tilde backup --all --to s3://backups/tilde --follow',
  ],
  async run(call) {
    if (call.flags.has('all')) return allToFolder(call)
    const slug = oneWord(call, 'a tenant')
    const to = call.flags.text('to')
    if (to !== undefined && call.flags.has('output'))
      throw new UsageError('Give either --output FILE or --to FOLDER, not both.')
    if (to !== undefined) return toFolder(call, slug, to)
    if (call.flags.has('follow')) throw new UsageError('Name the folder for the log: --to backups/acme')
    const file = call.flags.text('output') ?? `${slug}.db`
    await refuseFolder(file)
    const wire = operatorWire(call.settings)
    const response = await withProgress(wire, slug, wire.send(`/operator/tenants/${encodeURIComponent(slug)}/backup`))
    const bytes = await saveTo(file, response, call.out)
    call.out.note(`${file}: ${bytes} bytes. ${NEEDS}`)
  },
}

const BAR_MS = 100
const NEEDS =
  'A restore on another machine also needs the TILDE_SECRET_KEY of this server (data/secret.key): secrets are encrypted with it.'
const TEXT = { headers: { accept: 'text/plain' } }

async function toFolder({ settings, flags, out }: Call, slug: string, address: string): Promise<void> {
  const { isBucket, openArchive, placeOf } = await import('../backup/open.ts')
  const { shipOn, shipOnce } = await import('../backup/ship.ts')
  const wire = operatorWire(settings)
  const path = `/operator/tenants/${encodeURIComponent(slug)}/log`
  const archive = await openArchive(await placeOf(address), slug)
  const tell = (events: number) => {
    const { seq, at } = archive.head
    return { tenant: slug, events, seq, at: seq === 0 ? null : isoOf(at), needs: 'TILDE_SECRET_KEY' }
  }
  try {
    if (!flags.has('follow')) {
      // Signed first, so that the export contains all events that it covers.
      const checkpoint = await (await wire.send(`/~${encodeURIComponent(slug)}/checkpoint`, TEXT)).text()
      const events = await shipWithBar(wire, slug, archive, () => shipOnce(wire, path, archive))
      await archive.saveCheckpoint(checkpoint)
      return out.record(tell(events))
    }
    const told = (events: number, trouble?: string) => {
      if (trouble !== undefined) process.stderr.write(`tilde: ${trouble}\n`)
      else out.list([tell(events)], ['tenant', 'events', 'seq', 'at'], tell(events))
    }
    // A folder gets each event at once. Every object of a bucket has its price.
    const interval = flags.has('interval') || isBucket(address) ? intervalOf(flags) : 0
    await shipOn(wire, path, archive, untilStopped(), told, interval)
  } finally {
    await archive.close()
  }
}

/** Shows how many of the tenant's events are saved. */
async function shipWithBar(wire: Wire, slug: string, archive: Archive, ship: () => Promise<number>): Promise<number> {
  if (!process.stderr.isTTY) return ship()
  const { events } = await wire.json(`/operator/tenants/${encodeURIComponent(slug)}`)
  const bar = progressBar(process.stderr, events, 'events')
  const timer = setInterval(() => bar.at(archive.head.seq), BAR_MS)
  return ship().finally(() => {
    clearInterval(timer)
    bar.end()
  })
}

/** Saves every tenant in one process. */
async function allToFolder({ words, settings, flags, out }: Call): Promise<void> {
  someWords({ words }, [])
  if (flags.has('output')) throw new UsageError('--all saves to a folder: --to backups, not --output.')
  const address = flags.text('to')
  if (address === undefined) throw new UsageError('Say where the logs go: --to backups, or --to s3://bucket/prefix')
  const { AllBackups } = await import('../backup/all.ts')
  const { placeOf } = await import('../backup/open.ts')
  const all = new AllBackups({
    wire: operatorWire(settings),
    place: await placeOf(address),
    interval: intervalOf(flags),
    saved(tenant, events, { head: { seq, at } }) {
      const row = { tenant, events, seq, at: isoOf(at) }
      out.list([row], Object.keys(row), row)
    },
    failed(tenant, { message }) {
      process.stderr.write(`tilde: ${tenant === '' ? '' : `${tenant}: `}${message}\n`)
    },
  })
  try {
    if (flags.has('follow')) return await all.follow(untilStopped())
    const { tenants, failed } = await all.runOnce()
    if (failed > 0) throw new Problem('incomplete', `${failed} of ${tenants} tenants were not saved.`)
  } finally {
    await all.close()
  }
}

/** `--interval` in milliseconds. */
function intervalOf(flags: Call['flags']): number {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(flags.text('interval') ?? '1s') ?? []
  const ms = Number(amount) * { ms: 1, s: 1_000, m: 60_000 }[unit as 'ms' | 's' | 'm']
  if (ms >= 100 && ms <= 86_400_000) return ms
  throw new UsageError('--interval is a time such as 500ms, 1s or 5m, from 100ms to 1440m.')
}

/** Aborted when the process is asked to stop. */
function untilStopped(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}
