import type { About } from '@tildebase/nouns'
import type { HttpResponse, MaybePromise } from '../../doors/http.ts'
import type { TenantCall } from '../../doors/tenant-call.ts'

/** What the gateway's thread asks of a worker: one of these of the tenants that live there. */
export type Method =
  | 'handle'
  | 'verify'
  | 'wake'
  | 'task'
  | 'rest'
  | 'stats'
  | 'restTenant'
  | 'closeTenant'
  | 'dropTenant'

/** What a worker asks of the gateway's thread. */
export interface HostCalls {
  /** Reads another tenant, wherever that is. */
  readOther(call: TenantCall): MaybePromise<HttpResponse>
  /** Books when a tenant that is about to be closed is to be woken; settles when that is on the disk. */
  setAlarm(slug: string, at: number | null): MaybePromise<void>
  /** Takes addresses of the mailbox of the service. Returns those of another tenant, and then takes none. */
  claimAddresses(slug: string, addresses: readonly string[]): MaybePromise<readonly string[]>
}

/** From the gateway's thread to a worker. */
export type ToWorker =
  | { readonly do: 'call'; readonly id: number; readonly method: Method; readonly args: readonly unknown[] }
  /** The client of a call has left: code that it runs is stopped. */
  | { readonly do: 'abandon'; readonly id: number }
  | { readonly do: 'begin'; readonly baseUrl: string }
  | { readonly do: 'ping' }
  | { readonly do: 'stop' }
  /** The answer to an `ask`. */
  | { readonly do: 'answer'; readonly id: number; readonly value: unknown }
  /** What was held may leave, or may not. */
  | { readonly do: 'pass'; readonly id: number; readonly isAllowed: boolean }
  /** No time before this one is given out for the tenant; none after `until` for any. */
  | { readonly do: 'clock'; readonly slug: string; readonly from: number }
  | { readonly do: 'clockLimit'; readonly until: number }
  | Flow

/** From a worker to the gateway's thread. */
export type FromWorker =
  | { readonly do: 'ready' }
  | { readonly do: 'pong' }
  | { readonly do: 'return'; readonly id: number; readonly value: unknown; readonly ms: number }
  | { readonly do: 'refuse'; readonly id: number; readonly problem: Refusal; readonly ms: number }
  /** The call waits for something other than the thread. */
  | { readonly do: 'waits'; readonly id: number; readonly ms: number }
  | { readonly do: 'opened'; readonly slug: string }
  | { readonly do: 'ask'; readonly id: number; readonly method: keyof HostCalls; readonly args: readonly unknown[] }
  | { readonly do: 'book'; readonly slug: string; readonly at: number | null }
  /** The file of a tenant has one commit more. It comes before every answer that can know of it. */
  | {
      readonly do: 'commit'
      readonly slug: string
      readonly n: number
      readonly changes: Uint8Array
      readonly erases: boolean
    }
  /** Something other than an answer is about to leave. */
  | { readonly do: 'hold'; readonly id: number; readonly slug: string }
  | Flow

/** A stream of a call, in either direction; `id` is the call's. */
export type Flow =
  /** One chunk for all these streams: what goes to a thousand of them crosses once. */
  | { readonly do: 'chunk'; readonly ids: number[]; readonly chunk: Chunk }
  | { readonly do: 'end'; readonly id: number }
  | { readonly do: 'break'; readonly id: number; readonly problem: Refusal }
  /** The reader has room for that many bytes more. */
  | { readonly do: 'more'; readonly id: number; readonly bytes: number }
  /** The reader has gone away. */
  | { readonly do: 'cancel'; readonly id: number }

export type Chunk = string | Uint8Array

/** A Problem as plain data: a class does not cross a thread. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly about: About
}

/** Represents the body of a request or an answer that is streamed. */
export const FLOWING = { flowing: true } as const

export function isFlowing(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'flowing' in body
}

/** Whether a body is a stream, and not there at once. */
export function isStream(body: unknown): body is AsyncIterable<Chunk> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
