import type { AppOptions } from '../../doors/app.ts'
import type { IdentityPorts } from '../../doors/identity/ports.ts'
import { RateLimit } from '../../doors/limits/rate.ts'
import { routes } from '../../doors/route-table.ts'
import type { Program } from '../../host/program.ts'
import { createWitnesses } from '../../host/proof/witnesses.ts'
import { type Settings, tenantLimits } from '../../host/settings/settings.ts'
import { blobStores } from '../files/blob-stores.ts'
import { log, report } from '../log.ts'
import { createDocuments } from '../outbound/documents.ts'
import { createMail } from '../outbound/mail.ts'
import { createOutbound } from '../outbound/outbound.ts'
import { secretKey } from '../secrets/keys.ts'
import { createPasswords } from '../secrets/passwords.ts'
import { SigningKeyFile } from '../secrets/signing-key-file.ts'
import type { TenantFiles } from '../sqlite/files.ts'
import type { HostCalls } from '../threads/messages.ts'
import { openScript } from '../threads/script/script.ts'
import { countedOutbound, noStats } from '../watch/stats.ts'
import { LocalTenants, type LocalTenantsOptions } from './tenants.ts'

/** What differs between the thread of the host and a worker of it. */
export interface Thread
  extends Pick<
    LocalTenantsOptions,
    'book' | 'setAlarm' | 'opened' | 'worked' | 'atWork' | 'isAwaited' | 'replication' | 'clock'
  > {
  /** {base_url}, which is known once the host listens. */
  readonly baseUrl: () => string
  /** Takes addresses of the mailbox of the service; absent where it has none. */
  readonly claimAddresses?: HostCalls['claimAddresses']
  /** Reads a tenant that may be in another thread or on another node; absent where all are in this one. */
  readonly readOther?: AppOptions['readOther']
}

/** The tenants of one thread, with the ports of this host. */
export function localTenants(settings: Settings, program: Program, files: TenantFiles, thread: Thread): LocalTenants {
  const stats = noStats()
  const { claimAddresses } = thread
  const tenants: LocalTenants = new LocalTenants({
    stats,
    files,
    createTenants: settings.createTenants,
    mostOpen: Math.max(1, Math.floor(settings.mostOpen / Math.max(settings.workers, 1))),
    app: {
      routes,
      signup: settings.signup,
      baseUrl: settings.baseUrl,
      report,
      importLimit: settings.importLimit,
      rate: rateOf(settings),
      identity: identityOf(settings),
      readOther: thread.readOther ?? ((call) => tenants.handle(call)),
      budget: { ms: settings.queryMs, rows: settings.rowLimit, bytes: settings.answerLimit },
    },
    secretKey: secretKey(settings.data, settings.secretKey),
    tenant: {
      ...program,
      get baseUrl() {
        return thread.baseUrl()
      },
      changesetDays: settings.changesetDays,
      ...tenantLimits(settings),
      files: settings.files,
      mailboxMs: settings.mailboxInterval,
      webhooks: {
        retries: settings.webhookRetries,
        timeoutMs: settings.webhookTimeout,
        insecure: settings.webhooksInsecure,
        keepMs: settings.webhookRetention,
      },
      log,
    },
    blobsOf: blobStores(settings)?.of,
    mail: createMail({
      smtp: settings.smtp,
      imap: settings.imap,
      insecure: settings.webhooksInsecure,
      ...(settings.imap !== null && claimAddresses && { claim: async (slug, some) => claimAddresses(slug, some) }),
    }),
    outbound: countedOutbound(createOutbound({ insecure: settings.webhooksInsecure }), stats),
    script: openScript({ clock: thread.clock }),
    signer: new SigningKeyFile(settings).signer(),
    // No tenant chooses these addresses: the guard against private ones is not for them.
    witnesses: createWitnesses(settings.witnesses, createOutbound({ insecure: true })),
    book: thread.book,
    setAlarm: thread.setAlarm,
    opened: thread.opened,
    worked: thread.worked,
    atWork: thread.atWork,
    isAwaited: thread.isAwaited,
    replication: thread.replication,
    clock: thread.clock,
  })
  return tenants
}

/** What people sign in with on this host. */
function identityOf({ webhooksInsecure: insecure, oidc }: Settings): IdentityPorts {
  const passwords = createPasswords()
  const documents = createDocuments({ insecure })
  return { ...(passwords && { passwords }), ...(oidc && { oidc }), documents, insecureDocuments: insecure }
}

function rateOf({ rateLimit }: Settings): RateLimit | undefined {
  return rateLimit === 0 ? undefined : new RateLimit(rateLimit, () => performance.now())
}
