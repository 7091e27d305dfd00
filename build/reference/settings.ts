import { command as serve } from '../../packages/cli/src/commands/serve.ts'
import { code, table } from './markdown.ts'
import { source, sources } from './source.ts'

/** What each setting of the server does. The defaults are read from the code. */
const SERVER: { readonly [group: string]: { readonly [variable: string]: string } } = {
  Addresses: {
    TILDE_PORT: 'The port to listen on; 0 takes a free one.',
    TILDE_HOST: 'The address to listen on.',
    TILDE_HOST_SUFFIX: 'The base host. Labels before it select the lens.',
    TILDE_BASE_URL:
      'The address as clients see it, shown in `$context`. Without it, answers show the host of the request, and webhooks the address listened on.',
    TILDE_PROXIES:
      'Addresses and ranges of your proxies, with commas. Their `X-Forwarded-For` and `X-Forwarded-Proto` count.',
    TILDE_MCP_ORIGINS: 'Hosts whose pages may use MCP, with commas; `*` means all.',
  },
  'Data and threads': {
    TILDE_DATA: 'The data folder.',
    TILDE_CONFIG: 'A file with types and hooks.',
    TILDE_WORKERS: 'Threads for tenants; 0 runs everything in one thread.',
    TILDE_WORKER_TIMEOUT: 'The time after which a thread that does not answer is replaced.',
    TILDE_OPEN_TENANTS:
      'How many tenants stay open, and up to twice as many for a moment. The one unused for longest is closed first.',
    TILDE_CREATE_TENANTS:
      '`write`: the first write with the operator key creates a tenant. `operator`: only an operator command does.',
    TILDE_CHANGESET_DAYS: 'Days after which an open changeset becomes stale.',
  },
  'Keys and people': {
    TILDE_ROOT_KEY: 'The operator key, 32 characters or more.',
    TILDE_SECRET_KEY: 'Encrypts webhook secrets in the files of tenants, 32 characters or more.',
    TILDE_SIGNING_KEY: 'Signs checkpoints: 32 bytes as base64.',
    TILDE_SIGNING_KEYS_RETIRED: 'Public keys that signed earlier checkpoints, with commas.',
    TILDE_WITNESSES: 'Witnesses that cosign checkpoints: `NAME+ID+KEY URL`, with commas.',
    TILDE_WITNESS_FOR: 'Services that this one is a witness for: `HOST KEY`, with commas.',
    TILDE_SIGNUP: '`open` lets anyone create a new tenant with its first key.',
    TILDE_SIGNUP_LIMIT: 'Sign-ups per hour and address; 0 means no limit.',
    TILDE_OIDC_ISSUER: 'The OIDC provider that people sign in with. Set all three OIDC settings or none.',
    TILDE_OIDC_CLIENT_ID: 'The client id at that provider.',
    TILDE_OIDC_CLIENT_SECRET: 'The client secret at that provider.',
  },
  'Limits of requests': {
    TILDE_RATE_LIMIT: 'Requests per minute and key; 0 means no limit.',
    TILDE_ADDRESS_SOCKETS: 'Connections of one address at a time.',
    TILDE_ADDRESS_REQUESTS: 'Requests of one address at a time.',
    TILDE_TENANT_REQUESTS: 'Requests of one tenant at a time; more get 503 `busy`.',
    TILDE_KEY_REQUESTS: 'Requests of one key at a time; more get 429 `rate_limited`.',
    TILDE_TENANT_POLLS: 'Long polls and live streams of one tenant at a time.',
    TILDE_KEY_POLLS: 'Long polls and live streams of one key at a time.',
    TILDE_QUERY_TIMEOUT:
      'Engine time of one request; more gets 422 `over_budget`. A write of many entities that takes longer continues as a [task](../api.md#tasks).',
    TILDE_ROW_LIMIT: 'Rows that one request may read.',
    TILDE_ANSWER_LIMIT: 'The largest answer. Exports are exempt.',
    TILDE_TENANT_LIMIT:
      'The most bytes of a tenant, such as `2GiB`; writes beyond get 507 `over_quota`. 0 means no limit.',
    TILDE_SCRUB: 'How often the service [verifies](../operations.md#disk) each tenant; 0 means never.',
    TILDE_AUTOMATION_RATE: 'Events per minute that timers, workflows and hooks of a tenant write; 0 means no limit.',
    TILDE_BODY_LIMIT: 'The largest JSON body.',
    TILDE_IMPORT_LIMIT: 'The largest import, after decompression.',
    TILDE_BODY_MEMORY: 'Memory for all request bodies together.',
    TILDE_ANSWER_MEMORY: 'Memory for answers that wait to be read.',
    TILDE_BODY_TIMEOUT: 'How long a body may pause before 408.',
  },
  Files: {
    TILDE_FILES: 'Where the bytes of files are: `s3://bucket/prefix` for a bucket, which a cluster needs.',
    TILDE_S3_ENDPOINT: 'The address of the S3-compatible store, in path style; http is for loopback only.',
    TILDE_S3_REGION: 'The region of the store.',
    TILDE_S3_ACCESS_KEY_ID: 'The access key of the store.',
    TILDE_S3_SECRET_ACCESS_KEY: 'The secret of that access key.',
    TILDE_FILE_LIMIT: 'The largest file.',
    TILDE_FILES_TOTAL: 'The most bytes of all content of a tenant.',
    TILDE_FILE_ORPHANS: 'How long content that nothing names, and unfinished uploads, are kept.',
  },
  Webhooks: {
    TILDE_WEBHOOK_RETRIES: 'The waits before the retries of a delivery.',
    TILDE_WEBHOOK_TIMEOUT: 'How long one attempt may take.',
    TILDE_WEBHOOK_RETENTION: 'How long records of finished deliveries are kept.',
    TILDE_WEBHOOKS_INSECURE: '`1` allows http and private addresses, for development.',
  },
  'E-mail': {
    TILDE_SMTP_URL:
      'The mail server: `smtps://name:password@mail.example.org`, or `smtp:` with STARTTLS. See [E-mail](../email.md).',
    TILDE_SMTP_FROM: 'The sender of messages that name none. Required with TILDE_SMTP_URL.',
    TILDE_IMAP_URL:
      'A mailbox of the service: `imaps://name:password@mail.example.org`. Its messages go to the tenants whose inbox has the address of a recipient. In a cluster, one node reads it.',
    TILDE_IMAP_INTERVAL: 'How often that mailbox, and one of a tenant without a schedule of its own, is looked at.',
  },
  Cluster: {
    TILDE_CLUSTER: 'The PostgreSQL that the nodes of a [cluster](../cluster.md) share.',
    TILDE_NODE_NAME: 'The name of this node. Two nodes must not have the same name.',
    TILDE_ADVERTISE: 'The address at which other nodes reach this one.',
    TILDE_CLUSTER_LEASE: 'Seconds without a sign of a node after which others take over its tenants.',
    TILDE_CLUSTER_FOLLOWERS: 'How many nodes beside the owner keep a copy of each tenant.',
    TILDE_CLUSTER_PATIENCE: 'Seconds that an answer waits for PostgreSQL, and a request for an owner, before 503.',
    TILDE_CLUSTER_GRACE: 'Seconds for which a node that stops still passes requests on to the new owners.',
    TILDE_CLUSTER_SNAPSHOT_CHANGES: 'Commits after which a tenant gets a new snapshot.',
    TILDE_CLUSTER_SNAPSHOT_MIB: 'MiB of changes after which a tenant gets a new snapshot.',
  },
  'Durable Objects': {
    TILDE_BACKUP_SECONDS: 'Seconds between two backups of a tenant that was written to.',
  },
  Observability: {
    TILDE_LOG: '`requests` logs a line of JSON for each request; `faults` logs faults only.',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'Where spans are sent, as OTLP over HTTP.',
    OTEL_EXPORTER_OTLP_HEADERS: 'Headers for that endpoint: `name=value`, with commas.',
    OTEL_SERVICE_NAME: 'The name of the service in spans.',
  },
}

