import type {
  AfterVerb,
  Entity,
  FileField,
  Include,
  Json,
  Noun,
  NounMap,
  RelationName,
  SortField,
  TargetOf,
  VerbArgs,
  VerbName,
  Where,
} from '@tildebase/nouns'
import type { AsOf, Time } from '../entities/query.ts'
import type { EntityTimer, WorkflowRuns } from '../entities/runs.ts'
import type { WriteOptions } from '../entities/written.ts'
import type { AnyJson } from '../transport/any-json.ts'
import type { Page } from '../transport/page.ts'
import type { DownloadOptions, FileLink, LinkOptions, UploadOptions } from './file-types.ts'
import type { Group, Measures } from './measure-types.ts'
import type { DraftOf, PatchOf, VerbAnswer } from './verb-types.ts'

/** One type of a tenant: to find, to read, to write, and every verb as a method. */
export type Collection<T extends Noun, C extends NounMap> = Reading<T, C> &
  Omit<Verbs<T, C>, keyof Reading<T, C>> &
  ('create' extends VerbName<T> ? ('update' extends VerbName<T> ? Upserting<T, C> : unknown) : unknown) &
  (T['name'] extends 'Workflow' ? WorkflowRuns : unknown) &
  ([FileField<T>] extends [never] ? unknown : Files<T>)

/** The methods of every type. */
export interface Reading<T extends Noun, C extends NounMap> {
  /** A page of entities, 25 by default: an array that also has `total`, `hasMore` and `cursor`. */
  find<I extends Include<T, C> = never, F extends FieldName<T> = never>(
    filter?: Where<T, C>,
    options?: FindOptions<T, I, F>,
  ): Promise<Page<Shown<T, C, I, F>>>
  /** The first entity, or null. */
  findOne<I extends Include<T, C> = never, F extends FieldName<T> = never>(
    filter?: Where<T, C>,
    options?: Omit<FindOptions<T, I, F>, 'limit' | 'cursor'>,
  ): Promise<Shown<T, C, I, F> | null>
  /** Every entity, page by page as it is asked for: `for await (const contact of $.Contact.all())`. */
  all<I extends Include<T, C> = never, F extends FieldName<T> = never>(
    filter?: Where<T, C>,
    options?: Omit<FindOptions<T, I, F>, 'limit' | 'offset' | 'cursor'>,
  ): AsyncGenerator<Shown<T, C, I, F>, void>
  /**
   * The list now, and again after each change, until the signal or the loop ends: `for await (const deals of
   * $.Deal.live({ stage: 'Negotiation' }))`. Reconnects automatically. `$text` and `asOf` are not supported.
   */
  live<I extends Include<T, C> = never, F extends FieldName<T> = never>(
    filter?: Where<T, C>,
    options?: LiveOptions<T, I, F>,
  ): AsyncGenerator<Page<Shown<T, C, I, F>>, void>
  /** One entity by its id; null when there is none. */
  get<I extends Include<T, C> = never, F extends FieldName<T> = never>(
    id: string,
    options?: GetOptions<I, F>,
  ): Promise<Shown<T, C, I, F> | null>
  count(filter?: Where<T, C>, options?: { readonly asOf?: AsOf; readonly signal?: AbortSignal }): Promise<number>
  /** Counts and aggregates by group, the largest first: `aggregate({ group: ['stage'], sum: ['value'] })`. */
  aggregate<M extends Measures<T, C>>(
    measures: M,
    filter?: Where<T, C>,
    options?: { readonly asOf?: AsOf; readonly signal?: AbortSignal },
  ): Promise<readonly Group<T, C, M>[]>
  /** The versions of an entity, deleted ones included, newest first. */
  history(id: string, options?: { readonly limit?: number; readonly cursor?: string | null }): Promise<Page<Version<T>>>
  /** What changed between two versions, or between two times. */
  diff(id: string, from: number | Time, to: number | Time): Promise<Difference>
  /** The pending timers of an entity. */
  timers(id: string): Promise<readonly EntityTimer[]>
  /** Creates many, each separately: an invalid one does not affect the others. */
  createMany(drafts: readonly DraftOf<T, C>[], options?: { readonly signal?: AbortSignal }): Promise<CreatedMany>
}

/** The built-in verbs that the type has, and its own. */
type Verbs<T extends Noun, C extends NounMap> =
  string extends VerbName<T>
    ? BuiltIn<T, C> & { readonly [verb: string]: (...args: AnyJson[]) => Promise<AnyJson> }
    : { readonly [V in VerbName<T>]: V extends keyof BuiltIn<T, C> ? BuiltIn<T, C>[V] : VerbMethod<T, V> }

type VerbMethod<T extends Noun, V extends VerbName<T>> = (
  id: string,
  args?: VerbArgs<T, V>,
  options?: WriteOptions,
) => Promise<AfterVerb<T, V> & VerbAnswer<T['name'], V>>

interface BuiltIn<T extends Noun, C extends NounMap> {
  create(draft: DraftOf<T, C>, options?: Omit<WriteOptions, 'ifVersion'>): Promise<Created<T>>
  /** Changes the fields that are given; null clears one. */
  update(id: string, patch: PatchOf<T, C>, options?: WriteOptions): Promise<Entity<T>>
  /** A soft delete: the past stays readable, and `restore` brings it back. */
  delete(id: string, options?: WriteOptions): Promise<void>
  /** Makes a new version that equals the state at a time. */
  rollback(id: string, to: { readonly asOf: AsOf }, options?: WriteOptions): Promise<Entity<T>>
  restore(id: string, args?: object, options?: WriteOptions): Promise<Entity<T>>
}

