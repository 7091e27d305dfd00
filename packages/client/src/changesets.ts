import type { Json } from '@tildebase/nouns'
import { Problem } from '@tildebase/nouns'
import type { Sending, Wire } from './transport/wire.ts'

/** A verb of a changeset, under its number. */
export interface ProposedOperation {
  readonly number: number
  readonly type: string
  readonly verb: string
  readonly id: string
  readonly data?: { readonly [field: string]: Json }
}

/** How one operation changes one entity. */
export interface ProposedChange {
  readonly operation: number
  readonly type: string
  readonly id: string
  readonly verb: string
  readonly changes: { readonly [field: string]: { readonly from: Json; readonly to: Json } }
}

/** Why an operation cannot run as it was proposed. */
export interface Conflict {
  readonly operation: number
  readonly type: string
  readonly id: string
  readonly field?: string
  readonly reason: string
}

/** A changeset with its operations, its diff against the current state, and its conflicts. */
export interface ReviewedChangeset {
  readonly $id: string
  readonly $version: number
  readonly title: string
  readonly reason?: string
  readonly state: 'Open' | 'Approved' | 'Rejected' | 'Stale'
  readonly author: string
  readonly base: number
  readonly operations: readonly ProposedOperation[]
  readonly diff: readonly ProposedChange[]
  readonly conflicts: readonly Conflict[]
  /** What BEFORE hooks say about the operations that they refuse. */
  readonly messages: readonly { readonly operation: number; readonly message: string }[]
  readonly comments?: readonly { readonly by: string; readonly at: string; readonly text: string }[]
}

/** What an open changeset would change in numbers. Only what differs is listed. */
export interface ChangesetEffect {
  readonly metrics: readonly {
    readonly name: string
    readonly unit: string
    readonly from: number | null
    readonly to: number | null
  }[]
  /** The number of entities of a type, or the sum of a field; of all of them, or of a group such as `{stage: 'Won'}`. */
  readonly aggregates: readonly {
    readonly type: string
    readonly measure: 'count' | 'sum'
    readonly field?: string
    readonly group?: { readonly [field: string]: Json }
    readonly from: number
    readonly to: number
  }[]
}

/** What is done with changesets. */
export interface Changesets {
  /** A changeset as a reviewer sees it. */
  get(id: string): Promise<ReviewedChangeset>
  /** The metrics, counts and sums that an open changeset would change. */
  effect(id: string): Promise<ChangesetEffect>
  /** Runs its operations, or those of these numbers; a Problem `conflict` with `conflicts` when nothing was changed. */
  approve(id: string, operations?: readonly number[]): Promise<ReviewedChangeset>
  reject(id: string, reason?: string): Promise<ReviewedChangeset>
  comment(id: string, text: string): Promise<ReviewedChangeset>
  /** Keeps these operations as if they were proposed now, and drops the others; keeps all by default. */
  rebase(id: string, keep?: readonly number[]): Promise<ReviewedChangeset>
  /** Creates one from what a fork of this tenant did. `key` is a key of the fork, unless yours opens it too. */
  from(fork: string, options?: ForkOptions): Promise<ReviewedChangeset>
}

export interface ForkOptions {
  readonly title?: string
  readonly reason?: string
  readonly key?: string
}

export function changesetsOf(wire: Wire, root: string): Changesets {
  const at = (id: string) => `${root}/changesets/${encodeURIComponent(id)}`
  const run = (id: string, verb: string, body: object) => wire.json(`${at(id)}/${verb}`, { method: 'POST', body })
  return {
    get: (id) => wire.json(at(id)),
    effect: (id) => wire.json(`${at(id)}/effect`),
    approve: (id, operations) => run(id, 'approve', { operations }),
    reject: (id, reason) => run(id, 'reject', { reason }),
    comment: (id, text) => run(id, 'comment', { text }),
    rebase: (id, keep) => run(id, 'rebase', { keep }),
    from: (fork, options) => wire.json(`${root}/changesets`, { method: 'POST', body: { ...options, from: fork } }),
  }
}

/** A wire whose writes are proposed, one after the other, for one changeset. */
export interface ProposingWire extends Wire {
  /** The changeset, once something was proposed. */
  readonly changeset: () => string | null
}

export function proposingWire(wire: Wire, title: string, reason: string | undefined): ProposingWire {
  let changeset: string | null = null
  let last: Promise<unknown> = Promise.resolve()
  const propose = async (path: string, sending: Sending) => {
    const query = { ...sending.query, propose: changeset ?? title, ...(changeset === null && { reason }) }
    const answer = await wire.json(path, { ...sending, query })
    const filed = path.endsWith('/do') ? answer.changeset : answer
    changeset = filed?.$id ?? changeset
    return path.endsWith('/do') ? answer : answer.preview
  }
  return {
    baseUrl: wire.baseUrl,
    changeset: () => changeset,
    send: (path, sending = {}) => {
      if (isReading(sending)) return wire.send(path, sending)
      throw new Problem(
        'invalid_operation',
        'Streams cannot be proposed. Create the entities one by one, or in a batch.',
      )
    },
    json: (path, sending = {}) => {
      if (isReading(sending)) return wire.json(path, sending)
      // In turn: the first one makes the changeset that the others add to.
      const done = last.then(() => propose(path, sending))
      last = done.catch(() => {})
      return done
    },
  }
}

/**
 * A batch of nothing but reads is one, too: long questions are sent that way. Bytes in pieces change nothing until a write
 * names them.
 */
function isReading({ method = 'GET', body, headers }: Sending): boolean {
  const { operations } = (body ?? {}) as { operations?: readonly { readonly method?: string }[] }
  if (headers?.['tus-resumable']) return true
  return method === 'GET' || (Array.isArray(operations) && operations.every((one) => (one.method ?? 'GET') === 'GET'))
}