/** Settings of the command line. */
const CLIENT: { readonly [variable: string]: string } = {
  TILDE_URL: 'The address of the service (`--url`).',
  TILDE_TENANT: 'The tenant (`--tenant`); otherwise the tenant of the key.',
  TILDE_KEY: 'The key (`--key`). `TILDE_ROOT_KEY` is used when it is not set.',
  TILDE_PROFILE: 'The profile that `tilde login` wrote (`--profile`).',
}

/** Set by the programs or by deployment examples; not a setting of the service. */
const INTERNAL = new Set(['TILDE_REEXECUTED'])

const WITHOUT_LITERAL: { readonly [variable: string]: string } = {
  TILDE_WORKERS: '0 on one core, 1 on two or three, else 4',
  TILDE_CREATE_TENANTS: '`write`; in a cluster `operator`',
  TILDE_ROOT_KEY: 'generated',
  TILDE_SECRET_KEY: 'generated',
  TILDE_SIGNING_KEY: 'generated',
  TILDE_BASE_URL: 'the address listened on',
  TILDE_WEBHOOKS_INSECURE: '`0`',
  TILDE_NODE_NAME: 'the host name',
  TILDE_ADVERTISE: '`http://{host}:{port}`',
  OTEL_SERVICE_NAME: '`tildebase`',
  TILDE_FILES_TOTAL: 'no limit',
  TILDE_FILES: 'the data folder',
  TILDE_S3_ENDPOINT: 'that of AWS',
  TILDE_BACKUP_SECONDS: '`300`',
}

