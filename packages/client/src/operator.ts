import type { Catalogue } from '@tildebase/nouns'
import { type AsOf, asOfText } from './entities/query.ts'
import type { AnyJson } from './transport/any-json.ts'
import { type Page, pageOf } from './transport/page.ts'
import { type Connection, type Sending, wireTo } from './transport/wire.ts'
import type { Created } from './types/types.ts'
import type { DraftOf } from './types/verb-types.ts'

/** A tenant in the list of the operator. */
export interface ListedTenant {
  readonly tenant: string
  readonly bytes?: number
  readonly updatedAt?: string | null
  readonly restoring?: boolean
  readonly quarantined?: boolean
  /** What was wrong with its file when it was last verified. */
  readonly damage?: string
}

export interface TenantInfo {
  readonly tenant: string
  readonly events: number
  /** The number of entities by type. */
  readonly entities?: { readonly [type: string]: number }
  readonly createdAt?: string | null
  readonly updatedAt?: string | null
  /** The size of its file. */
  readonly bytes?: number
  readonly restoring?: boolean
}

/** What a verification found. */
export interface Verdict {
  readonly tenant: string
  readonly ok: boolean
  readonly events: number
  readonly faults: readonly AnyJson[]
}

export interface OperatorTask {
  readonly tenant: string
  readonly task: string
  readonly step: string
  readonly since: string
  readonly done?: number
  readonly of?: number | null
  readonly unit?: string
  /** Who sent a write that takes long. */
  readonly actor?: string
  /** The id of such a write, with which its tenant cancels it. */
  readonly id?: string
}

/** One action of the operator. */
export interface OperatorEntry {
  readonly at: string
  readonly action: string
  readonly tenant?: string
  readonly [fact: string]: AnyJson
}

interface PageOptions {
  readonly limit?: number
  readonly cursor?: string | null
}

type KeyDraft = DraftOf<Catalogue['ApiKey'], Catalogue>

/** What the operator of a service does with whole tenants. */
export interface Operator {
  readonly tenants: {
    list(options?: PageOptions & { readonly offset?: number }): Promise<Page<ListedTenant>>
    /** Creates an empty tenant. */
    create(tenant: string): Promise<{ readonly tenant: string }>
    get(tenant: string): Promise<TenantInfo>
    /** Deletes a tenant permanently. */
    delete(tenant: string): Promise<void>
    /** Creates an API key of a tenant, such as its first one. The answer has its `secret`. */
    createKey(tenant: string, key: KeyDraft): Promise<Created<Catalogue['ApiKey']>>
    /** Verifies the file, the chain of the log and all that is made from it. */
    verify(tenant: string): Promise<Verdict>
    /** The tasks of a tenant, or of all. */
    tasks(tenant?: string): Promise<readonly OperatorTask[]>
    /** Makes another tenant of a tenant, as it is or as it was. */
    fork(tenant: string, to: string, options?: { readonly asOf?: AsOf }): Promise<{ tenant: string; events: number }>
    /** Ends the quarantine of a tenant. */
    release(tenant: string): Promise<{ readonly tenant: string; readonly released: boolean }>
    /** A copy of the file of a tenant. */
    backup(tenant: string): Promise<Response>
    /** Restores a tenant from the file of a backup. */
    restore(tenant: string, file: BodyInit): Promise<{ readonly tenant: string; readonly events: number }>
    /** The log of a tenant, one event per line. */
    readLog(tenant: string, options?: { readonly after?: number; readonly wait?: number }): Promise<Response>
    /** Restores a tenant from a log. */
    replayLog(tenant: string, lines: BodyInit): Promise<{ readonly tenant: string; readonly events: number }>
    /** Takes a damaged file out of use for a restore. */
    setAside(tenant: string): Promise<{ readonly tenant: string; readonly file?: string }>
    /** The events that a file which was set aside still has, one per line. */
    salvage(tenant: string, options?: { readonly after?: number }): Promise<Response>
    /** The content of a file of a tenant. */
    readFile(tenant: string, hash: string): Promise<Response>
    /** Stores content that a log of the tenant names. */
    putFile(tenant: string, hash: string, content: BodyInit): Promise<AnyJson>
  }
  /** The actions of the operator, newest first. */
  log(options?: PageOptions): Promise<Page<OperatorEntry>>
  /** Signs checkpoints with a new key from now on. */
  rotateSigningKey(): Promise<AnyJson>
  /** The OpenAPI document of these endpoints. */
  describe(): Promise<AnyJson>
  /** Any other request: `request('GET', '/operator/cluster')`. */
  request(method: string, path: string, sending?: Omit<Sending, 'method'>): Promise<AnyJson>
}

export interface OperatorOptions extends Omit<Connection, 'baseUrl'> {
  /** The key of the operator: `TILDE_ROOT_KEY`, or the content of `root.key`. */
  readonly rootKey: string
  /** {base_url}; `http://localhost:8787` by default. */
  readonly baseUrl?: string
}

/** A client for the operator of a service. */
export function operator({ rootKey, baseUrl = 'http://localhost:8787', ...options }: OperatorOptions): Operator {
  const wire = wireTo({ ...options, baseUrl, apiKey: rootKey })
  const at = (tenant: string, rest = '') => `/operator/tenants/${encodeURIComponent(tenant)}${rest}`
  const post = (path: string, body: object = {}) => wire.json(path, { method: 'POST', body })
  const put = (path: string, type: string, body: BodyInit) => wire.json(path, { method: 'PUT', raw: { type, body } })
  return {
    tenants: {
      list: async (query = {}) => pageOf(await wire.json('/operator/tenants', { query: { ...query } })),
      create: (tenant) => post('/operator/tenants', { tenant }),
      get: (tenant) => wire.json(at(tenant)),
      delete: (tenant) => wire.json(at(tenant), { method: 'DELETE' }),
      createKey: (tenant, key) => post(`/~${encodeURIComponent(tenant)}/ApiKey`, key),
      verify: (tenant) => wire.json(at(tenant, '/verify')),
      tasks: async (tenant) =>
        (await wire.json(tenant === undefined ? '/operator/tasks' : at(tenant, '/tasks'))).results,
      fork: (tenant, to, { asOf } = {}) => post(at(tenant, '/fork'), { to, asOf: asOfText(asOf) }),
      release: (tenant) => post(at(tenant, '/release')),
      backup: (tenant) => wire.send(at(tenant, '/backup')),
      restore: (tenant, file) => put(at(tenant, '/restore'), 'application/vnd.sqlite3', file),
      readLog: (tenant, query = {}) => wire.send(at(tenant, '/log'), { query: { ...query } }),
      replayLog: (tenant, lines) => put(at(tenant, '/log'), 'application/x-ndjson', lines),
      setAside: (tenant) => post(at(tenant, '/set-aside')),
      salvage: (tenant, query = {}) => wire.send(at(tenant, '/salvage'), { query: { ...query } }),
      readFile: (tenant, hash) => wire.send(at(tenant, `/files/${encodeURIComponent(hash)}`)),
      putFile: (tenant, hash, content) =>
        put(at(tenant, `/files/${encodeURIComponent(hash)}`), 'application/octet-stream', content),
    },
    log: async (query = {}) => pageOf(await wire.json('/operator/log', { query: { ...query } })),
    rotateSigningKey: () => post('/operator/signing-key'),
    describe: () => wire.json('/operator/openapi.json'),
    request: (method, path, sending) => wire.json(path, { ...sending, method }),
  }
}
