import type { Json, JsonObject } from '@tildebase/nouns'

export type SqlValue = string | number | null | Uint8Array

/** A row of a result. Each statement knows the types of its own columns. */
// biome-ignore lint/suspicious/noExplicitAny: TypeScript cannot know what a text of SQL selects.
export type SqlRow = any[]

/** A synchronous SQLite database. Rows are arrays in the order of the columns. Bare `?` only, at most 100 values. */
export interface Sql {
  rows(sql: string, ...values: SqlValue[]): SqlRow[]
  run(sql: string, ...values: SqlValue[]): void
  /** Runs `work` whole or not at all; nests. A promise is refused by its type: it would outlive the transaction. */
  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T, way?: TransactionWay): T
  /** Ends statements that run longer than `ms` with a Problem `over_budget`, where the host can. */
  within<T>(ms: number, work: () => T): T
  /** Leaves nothing in the files of what was overwritten, where the host can see to it. */
  scrub?(): void
  /** Settles when the disk is ready for a commit of so many writes; null when it is. */
  ready?(writes: number): Promise<void> | null
  /**
   * Begins a transaction that lasts, on a connection of its own, where the host can. Until it is released, this connection
   * reads the state before it, `ready` waits, and a write that does not wait is refused as `busy`. `before` makes the last
   * writes of this connection; what it did is done when it is run again.
   */
  long?(before: () => void): Promise<LongTransaction>
  /** Begins a part of a long transaction that leaves no trace: the function that it returns undoes it. Only there. */
  savepoint?(): () => void
  /** Writes a copy of the database to a file, in small pieces next to other work, where the host has files. */
  copyTo?(path: string): Promise<void>
  /** The bytes of the database without its unused pages, where the host can count them. */
  bytes?(): number
  /** What SQLite itself finds wrong with the file, as far as the host lets it look. */
  faults?(): string[]
  /** An SQL expression to AND into the WHERE of a scan so that `within` can stop it; empty where the host has none. */
  readonly tick: string
}

/** A transaction that lasts. Nothing of it is seen before it is committed, and nothing is left of one that is not. */
export interface LongTransaction {
  readonly sql: Sql
  /** Settles when all of it is on the disk. */
  commit(): Promise<void>
  rollback(): void
  /** Lets others write again, after a commit or a rollback. */
  release(): Promise<void>
}

/**
 * What a host may make of a transaction. An outer one that is `repeatable` does no harm when it is run again from the
 * start, so inner transactions need no savepoint: if one of them fails, all is undone and run
 * again. An inner one that is `guarded` always has a savepoint: it will be undone. One that is `joined` has none: it is a
 * part of the outer one, which is undone as a whole if it fails.
 */
export type TransactionWay = 'repeatable' | 'guarded' | 'joined'

/** The time, in milliseconds since 1970. */
export interface Clock {
  now(): number
}

/** Randomness for ids and secrets. */
export interface Random {
  bytes(count: number): Uint8Array
}

/** Digests, synchronous. */
export interface Seal {
  sha256(...parts: (string | Uint8Array)[]): Uint8Array
  hmacSha256(key: string | Uint8Array, body: string): Uint8Array
  /** Whether two digests are equal, in a time that does not tell where they differ. */
  equal(a: Uint8Array, b: Uint8Array): boolean
  /** A digest that is fed bit by bit: SHA-256, or the one that a protocol asks for. */
  hasher(algorithm?: 'sha256' | 'sha1'): Hasher
}

/** A digest in progress. */
export interface Hasher {
  update(part: string | Uint8Array): void
  digest(): Uint8Array
}

/** Encrypts secrets that must be read again, such as those that sign webhooks, with a key that only the host knows. */
export interface Vault {
  encrypt(text: string): string
  /** The text, or null when it was encrypted with another key. */
  decrypt(sealed: string): string | null
}

/** Where the bytes of a tenant's files are: a folder or a bucket. A key names one content and is never used again. */
export interface BlobStore {
  /** Stores bytes. Done when they are durable; when the source fails, nothing is left. */
  put(key: string, source: AsyncIterable<Uint8Array>): Promise<void>
  /** The bytes from one position to another, which is not included. */
  read(key: string, from: number, to: number): AsyncIterable<Uint8Array>
  /** Whether there is anything under a key. */
  has(key: string): Promise<boolean>
  /** Removes bytes. There may be none. */
  remove(key: string): Promise<void>
  /** All keys, with the times at which their bytes were stored. */
  list(): AsyncIterable<{ readonly key: string; readonly at: number }>
}

/** Signs checkpoints of logs with Ed25519, under the key of the service. */
export interface Signer {
  /** Signs a string with the key of today. */
  sign(message: string): Promise<Signature>
  verify(publicKey: Uint8Array<ArrayBuffer>, message: string, signature: Uint8Array<ArrayBuffer>): Promise<boolean>
}

/** A signature and the key that it was made with. */
export interface Signature {
  readonly publicKey: Uint8Array<ArrayBuffer>
  readonly signature: Uint8Array<ArrayBuffer>
}

/** Another service that cosigns checkpoints, as the operator named it. */
export interface Witness {
  readonly name: string
  readonly publicKey: Uint8Array<ArrayBuffer>
  /** Sends an `add-checkpoint` request. Never throws: failures are returned. */
  submit(body: string): Promise<OutboundAnswer>
}

/** Asks the host to wake this tenant at a time; the earliest asked for counts. */
export interface Alarm {
  wakeAt(at: number): void
}

/** Sends one outgoing request, with the host's guard against private addresses. Never throws: failures are returned. */
export interface Outbound {
  send(request: OutboundRequest): Promise<OutboundAnswer>
  /** Why an address is refused, without a DNS lookup; null if it is allowed. */
  refuses?(url: string): string | null
}

