import type { EventOf, FileValue, NounMap, RegisteredNouns, WithNouns } from '@tildebase/nouns'
import { type Asks, asksOf } from './asks.ts'
import { type Changesets, changesetsOf, proposingWire, type ReviewedChangeset } from './changesets.ts'
import { batch } from './entities/batch.ts'
import { collectionOf } from './entities/collection.ts'
import { type AsOf, asOfText } from './entities/query.ts'
import { type Events, eventsOf } from './events.ts'
import { storeContent } from './files/files.ts'
import { importHistory, type PastChange } from './import/history.ts'
import type { SendOptions } from './import/send.ts'
import { type Proofs, proofsOf } from './proof.ts'
import type { AnyJson } from './transport/any-json.ts'
import { type Connection, type Sender, type Sending, type UnknownName, type Wire, wireTo } from './transport/wire.ts'
import type { BatchAnswer, BatchBuilder, BatchOptions } from './types/batch-types.ts'
import type { UploadOptions } from './types/file-types.ts'
import type { Collection } from './types/types.ts'
import { type Delivery, type VerifyOptions, verifyWebhook } from './webhooks.ts'

/** The tenant, the service, and an `apiKey` or the `auth` of a sign-in. */
export type TildebaseOptions<N extends NounMap = RegisteredNouns> = Sender &
  Omit<Connection, 'baseUrl'> & {
    /** The one tenant that this client works on. */
    readonly tenant: string
    /** {base_url}; `http://localhost:8787` by default. */
    readonly baseUrl?: string
    /**
     * The tenant's own types, so that TypeScript knows them: `{ Boat }`. Only their types are used:
     * `tildebase<typeof nouns>({…})` with `import type * as nouns` adds nothing to a bundle.
     */
    readonly nouns?: N
  }

/** A tenant: every type a property, and what concerns all of them. */
export type Tildebase<N extends NounMap = RegisteredNouns> = ClientOf<Known<N>>

/** The built-in types, those that `tilde types` has written down, and those that are given. */
type Known<N extends NounMap> = string extends keyof N ? N : WithNouns<Omit<RegisteredNouns, keyof N> & N>
// It names itself with the same types, so that comparing two clients comes to an end.
type ClientOf<C extends NounMap> = { readonly [K in keyof C]: Collection<C[K], C> } & Service<C>

/** The built-in types together with own ones: `verifyWebhook<Types<typeof nouns>>(request, secret)`. */
export type Types<N extends NounMap = RegisteredNouns> = Known<N>

export interface Service<C extends NounMap> {
  /** The tenant's namespace: `{base_url}/~{tenant}`. */
  readonly $context: string
  /** Several operations in one request. */
  batch(build: (b: BatchBuilder<C>) => unknown, options?: BatchOptions): Promise<BatchAnswer>
  /**
   * Proposes what `work` writes as one changeset, for another key to approve: `propose('Clean up', ($) => $.Contact.delete(id))`.
   * Reads inside see the present. Null when nothing was written.
   */
  propose(
    title: string,
    work: ($: ClientOf<C>) => unknown,
    options?: { readonly reason?: string },
  ): Promise<ReviewedChangeset | null>
  readonly changesets: Changesets
  /** Questions of workflows that wait for people. */
  readonly asks: Asks
  readonly events: Events<C>
  readonly webhooks: {
    /** As `verifyWebhook`, with the types of this client. */
    verify(delivery: Delivery, secret: string, options?: VerifyOptions): Promise<EventOf<C, '*'>>
  }
  /** Signed checkpoints of the log, and proofs of its events. */
  readonly proof: Proofs
  /** The state of the tenant, and the rights of the key. */
  status(): Promise<Status>
  /** The tenant's types as data; one of them by its name. */
  schema(type?: string): Promise<AnyJson>
  /** The business metrics, now or at a time. */
  metrics(options?: { readonly asOf?: AsOf }): Promise<AnyJson>
  /** Runs code on the server. A dry run writes nothing and returns the events that it would write. */
  do(code: string, options?: { readonly dryRun?: boolean; readonly signal?: AbortSignal }): Promise<DoAnswer>
  /**
   * Imports past changes in the order of time. They become events of the times at which they happened; `repeated` counts those
   * that are in the log already.
   */
  importHistory(
    changes: AsyncIterable<PastChange> | Iterable<PastChange>,
    options?: SendOptions,
  ): ReturnType<typeof importHistory>
  /** Undoes all writes of a request or a batch, by its correlation. A Problem `conflict` if later writes changed them. */
  undo(correlation: string): Promise<UndoAnswer>
  /** Stores content without an entity, for a create or an update that names it within a day. */
  upload(content: Blob, options?: Omit<UploadOptions, 'ifVersion'>): Promise<FileValue>
  /** Any other request below the tenant: `request('GET', '/openapi.json')`. */
  request(method: string, path: string, sending?: Omit<Sending, 'method'>): Promise<AnyJson>
}

