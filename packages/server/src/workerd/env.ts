import type { WorkerLoader } from './isolate.ts'

/** The bindings, variables and secrets of the Worker. All values are text, as wrangler has them. */
export interface Env {
  readonly TENANTS: TenantObjects
  /** Loads isolates for code and passwords. Without it there are neither. */
  readonly LOADER?: WorkerLoader
  /** The operator's key, a secret. Without it nobody is the operator. */
  readonly TILDE_ROOT_KEY?: string
  /** What signs checkpoints, a secret: 32 bytes as base64. Without it a key is derived from TILDE_SECRET_KEY. */
  readonly TILDE_SIGNING_KEY?: string
  readonly TILDE_SIGNING_KEYS_RETIRED?: string
  readonly TILDE_WITNESSES?: string
  readonly TILDE_SIGNUP?: string
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
}

/** A binding to Durable Objects, as far as it is used here: programs with types of the runtime can pass their own. */
export interface TenantObjects {
  idFromName(name: string): unknown
  get(id: unknown): { fetch(request: Request): Promise<Response> }
}

/** The class of a tenant's Durable Object, which the program exports for the platform. */
export type TenantObjectClass = new (
  ctx: never,
  env: Env,
) => { fetch(request: Request): Promise<Response>; alarm(): Promise<void> }
