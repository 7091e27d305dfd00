import { openTenant, type Tenant, type TenantOptions } from '@tildebase/tenant'
import type { BlobStore, Clock, Mail, Outbound, Signer, Witness } from '@tildebase/tenant/ports'
import { scheduler } from '../../doors/turns.ts'
import { systemClock, systemRandom, systemSeal } from '../../host/ports.ts'
import { createVault } from '../../host/vault.ts'
import type { PageSums } from '../sqlite/checks/page-sums.ts'
import { emptyTenant } from '../sqlite/files.ts'
import type { SqlOptions } from '../sqlite/opened-file.ts'
import { openSql } from '../sqlite/sql.ts'
import type { NodeScript } from '../threads/script/script.ts'
import { countCommit, type Stats } from '../watch/stats.ts'
import { heldBlobs, heldMail, heldOutbound, heldWitness, type Replication } from './replication.ts'

/** What a tenant needs from this host. */
export interface OpenOptions {
  readonly tenant: TenantOptions
  readonly outbound?: Outbound | undefined
  /** Where the bytes of a tenant's files are. */
  readonly blobsOf?: ((slug: string) => BlobStore) | undefined
  readonly mail?: Mail | undefined
  readonly script?: NodeScript | undefined
  /** What this thread counts. */
  readonly stats: Stats
  /** What secrets in the tenants' files are encrypted with. */
  readonly secretKey: string
  /** The time of the tenants; that of the machine unless a test moves it. */
  readonly clock?: Clock | undefined
  readonly signer?: Signer | undefined
  readonly witnesses?: readonly Witness[] | undefined
  /** Called when this thread turns to a tenant. */
  readonly atWork?: ((slug: string) => void) | undefined
  /** Called with the time that a tenant took of the thread. */
  readonly worked?: ((slug: string, ms: number) => void) | undefined
  /** Whether requests wait for this thread. */
  readonly isAwaited?: (() => boolean) | undefined
  /** Where commits are kept next to the files of this host; absent when the files are all there is. */
  readonly replication?: Replication | undefined
}

const KEPT = Promise.resolve(true)

/** A tenant that is open. */
export interface OpenTenant {
  readonly tenant: Tenant
  readonly close: () => void
  /** Brings its file to a state in which it is closed quickly, next to this thread. */
  readonly settle: () => Promise<void>
  /** Settles when all that the tenant has committed is on the disk; null when it is. */
  readonly pending: () => Promise<void> | null
  /** Whether it can be closed: no request, commit or job uses it. */
  readonly isIdle: () => boolean
  /** Gives back the memory for what was read from the file. */
  readonly releaseMemory: () => void
  /** The checksums of the pages of its file, if they are kept. */
  readonly sums: PageSums | null
  /** Requests in progress: a tenant in use is not closed. */
  busy: number
  /** Whether it was made for a request: a tenant in which nothing is written then does not stay. */
  isFresh: boolean
}

/** Opens the tenant in a file, or an empty one in `:memory:`, with the ports of this host. */
export function openTenantFile(
  options: OpenOptions,
  slug: string,
  path: string,
  /** Commits are deferred where answers wait for `pending`. */
  file: Pick<SqlOptions, 'cacheKiB' | 'deferred' | 'disk' | 'sums'>,
  wakeAt: (at: number) => void,
): OpenTenant {
  const { script, secretKey, stats, atWork } = options
  // A file that is not a tenant's own, such as a copy, needs no lock.
  const replication = options.replication?.covers(path) ? options.replication : null
  const gate = () =>
    replication
      ? replication.gate(slug)
      : (sql.pending()?.then(
          () => true,
          () => false,
        ) ?? KEPT)
  const isAwaited = options.isAwaited ?? (() => true)
  const worked = (ms: number) => options.worked?.(slug, ms)
  const sql = openSql(path, {
    ...file,
    content: path === ':memory:' ? emptyTenant() : undefined,
    ...(atWork && { onStatement: () => atWork(slug) }),
    onCommit: replication ? (n, changes, erases) => replication.committed(slug, n, changes, erases) : undefined,
  })
  try {
    const tenant: Tenant = openTenant(
      slug,
      {
        sql,
        clock: replication ? { now: () => replication.now(slug) } : (options.clock ?? systemClock),
        random: systemRandom,
        seal: systemSeal,
        vault: createVault(secretKey, slug),
        alarm: { wakeAt },
        ...(options.outbound && { outbound: heldOutbound(options.outbound, gate, slug) }),
        pause: (ms) => new Promise((done) => setTimeout(done, ms)),
        ...(options.mail && { mail: heldMail(options.mail, gate) }),
        ...(script && { script }),
        ...(options.blobsOf && { blobs: heldBlobs(options.blobsOf(slug), gate) }),
        turns: {
          now: () => performance.now(),
          isAwaited,
          run: (steps) => scheduler.steps(slug, steps, { isAwaited, worked }),
        },
        signer: options.signer,
        witnesses: (options.witnesses ?? []).map((witness) => heldWitness(witness, gate)),
        soon: (run) =>
          setImmediate(() => {
            countCommit(stats, tenant.waiting)
            const begun = performance.now()
            run()
            worked(performance.now() - begun)
          }),
      },
      options.tenant,
    )
    const close = () => {
      tenant.closed()
      sql.close()
    }
    const entry: OpenTenant = {
      tenant,
      close,
      settle: () => sql.settle(),
      pending: () => sql.pending(),
      isIdle: () => entry.busy === 0 && tenant.waiting === 0 && tenant.underWay === 0,
      releaseMemory: () => sql.releaseMemory(),
      sums: file.sums ?? null,
      busy: 0,
      isFresh: false,
    }
    return entry
  } catch (reason) {
    sql.close()
    throw reason
  }
}