export interface Status {
  readonly tenant: string
  readonly key: { readonly id: string; readonly scopes: readonly string[] }
  readonly lens: readonly string[]
  /** Where the log ends. */
  readonly log: { readonly seq: number; readonly at: string | null }
  /** How many entities there are of each type that the key may read. */
  readonly entities: { readonly [type: string]: number }
}

export interface DoAnswer {
  readonly result: AnyJson
  readonly logs: readonly string[]
  /** What a dry run would have written. */
  readonly events?: readonly AnyJson[]
  /** Names that the types do not know. */
  readonly warnings?: readonly (UnknownName & { readonly type: string })[]
  /** The correlation of all writes of the code; null if it wrote nothing. */
  readonly correlation?: string | null
  /** What it proposed, inside of `propose`. */
  readonly changeset?: { readonly $id: string; readonly url: string } | null
}

/** What an undo did. */
export interface UndoAnswer {
  /** The number of events that were undone. */
  readonly undone: number
  /** The ids of tracked events, which stay. */
  readonly kept: readonly string[]
  /** The correlation of the undo itself, which can be undone again. */
  readonly correlation: string
}

/** A client of one tenant. */
export function tildebase<N extends NounMap = RegisteredNouns>(options: TildebaseOptions<N>): Tildebase<N> {
  const wire = wireTo({ ...options, baseUrl: options.baseUrl ?? 'http://localhost:8787' })
  return clientOf(wire, `/~${encodeURIComponent(options.tenant)}`) as unknown as Tildebase<N>
}

function clientOf(wire: Wire, root: string): Tildebase<NounMap> {
  const service: Service<NounMap> = {
    $context: `${wire.baseUrl}${root}`,
    batch: (build, how) => batch(wire, root, build, how),
    propose: async (title, work, { reason } = {}) => {
      const proposing = proposingWire(wire, title, reason)
      await work(clientOf(proposing, root))
      const id = proposing.changeset()
      return id === null ? null : changesetsOf(wire, root).get(id)
    },
    changesets: changesetsOf(wire, root),
    asks: asksOf(wire, root),
    events: eventsOf(wire, root),
    webhooks: { verify: verifyWebhook },
    proof: proofsOf(wire, root),
    status: () => wire.json(`${root}/status`),
    schema: (type) => wire.json(`${root}/schema${type === undefined ? '' : `/${encodeURIComponent(type)}`}`),
    metrics: ({ asOf } = {}) => wire.json(`${root}/metrics`, { query: { asOf: asOfText(asOf) } }),
    do: (code, { dryRun, signal } = {}) =>
      wire.json(`${root}/do`, { method: 'POST', body: { code, dryRun }, once: true, signal }),
    importHistory: (changes, options) => importHistory(wire, root, changes, options),
    undo: (correlation) => wire.json(`${root}/undo/${encodeURIComponent(correlation)}`, { method: 'POST', body: {} }),
    upload: (content, options) => storeContent(wire, root, content, options),
    request: (method, path, sending) => wire.json(`${root}${path}`, { ...sending, method }),
  }
  const collections = new Map<string, object>()
  const collection = (type: string) => {
    const known = collections.get(type) ?? collectionOf(wire, root, type)
    collections.set(type, known)
    return known
  }
  return new Proxy(service, {
    get: (known, name) =>
      typeof name === 'symbol' || name === 'then'
        ? undefined
        : Object.hasOwn(known, name)
          ? known[name as keyof typeof known]
          : collection(name),
  }) as unknown as Tildebase<NounMap>
}
