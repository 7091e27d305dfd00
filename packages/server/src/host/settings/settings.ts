import { existsSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { OidcSettings } from '../../doors/identity/ports.ts'
import { type Program, programOf } from '../program.ts'
import { type ClusterSettings, readClusterSettings } from './cluster-settings.ts'
import { type FileSettings, readFileSettings } from './file-settings.ts'
import { type ProofSettings, readProofSettings } from './proof-settings.ts'
import { SettingError } from './setting-error.ts'
import { duration, size } from './units.ts'

/** Where spans are sent to: an OTLP collector that takes JSON over HTTP. */
export interface Collector {
  readonly endpoint: string
  readonly headers: { readonly [name: string]: string }
  readonly service: string
}

/** How a host runs: every setting a flag, a variable and a default. */
export interface Settings extends ProofSettings {
  readonly port: number
  readonly host: string
  readonly data: string
  readonly hostSuffix: string
  /** Threads of tenants next to the gateway's; 0 has everything in one thread. */
  readonly workers: number
  /** How long a worker may say nothing before it is replaced. */
  readonly workerTimeout: number
  readonly config: string | null
  readonly rootKey: string | null
  /** What secrets in tenants' files are encrypted with; null means a key that is kept in the data folder. */
  readonly secretKey: string | null
  readonly signup: boolean
  /** Sign-ups per hour and address; 0 turns the limit off. */
  readonly signupLimit: number
  /** Proxies whose X-Forwarded-For is believed: addresses and ranges. */
  readonly proxies: readonly string[]
  /** Connections and requests that one address may have at a time. */
  readonly addressSockets: number
  readonly addressRequests: number
  /** Requests in progress per tenant and per key; polls and live streams have their own bounds. */
  readonly tenantRequests: number
  readonly keyRequests: number
  readonly tenantPolls: number
  readonly keyPolls: number
  /** Whether a write to an unknown slug creates a tenant, or only the operator and sign-up do. */
  readonly createTenants: 'write' | 'operator'
  /** {base_url} as clients see it; null means the address that is listened on. */
  readonly baseUrl: string | null
  /** Hosts whose pages may speak MCP; `*` is all of them. */
  readonly mcpOrigins: readonly string[]
  readonly mostOpen: number
  readonly bodyLimit: number
  readonly importLimit: number
  /** How many bytes of request bodies the process holds. */
  readonly bodyMemory: number
  /** How long a sender may send nothing in the middle of a body. */
  readonly bodyTimeout: number
  /** The memory of answers that wait to be read. */
  readonly answerMemory: number
  readonly queryMs: number
  /** How many rows one request may read, and how many bytes its answer may have. */
  readonly rowLimit: number
  readonly answerLimit: number
  readonly webhookRetries: readonly number[]
  readonly webhookTimeout: number
  readonly webhooksInsecure: boolean
  /** The mail server of the service, or null. */
  readonly smtp: { readonly url: string; readonly from: string } | null
  /** The mailbox of the service, or null. */
  readonly imap: string | null
  /** How often mailboxes are looked at. */
  readonly mailboxInterval: number
  /** How often each tenant is verified, in milliseconds; 0 means never. */
  readonly scrub: number
  /** How long records of finished deliveries are kept. */
  readonly webhookRetention: number
  /** The provider that people sign in with; null is none. */
  readonly oidc: OidcSettings | null
  /** The most bytes of a tenant; null means no limit. */
  readonly tenantLimit: number | null
  /** Events per minute that timers, workflows and hooks of a tenant may write; 0 turns the limit off. */
  readonly automationRate: number
  /** After how many days an open changeset becomes stale. */
  readonly changesetDays: number
  /** Requests per minute and key; 0 turns the limit off. */
  readonly rateLimit: number
  /** Whether every request is a line in the log. */
  readonly logRequests: boolean
  /** Where spans are sent to; null is nowhere. */
  readonly collector: Collector | null
  /** Where the bytes of files are, and what they may use. */
  readonly files: FileSettings
  /** The cluster that this node is part of; null for a single server. */
  readonly cluster: ClusterSettings | null
}

type Words = { readonly [name: string]: string | undefined }

/** Reads the settings. A flag beats a variable beats a default. */
export function readSettings(flags: Words, env: Words): Settings {
  const read = (flag: string, variable: string) => flags[flag] ?? (env[variable] === '' ? undefined : env[variable])
  const cluster = readClusterSettings(read)
  return {
    port: wholeNumber('--port', read('port', 'TILDE_PORT') ?? '8787', 0, 65_535),
    host: read('host', 'TILDE_HOST') ?? '127.0.0.1',
    data: resolve(read('data', 'TILDE_DATA') ?? './data'),
    hostSuffix: (read('host-suffix', 'TILDE_HOST_SUFFIX') ?? 'localhost').toLowerCase().replace(/^\.+/, ''),
    workers: wholeNumber(
      '--workers',
      read('workers', 'TILDE_WORKERS') ?? String(Math.max(defaultWorkers(availableParallelism()), cluster ? 1 : 0)),
      // Answers of a cluster are held between two threads.
      cluster ? 1 : 0,
      64,
    ),
    workerTimeout: duration('TILDE_WORKER_TIMEOUT', env.TILDE_WORKER_TIMEOUT || '10s'),
    config: read('config', 'TILDE_CONFIG') ?? null,
    rootKey: longKey('TILDE_ROOT_KEY', env.TILDE_ROOT_KEY),
    secretKey: longKey('TILDE_SECRET_KEY', env.TILDE_SECRET_KEY),
    ...readProofSettings(env),
    signup: oneOf('TILDE_SIGNUP', env.TILDE_SIGNUP || 'closed', ['open', 'closed']) === 'open',
    signupLimit: wholeNumber('TILDE_SIGNUP_LIMIT', env.TILDE_SIGNUP_LIMIT || '10', 0, 1_000_000),
    proxies: networks('TILDE_PROXIES', env.TILDE_PROXIES || ''),
    addressSockets: count('TILDE_ADDRESS_SOCKETS', env, '2000'),
    addressRequests: count('TILDE_ADDRESS_REQUESTS', env, '2000'),
    tenantRequests: count('TILDE_TENANT_REQUESTS', env, '256'),
    keyRequests: count('TILDE_KEY_REQUESTS', env, '128'),
    tenantPolls: count('TILDE_TENANT_POLLS', env, '1000'),
    keyPolls: count('TILDE_KEY_POLLS', env, '256'),
    createTenants: oneOf(
      '--create-tenants',
      read('create-tenants', 'TILDE_CREATE_TENANTS') ?? (cluster ? 'operator' : 'write'),
      ['write', 'operator'],
    ) as Settings['createTenants'],
    baseUrl: read('base-url', 'TILDE_BASE_URL')?.replace(/\/+$/, '') ?? null,
    mcpOrigins: (env.TILDE_MCP_ORIGINS || '')
      .split(',')
      .map((name) => hostOf(name.trim()))
      .filter((name) => name !== ''),
    mostOpen: wholeNumber('TILDE_OPEN_TENANTS', env.TILDE_OPEN_TENANTS || '500', 1, 100_000),
    bodyLimit: size('TILDE_BODY_LIMIT', env.TILDE_BODY_LIMIT || '10MiB'),
    importLimit: size('TILDE_IMPORT_LIMIT', env.TILDE_IMPORT_LIMIT || '1GiB'),
    bodyMemory: size('TILDE_BODY_MEMORY', env.TILDE_BODY_MEMORY || '128MiB'),
    answerMemory: size('TILDE_ANSWER_MEMORY', env.TILDE_ANSWER_MEMORY || '256MiB'),
    bodyTimeout: duration('TILDE_BODY_TIMEOUT', env.TILDE_BODY_TIMEOUT || '30s'),
    queryMs: duration('TILDE_QUERY_TIMEOUT', env.TILDE_QUERY_TIMEOUT || '5s'),
    rowLimit: wholeNumber('TILDE_ROW_LIMIT', env.TILDE_ROW_LIMIT || '1000000', 1, 1_000_000_000),
    answerLimit: size('TILDE_ANSWER_LIMIT', env.TILDE_ANSWER_LIMIT || '32MiB'),
    webhookRetries: (env.TILDE_WEBHOOK_RETRIES || '30s,2m,15m,1h,6h')
      .split(',')
      .map((part) => duration('TILDE_WEBHOOK_RETRIES', part)),
    webhookTimeout: duration('TILDE_WEBHOOK_TIMEOUT', env.TILDE_WEBHOOK_TIMEOUT || '10s'),
    webhooksInsecure: env.TILDE_WEBHOOKS_INSECURE === '1' || env.TILDE_WEBHOOKS_INSECURE === 'true',
    smtp: smtpOf(env),
    imap: imapOf(env),
    mailboxInterval: duration('TILDE_IMAP_INTERVAL', env.TILDE_IMAP_INTERVAL || '60s'),
    webhookRetention: duration('TILDE_WEBHOOK_RETENTION', env.TILDE_WEBHOOK_RETENTION || '30d'),
    oidc: oidcOf(env),
    scrub: env.TILDE_SCRUB === '0' ? 0 : duration('TILDE_SCRUB', env.TILDE_SCRUB || '7d'),
    tenantLimit: tenantLimit(env.TILDE_TENANT_LIMIT || '0'),
    automationRate: wholeNumber('TILDE_AUTOMATION_RATE', env.TILDE_AUTOMATION_RATE || '10000', 0, 1_000_000_000),
    changesetDays: wholeNumber('TILDE_CHANGESET_DAYS', env.TILDE_CHANGESET_DAYS || '30', 1, 36_500),
    rateLimit: wholeNumber('TILDE_RATE_LIMIT', env.TILDE_RATE_LIMIT || '0', 0, 1_000_000_000),
    logRequests: oneOf('TILDE_LOG', env.TILDE_LOG || 'faults', ['faults', 'requests']) === 'requests',
    collector: env.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
          headers: pairs(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
          service: env.OTEL_SERVICE_NAME || 'tildebase',
        }
      : null,
    files: readFileSettings(env),
    cluster,
  }
}

/** What the settings say about the space and the automatic writes of each tenant. */
export function tenantLimits({ tenantLimit, automationRate }: Settings): {
  readonly mostBytes?: number
  readonly automationRate?: number
} {
  return { ...(tenantLimit !== null && { mostBytes: tenantLimit }), ...(automationRate > 0 && { automationRate }) }
}

/** Names under which MCP is spoken in addition to the base host: that of {base_url}, and what the operator allows. */
export function mcpHosts({ baseUrl, mcpOrigins }: Pick<Settings, 'baseUrl' | 'mcpOrigins'>): readonly string[] {
  return baseUrl === null ? mcpOrigins : [hostOf(baseUrl), ...mcpOrigins]
}

/** The host of an origin, or the host that was given as such. */
function hostOf(text: string): string {
  return URL.canParse(text) && /^https?:/.test(text) ? new URL(text).hostname : text.toLowerCase()
}

/** Four workers at most; on few cores one, so that one thread reads and answers while the other works. */
export function defaultWorkers(cores: number): number {
  return cores < 2 ? 0 : cores < 4 ? 1 : 4
}

/** The program of the operator's file, next to the built-in types. */
export async function loadProgram(path: string | null): Promise<Program> {
  if (path === null) return programOf({})
  const file = await programFile(path)
  const nouns = file.nouns ?? file.default?.nouns
  const hooks = file.hooks ?? file.default?.hooks
  if (nouns === undefined && hooks === undefined) {
    throw new SettingError(`--config ${path} exports neither nouns nor hooks. Write: export const nouns = { Ship }.`)
  }
  if (nouns !== undefined && !Object.values(nouns ?? [null]).every(isNoun))
    throw new SettingError(`nouns of --config ${path} must be an object of nouns, such as { Ship }, or a list of them.`)
  if (hooks !== undefined && typeof hooks !== 'function')
    throw new SettingError(`hooks of --config ${path} must be a function.`)
  return programOf({ nouns, hooks })
}

async function programFile(path: string) {
  const full = resolve(path)
  if (!existsSync(full)) throw new SettingError(`--config ${path}: there is no file ${full}.`)
  if (!statSync(full).isFile() || full.endsWith('.json'))
    throw new SettingError(`--config ${path} is not a module. Name a .ts or .js file that exports nouns or hooks.`)
  try {
    return await import(pathToFileURL(full).href)
  } catch (reason) {
    throw new SettingError(`--config ${path} cannot be loaded: ${(reason as Error).message}`)
  }
}

function isNoun(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'notation' in value
}

const SHORTEST_KEY = 32

/** A key that cannot be guessed, or null when it is not set. */
function longKey(name: string, text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  if (text.length >= SHORTEST_KEY) return text
  throw new SettingError(
    `${name} has ${text.length} characters; it needs at least ${SHORTEST_KEY}. Create one with: openssl rand -base64 36`,
  )
}

/** The mail server and the sender that messages have without one of their own: both, or none. */
function smtpOf(env: Words): Settings['smtp'] {
  const [url, from] = [env.TILDE_SMTP_URL || null, env.TILDE_SMTP_FROM || null]
  if (!url) return null
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  if (!['smtp:', 'smtps:'].includes(protocol) || hostname === '') {
    throw new SettingError('TILDE_SMTP_URL must be an address such as smtps://user:password@mail.example.org.')
  }
  if (!from || !/^[^\r\n]*[^\s@<]+@[^\s@>]+>?$/.test(from)) {
    throw new SettingError('TILDE_SMTP_FROM must be the e-mail address of the sender, such as desk@example.org.')
  }
  return { url, from }
}

/** The mailbox whose messages go to the tenants that their recipients name. */
function imapOf(env: Words): string | null {
  const url = env.TILDE_IMAP_URL || null
  if (url === null) return null
  const { protocol, hostname, username } = URL.canParse(url) ? new URL(url) : new URL('none:')
  if (!['imap:', 'imaps:'].includes(protocol) || hostname === '' || username === '') {
    throw new SettingError('TILDE_IMAP_URL must be an address such as imaps://user:password@mail.example.org.')
  }
  return url
}

/** The OIDC provider: all three of its settings, or none. */
function oidcOf(env: Words): OidcSettings | null {
  const [issuer, clientId, clientSecret] = OIDC.map((name) => env[name] || null)
  if (!issuer && !clientId && !clientSecret) return null
  if (!issuer || !clientId || !clientSecret) throw new SettingError(`${OIDC.join(', ')} must be set together.`)
  const { protocol, hostname } = URL.canParse(issuer) ? new URL(issuer) : { protocol: '', hostname: '' }
  const isLocal = protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (protocol === 'https:' || isLocal) return { issuer, clientId, clientSecret }
  throw new SettingError(`${OIDC[0]} must be an https URL, not ${issuer}.`)
}

const OIDC = ['TILDE_OIDC_ISSUER', 'TILDE_OIDC_CLIENT_ID', 'TILDE_OIDC_CLIENT_SECRET'] as const

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= least && value <= most && text.trim() !== '') return value
  throw new SettingError(`${name} must be a whole number from ${least} to ${most}, not ${text}.`)
}

