import type { Body, MaybePromise } from '../http.ts'
import type { TenantCall } from '../tenant-call.ts'

/** The connection that a request came over. */
export interface Connection {
  /** The address of the client. */
  readonly address: string
  /** Reads the body of a request that was admitted; `tenant` is charged for the memory. */
  readBody(tenant: string): MaybePromise<Body>
  /** Calls the listener when the client disconnects before it has its answer. */
  onClose(listener: () => void): void
  /** Calls the listener when the answer has left, or the client. */
  onEnd(listener: () => void): void
}

/** Decides by the headers alone whether a request is passed on to its tenant. Throws the problem when it is not. */
export interface Admission {
  /** Admits a key that may be valid; the tenant still checks it. */
  admitKey(tenant: string, secret: string, address: string): MaybePromise<void>
  /** Admits a request of the operator, unless the tenant cannot be used at the moment. */
  admitOperator(tenant: string): void
  /** Admits a request that needs no key: to sign in, or to connect an agent. */
  admitOpen(tenant: string, address: string): void
  /** Admits a request for the first key of a tenant. */
  admitSignup(tenant: string, address: string): void
  /** Counts an admitted request for its tenant and its key, until the function that it returns is called. */
  enter(call: TenantCall): () => void
  /** A request of this address was refused since it carries no key. */
  refusedKeyless(): void
  /** The tenant refused a key that was admitted: it has been revoked or has expired, or is not valid for this path. */
  refusedKey(tenant: string, secret: string): void
  /** Something was written in a tenant, its keys maybe. */
  wrote(tenant: string): void
}