/** The settings of the server, by group. */
export function settingTables(): string {
  check()
  return Object.entries(SERVER)
    .map(([group, settings]) => {
      const rows = Object.entries(settings).map(([variable, text]) => [
        code(variable),
        flagOf(variable),
        defaultOf(variable),
        text,
      ])
      return `### ${group}\n\n${table(['Variable', 'Flag', 'Default', 'Meaning'], rows)}`
    })
    .join('\n\n')
}

/** The settings of the command line. */
export function clientSettings(): string {
  return table(
    ['Variable', 'Meaning'],
    Object.entries(CLIENT).map(([variable, text]) => [code(variable), text]),
  )
}

/** The flag of `tilde serve` whose help names the variable. */
function flagOf(variable: string): string {
  const flag = Object.entries(serve.flags).find(([, { help }]) => new RegExp(`${variable}\\b`).test(help))
  return flag ? code(`--${flag[0]}`) : ''
}

const CONFIG =
  source('packages/server/src/host/settings/settings.ts') +
  source('packages/server/src/host/settings/cluster-settings.ts') +
  source('packages/server/src/host/settings/file-settings.ts')

/** The default as it is written in the code: `env.TILDE_X || '10s'`. */
function defaultOf(variable: string): string {
  const given = WITHOUT_LITERAL[variable]
  if (given !== undefined) return given
  const found =
    new RegExp(`${variable}'?\\)? (?:\\|\\||\\?\\?) '([^']*)'`).exec(CONFIG) ??
    new RegExp(`'${variable}', env, '([^']*)'`).exec(CONFIG) ??
    new RegExp(`number\\('${variable}', ([\\d_]+)`).exec(CONFIG)
  return found?.[1] ? code(found[1].replaceAll('_', '')) : ''
}

/** Fails when the code reads a setting that is not described here, or does not read one that is. */
function check(): void {
  const read = new Set(
    sources().flatMap((text) => [...text.matchAll(/\b(?:TILDE|OTEL)_[A-Z0-9_]*[A-Z]\b/g)].map(String)),
  )
  const described = new Set([...Object.values(SERVER).flatMap((group) => Object.keys(group)), ...Object.keys(CLIENT)])
  const missing = [...read].filter((name) => !described.has(name) && !INTERNAL.has(name))
  const unused = [...described].filter((name) => !read.has(name))
  if (missing.length > 0) throw new Error(`build/reference/settings.ts does not describe ${missing.join(', ')}.`)
  if (unused.length > 0) throw new Error(`No code reads ${unused.join(', ')}, which build/reference/settings.ts has.`)
}
