import { openTenant, type Tenant } from '@tildebase/tenant'
import type { BlobStore, Sql } from '@tildebase/tenant/ports'
import { systemClock, systemRandom, systemSeal } from '../../host/ports.ts'
import type { Program } from '../../host/program.ts'
import { createSigner } from '../../host/proof/signer.ts'
import { createWitnesses } from '../../host/proof/witnesses.ts'
import { type Settings, tenantLimits } from '../../host/settings/settings.ts'
import { createVault } from '../../host/vault.ts'
import { log } from '../log.ts'
import { inFlights } from '../ports/flights.ts'
import type { WorkerLoader } from '../ports/isolate.ts'
import { createOutbound } from '../ports/outbound.ts'
import { createScript } from '../ports/script.ts'
import { secretOf, seedOf } from '../signing.ts'

/** What an object gives its tenant. */
interface ObjectPorts {
  readonly sql: Sql
  readonly settings: Settings
  readonly loader: WorkerLoader | undefined
  /** Where the bytes of files are, if there is a bucket. */
  readonly blobs: BlobStore | undefined
  /** The address that the last request came to. */
  readonly baseUrl: () => string
  readonly wakeAt: (at: number) => void
  /** A request out will have ended by then. */
  readonly flying: (until: number) => void
}

/** Opens the tenant of an object. */
export function openObject(slug: string, program: Program, ports: ObjectPorts): Tenant {
  const { settings, loader } = ports
  const seed = seedOf(settings)
  return openTenant(
    slug,
    {
      sql: ports.sql,
      clock: systemClock,
      random: systemRandom,
      seal: systemSeal,
      vault: createVault(secretOf(settings), slug),
      signer: createSigner(() => seed),
      witnesses: createWitnesses(settings.witnesses, createOutbound(true)),
      alarm: { wakeAt: ports.wakeAt },
      outbound: inFlights(createOutbound(settings.webhooksInsecure), ports.flying),
      pause: (ms) => new Promise((done) => setTimeout(done, ms)),
      ...(loader && { script: createScript(loader, slug) }),
      blobs: ports.blobs,
      // The answer is held back until what was written is durable, so a commit need not wait for company.
      soon: (run) => queueMicrotask(run),
    },
    {
      ...program,
      get baseUrl() {
        return settings.baseUrl ?? (ports.baseUrl() || `https://${settings.hostSuffix}`)
      },
      // Not the host of a request: a client could choose the signed name.
      signedUrl: settings.baseUrl ?? `https://${settings.hostSuffix}`,
      changesetDays: settings.changesetDays,
      files: settings.files,
      ...tenantLimits(settings),
      webhooks: {
        retries: settings.webhookRetries,
        timeoutMs: settings.webhookTimeout,
        insecure: settings.webhooksInsecure,
        keepMs: settings.webhookRetention,
      },
      log,
    },
  )
}
