import type { Nouns } from '@tildebase/nouns'
import type {
  Alarm,
  BlobStore,
  Clock,
  Mail,
  Outbound,
  Random,
  Script,
  Seal,
  Signer,
  Sql,
  Turns,
  Vault,
  Witness,
} from '../ports.ts'
import type { AutomationLimits } from './automation-budget.ts'
import type { Hooks } from './hooks.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** What the operator decides about deliveries. */
export interface WebhookOptions {
  /** The waits before the retries of one delivery, in milliseconds. */
  readonly retries: readonly number[]
  readonly timeoutMs: number
  /** Whether http is allowed in addition to https. The host's guard against private addresses is lifted with it. */
  readonly insecure: boolean
  /** How long records of finished deliveries are kept. */
  readonly keepMs: number
}

export const WEBHOOK_DEFAULTS: WebhookOptions = {
  retries: [30 * SECOND, 2 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR],
  timeoutMs: 10 * SECOND,
  insecure: false,
  keepMs: 30 * DAY,
}

/** What the operator decides about files. */
export interface FileOptions {
  /** The most bytes of one file. */
  readonly limit: number
  /** The most bytes of all content of a tenant; null: without a limit. */
  readonly total: number | null
  /** How long content that nothing names, and an unfinished upload, are kept. */
  readonly orphansMs: number
}

export const FILE_DEFAULTS: FileOptions = { limit: 5 * 1_073_741_824, total: null, orphansMs: DAY }

/** What a tenant needs of its host. */
export interface Ports {
  readonly sql: Sql
  readonly clock: Clock
  readonly random: Random
  readonly seal: Seal
  readonly vault: Vault
  readonly alarm: Alarm
  readonly outbound?: Outbound
  /** Where the bytes of files are; absent where the host stores none. */
  readonly blobs?: BlobStore | undefined
  readonly script?: Script
  /** Absent where no mail server is configured. */
  readonly mail?: Mail | undefined
  /** Absent where the service has no key to sign with. */
  readonly signer?: Signer | undefined
  readonly witnesses?: readonly Witness[]
  /** Runs a callback after the available input has been read: `setImmediate` on Node. */
  readonly soon?: (run: () => void) => void
  readonly turns?: Turns
  /** Waits some milliseconds: a provider may demand a pause. */
  readonly pause?: (ms: number) => Promise<void>
}

/** What the operator decides for all tenants. */
export interface TenantOptions extends AutomationLimits {
  /** How often a mailbox without a schedule is looked at, in milliseconds; a minute when absent. */
  readonly mailboxMs?: number
  /** The built-in types and those of the operator's configuration. */
  readonly nouns: Nouns
  readonly hooks?: Hooks
  /** The {base_url} that events and webhooks show in `$context`. */
  readonly baseUrl: string
  /** The address that checkpoints are signed under, where `baseUrl` follows the request. */
  readonly signedUrl?: string
  /** After how many days an open changeset becomes stale; 30 when absent. */
  readonly changesetDays?: number
  /** What files may use. */
  readonly files?: FileOptions
  /** How webhooks are delivered. */
  readonly webhooks?: WebhookOptions
  /** Where the operator reads what went wrong inside. */
  readonly log?: (level: 'info' | 'warn' | 'error', message: string, facts?: object) => void
}