export interface OutboundRequest {
  /** POST when it is absent. Redirects are answers: they are not followed. */
  readonly method?: string
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  readonly timeoutMs: number
  /** The number of bytes of the answer to read; default none. */
  readonly answerLimit?: number
  /** The tenant, set by a host that sends for several: none of them takes all connections to an address. */
  readonly owner?: string
}

/** An answer; its text and headers are there if the request had an `answerLimit`. */
export type OutboundAnswer =
  | { readonly status: number; readonly text?: string; readonly headers?: { readonly [name: string]: string } }
  | { readonly error: string }

/** Sends e-mail, and fetches it. */
export interface Mail {
  /** The sender of what goes through the mail server of the service; null where it has none. */
  readonly from: string | null
  /** Addresses of the service itself, in lower case. Bounces of what it writes to people come back to them. */
  readonly own: readonly string[]
  /** Sends by a server of the tenant's own, or by that of the service. Never throws: failures are returned. */
  send(mail: OutgoingMail, server: MailServer | null): Promise<MailOutcome>
  /** Takes addresses of the mailbox of the service for a tenant. Returns those that another tenant has already. */
  claim?(slug: string, addresses: readonly string[]): Promise<readonly string[]>
  /** Why a server does not let us in; null if it does. */
  check(server: MailServer): Promise<string | null>
  /** Takes a raw message of a tenant apart, next to its thread. */
  parse?(raw: Uint8Array, slug: string): Promise<IncomingMail>
  /** The messages of a mailbox after a place, the oldest first, and the place of each. Throws when it cannot be read. */
  fetch(server: MailServer, after: string | null, slug: string): AsyncIterable<FetchedMail>
}

/** A mail server, and who we are there. */
export interface MailServer {
  /** `smtps:`, `smtp:`, `imaps:` or `imap:`. */
  readonly url: string
  readonly username: string
  readonly password: string
}

export interface OutgoingMail {
  /** The same in every attempt. */
  readonly messageId: string
  readonly from: string
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly replyTo?: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly inReplyTo?: string
  readonly references?: readonly string[]
  /** Where a recipient unsubscribes: an address in angle brackets. */
  readonly unsubscribe?: string
  /** True for what no person wrote: no machine is to answer it. */
  readonly isAutomatic?: boolean
  readonly attachments: readonly OutgoingFile[]
}

export interface OutgoingFile {
  readonly name: string
  readonly type: string
  /** The bytes, once for each attempt. */
  read(): AsyncIterable<Uint8Array>
}

/**
 * The mail server has accepted a message, and says for which recipients it has not; or why it has not, `isFinal` when it
 * never will.
 */
export type MailOutcome =
  | { readonly isSent: true; readonly refused?: string }
  | { readonly error: string; readonly isFinal: boolean }

/** An e-mail that came in, taken apart. */
export interface IncomingMail {
  readonly messageId: string
  /** The address of the sender, or null when the message names none. */
  readonly from: string | null
  readonly fromName: string
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly replyTo: string | null
  readonly subject: string
  readonly text: string
  readonly html: string | null
  readonly sentAt: number | null
  /** The ids of the messages that it answers, the nearest first. */
  readonly references: readonly string[]
  /** A machine wrote it: an auto-reply or a bounce. */
  readonly isAutomatic: boolean
  /** The message that could not be delivered, if this is a bounce. */
  readonly bounced: { readonly messageId: string; readonly reason: string } | null
  readonly attachments: readonly IncomingFile[]
}

export interface IncomingFile {
  readonly name: string
  readonly type: string
  readonly bytes: Uint8Array
}

export interface FetchedMail {
  /** Null for one that is too large. */
  readonly mail: IncomingMail | null
  readonly place: string
}

/** Runs untrusted code in its own interpreter, outside the tenant's thread. Never throws: failures are returned. */
export interface Script {
  run(request: ScriptRequest): Promise<ScriptAnswer>
}

export interface ScriptRequest {
  /** TypeScript or JavaScript with top-level await; the last expression, or `return`, is the result. */
  readonly code: string
  /** Whose code it is. Nothing of one owner's is left in an interpreter when another's code comes. */
  readonly owner: string
  /** Names that the code knows beside `$` and `console`. */
  readonly values?: JsonObject
  /** The time that the code sees, in milliseconds since 1970; absent for the real one. */
  readonly now?: number
  /** How long it may take, waiting included, but not for a task. */
  readonly timeMs: number
  /** How long it may compute, where that is less. */
  readonly cpuMs?: number
  readonly memoryBytes: number
  /** How often it may call. */
  readonly operations: number
  /** How long the result may be, as JSON text. */
  readonly resultLength: number
  /** Answers one call of the code: `call('Contact.find', [filter, options])`. It calls `excuse` with a task that it waits for. */
  readonly call: (name: string, args: readonly Json[], excuse?: (task: Promise<unknown>) => void) => Promise<Json>
}

export interface ScriptFailure {
  readonly code: string
  readonly message: string
  /** What the code itself threw, in its own words. */
  readonly said?: string
  /** The code of the problem, if an operation was refused and the code did not catch it. */
  readonly reason?: string
}

export interface ScriptAnswer {
  readonly result?: Json
  /** `script_error`, `script_timeout`, `script_memory`, `script_operations`, `script_result`, or `busy`. */
  readonly error?: ScriptFailure
  readonly logs: readonly string[]
}

/** How long-running work gives other work of the thread its turn. */
export interface Turns {
  /** Milliseconds, from any moment on. */
  now(): number
  /** Whether requests wait for this thread, as far as the host knows. */
  isAwaited(): boolean
  /** Does the steps of long work, with turns for others before and between them. */
  run<T>(steps: Iterator<void, T>): Promise<T>
}
