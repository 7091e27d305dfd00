import type { WorkerLoader } from './ports/isolate.ts'

/** The bindings, variables and secrets of the Worker. All variables are text, as wrangler has them. */
export interface Env {
  readonly TENANTS: ObjectNamespace
  /** The list of tenants, and what the operator did. Without it there is neither. */
  readonly DIRECTORY?: ObjectNamespace
  /** Loads isolates for code and passwords. Without it there are neither. */
  readonly LOADER?: WorkerLoader
  /** Where tenants are backed up to. Without it they are not. */
  readonly BACKUPS?: Bucket
  /** Where the content of files is. Without it there are no files. */
  readonly FILES?: FileBucket
  /** How often a key, or an address without one, may ask. */
  readonly RATE?: RateLimiter
  /** The files of the console and of /docs. */
  readonly ASSETS?: { fetch(request: Request): Promise<Response> }
  /** The operator key, a secret. Without it there is no operator access. */
  readonly TILDE_ROOT_KEY?: string
  /** What signs checkpoints, a secret: 32 bytes as base64. Without it a key is derived from TILDE_SECRET_KEY. */
  readonly TILDE_SIGNING_KEY?: string
  readonly TILDE_SIGNING_KEYS_RETIRED?: string
  readonly TILDE_WITNESSES?: string
  readonly TILDE_SIGNUP?: string
  readonly TILDE_CREATE_TENANTS?: string
  readonly TILDE_HOST_SUFFIX?: string
  readonly TILDE_BASE_URL?: string
  readonly TILDE_MCP_ORIGINS?: string
  readonly TILDE_WEBHOOK_RETRIES?: string
  readonly TILDE_WEBHOOK_TIMEOUT?: string
  readonly TILDE_WEBHOOK_RETENTION?: string
  readonly TILDE_WEBHOOKS_INSECURE?: string
  readonly TILDE_RATE_LIMIT?: string
  readonly TILDE_OIDC_ISSUER?: string
  readonly TILDE_OIDC_CLIENT_ID?: string
  readonly TILDE_OIDC_CLIENT_SECRET?: string
  readonly TILDE_CHANGESET_DAYS?: string
  readonly TILDE_TENANT_LIMIT?: string
  readonly TILDE_AUTOMATION_RATE?: string
  readonly TILDE_FILE_LIMIT?: string
  readonly TILDE_FILES_TOTAL?: string
  readonly TILDE_FILE_ORPHANS?: string
  /** How many seconds after a write a tenant is backed up; 300 unless set. */
  readonly TILDE_BACKUP_SECONDS?: string
}

/** A binding to Durable Objects, as far as it is used here: programs with types of the runtime can pass their own. */
export interface ObjectNamespace {
  idFromName(name: string): unknown
  get(id: unknown): { fetch(request: Request): Promise<Response> }
}

/** A bucket of R2, as far as it is used here. */
export interface Bucket {
  /** A stream must be the body of another object: its length is known. */
  put(key: string, value: ArrayBuffer | string | ReadableStream<Uint8Array>): Promise<unknown>
  head(key: string): Promise<unknown>
  get(key: string): Promise<{ readonly body: ReadableStream<Uint8Array>; text(): Promise<string> } | null>
  list(options: { prefix: string; delimiter?: string; cursor?: string; startAfter?: string }): Promise<{
    readonly objects: readonly { readonly key: string }[]
    readonly delimitedPrefixes: readonly string[]
    readonly truncated: boolean
    readonly cursor?: string
  }>
}

/** A bucket of R2 for content, as far as it is used here. */
export interface FileBucket {
  put(key: string, value: Uint8Array): Promise<unknown>
  get(
    key: string,
    options?: { readonly range: { readonly offset: number; readonly length: number } },
  ): Promise<{ readonly body: ReadableStream<Uint8Array> } | null>
  head(key: string): Promise<unknown>
  delete(key: string): Promise<void>
  list(options: { readonly prefix: string; readonly cursor?: string }): Promise<{
    readonly objects: readonly { readonly key: string; readonly uploaded: Date }[]
    readonly truncated: boolean
    readonly cursor?: string
  }>
  createMultipartUpload(key: string): Promise<{
    uploadPart(number: number, value: Uint8Array): Promise<unknown>
    complete(parts: readonly unknown[]): Promise<unknown>
    abort(): Promise<void>
  }>
}

/** A rate limit of the platform. */
export interface RateLimiter {
  limit(options: { readonly key: string }): Promise<{ readonly success: boolean }>
}

/** The class of a tenant's Durable Object, which the program exports for the platform. */
export type TenantObjectClass = new (
  ctx: never,
  env: Env,
) => { fetch(request: Request): Promise<Response>; alarm(): Promise<void> }