/** How many there may be at a time. */
function count(name: string, env: Words, otherwise: string): number {
  return wholeNumber(name, env[name] || otherwise, 1, 1_000_000)
}

/** Addresses and ranges with commas between them. */
function networks(name: string, text: string): string[] {
  const given = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const wrong = given.find((one) => !/^[\da-fA-F.:]+(?:\/\d{1,3})?$/.test(one) || isIP(one.split('/')[0]!) === 0)
  if (wrong === undefined) return given
  throw new SettingError(`${name} must be addresses and ranges such as 10.0.0.7 or 10.0.0.0/8, not ${wrong}.`)
}

/** `name=value,name=value`, as OpenTelemetry writes headers. */
function pairs(text: string): { [name: string]: string } {
  const parts = text.split(',').map((part) => part.split('='))
  return Object.fromEntries(
    parts
      .filter(([name]) => name?.trim())
      .map(([name, ...value]) => [name!.trim(), decodeURIComponent(value.join('='))]),
  )
}

function oneOf(name: string, text: string, words: readonly string[]): string {
  if (words.includes(text)) return text
  throw new SettingError(`${name} is ${words.join(' or ')}, not ${text}.`)
}

/** An empty tenant needs some room. */
const LEAST_TENANT = 1_048_576

function tenantLimit(text: string): number | null {
  const bytes = size('TILDE_TENANT_LIMIT', text)
  if (bytes === 0) return null
  if (bytes >= LEAST_TENANT) return bytes
  throw new SettingError(`TILDE_TENANT_LIMIT must be at least 1MiB, or 0 for no limit, not ${text}.`)
}