interface Files<T extends Noun> {
  /**
   * Stores content and sets a file field; a list gets one file more. Large content is sent in pieces, so that a lost
   * connection costs little: `upload(id, 'file', blob, { onProgress: ({ sent, size }) => … })`.
   */
  upload(id: string, field: FileField<T>, content: Blob, options?: UploadOptions): Promise<Entity<T>>
  /** The content of a file field, as the answer to a request: `await (await download(id, 'file')).blob()`. */
  download(id: string, field: FileField<T>, options?: DownloadOptions): Promise<Response>
  /** The address of the content, which needs no key until it expires. */
  link(id: string, field: FileField<T>, options: LinkOptions): Promise<FileLink>
}

interface Upserting<T extends Noun, C extends NounMap> {
  /**
   * Creates the entity that `match` identifies, or changes the fields in which it differs from `draft`:
   * `upsert({ email: 'ada@example.com' }, { name: 'Ada' })`. Use a unique field, so that two clients cannot both create.
   */
  upsert<M extends Partial<DraftOf<T, C>>>(
    match: M,
    draft: Omit<DraftOf<T, C>, keyof M>,
    options?: WriteOptions,
  ): Promise<Entity<T>>
}

export interface LiveOptions<T extends Noun, I extends string, F extends string>
  extends Omit<FindOptions<T, I, F>, 'asOf' | 'offset' | 'cursor'> {
  /** Called with true when the list connects, and with false when the connection is lost. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined
}

export interface FindOptions<T extends Noun, I extends string, F extends string> extends GetOptions<I, F> {
  /** `{stage: 1, value: -1}`, or `'stage,-value'`; the newest first by default. */
  readonly sort?: string | { readonly [K in SortField<T>]?: 1 | -1 } | undefined
  /** 1 to 100; 25 by default. */
  readonly limit?: number | undefined
  readonly offset?: number | undefined
  /** The cursor of the page before. */
  readonly cursor?: string | null | undefined
}

export interface GetOptions<I extends string, F extends string> {
  /** Relations of either direction to load, nested by dots. */
  readonly include?: readonly I[] | undefined
  /** The fields to give; `$id` and `$type` come along. */
  readonly fields?: readonly F[] | undefined
  /** The state as of that time, or after the event with that `seq`. */
  readonly asOf?: AsOf | undefined
  readonly signal?: AbortSignal | undefined
}

/** An entity just created; a key or a webhook shows its secret this once, and not when its first answer got lost. */
export type Created<T extends Noun> = Entity<T> &
  (T['name'] extends 'ApiKey' | 'Webhook' ? { readonly secret?: string } : unknown)

export interface CreatedMany {
  readonly created: number
  /** The drafts that were refused, by their place in the array. */
  readonly rejected: readonly { readonly row: number; readonly error: string }[]
}

/** One version of an entity: its state, its actor and its verb. */
export interface Version<T extends Noun> {
  readonly version: number
  readonly seq: number
  readonly timestamp: string
  readonly verb: VerbName<T>
  readonly event: string
  readonly actor: string
  readonly correlation: string | null
  readonly data: { readonly [field: string]: Json } | null
  readonly previous: { readonly [field: string]: Json } | null
  /** The arguments of the verb; null when it had none. */
  readonly args: { readonly [name: string]: Json } | null
}

export interface Difference {
  readonly from: Moment | null
  readonly to: Moment | null
  readonly changes: readonly { readonly field: string; readonly from: Json; readonly to: Json }[]
}

interface Moment {
  readonly version: number
  readonly timestamp: string
  readonly verb: string
  readonly actor: string
}

/** The names that `fields` takes. */
type FieldName<T extends Noun> = keyof Entity<T> & string

/** An entity with the relations that were included, or with the fields that were asked for. */
export type Shown<T extends Noun, C extends NounMap, I extends string, F extends string> = [F] extends [never]
  ? With<T, C, I>
  : Pick<With<T, C, I>, (F | Head<I> | '$id' | '$type') & keyof With<T, C, I>>

/** An entity whose relations that `I` names are entities themselves. */
export type With<T extends Noun, C extends NounMap, I extends string> = [I] extends [never]
  ? Entity<T>
  : Omit<Entity<T>, Head<I>> & { readonly [K in Head<I> & RelationName<T>]: Related<T, C, K, Tail<I, K>> }

type Related<T extends Noun, C extends NounMap, K extends string, I extends string> =
  IsMany<T, K> extends true
    ? readonly Target<TargetOf<Notation<T, K>>, C, I>[]
    : Target<TargetOf<Notation<T, K>>, C, I> | null

/** One of the entities that a relation leads to; `$type` tells of which type it is. */
type Target<Name, C extends NounMap, I extends string> = Name extends keyof C ? With<C[Name], C, I> : Json

type Notation<T extends Noun, K extends string> = T['notation'][K] extends infer F extends string ? F : never
type IsMany<T extends Noun, K extends string> = Notation<T, K> extends `${string}[]${string}` ? true : false

type Head<I extends string> = I extends `${infer First}.${string}` ? First : I
type Tail<I extends string, K extends string> = I extends `${K}.${infer Rest}` ? Rest : never
