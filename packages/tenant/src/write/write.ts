import { isoOf, type Json, type JsonObject, type Lens, type Noun, Problem, type Verb } from '@tildebase/nouns'
import type { Budget } from '../budget.ts'
import type { Engine, Transaction } from '../engine/engine.ts'
import { demandSpace } from '../engine/quota.ts'
import type { Stepwise } from '../engine/turns.ts'
import { INTERNAL_TYPES } from '../engine/types.ts'
import type { Grant } from '../grant/grant.ts'
import { CHANGESET } from '../grant/scopes.ts'
import { newId } from '../ids.ts'
import type { Clock, Random } from '../ports.ts'
import type { Current, Stored } from '../store/entities.ts'
import { newEventId } from '../store/log/event-ids.ts'
import type { LogRow } from '../store/log/log.ts'
import { replacedSeq } from '../store/log/versions.ts'
import { countWrite } from '../store/people/consents.ts'
import type { Progress } from './progress.ts'
import type { Recorder } from './recorder.ts'
import type { HookAnswers } from './stored-hooks.ts'
import type { RunResult, VerbRequest } from './verb-request.ts'

/** What a write belongs to. Everything that it leads to inherits it. */
export interface WriteContext {
  readonly clock: Clock
  readonly random: Random
  readonly budget: Budget
  /** The tenant's URL, by the address at which the service was asked; null for background work. */
  readonly url: string | null
  /** The lens of the request, which code finds entities through; absent: all of them. */
  readonly lens?: Lens | undefined
  /** What all writes of one request share, and can be undone by. */
  readonly correlation: string | null
  /** The trace of the request: its id and flags, `4bf9…-01`. */
  readonly trace: string | null
  /** How many AFTER hooks or workflows, one after the other, led here. */
  readonly hops: number
  /** What stored BEFORE hooks answered; null where they cannot be asked. */
  readonly hookAnswers: HookAnswers | null
  /** The secrets that were issued: what is kept of the answer must not contain them. */
  readonly secrets: Set<string>
  /** Entities, by type, whose computed fields are to be worked out at the end of the work in progress; null: at once. */
  readonly toCompute: Map<string, Set<string>> | null
  /** True for what also a tenant without room may write: deletes, erasures, and the service's own upkeep. */
  readonly ignoresQuota: boolean
  /** True when nothing may wake the tenant: the write will be undone. */
  readonly isDryRun: boolean
  /** Set while a change of the past is imported: it happened at another time than it is recorded at. */
  readonly past?: Past | null
  /** How much of the work is done, for those who wait for it. */
  readonly progress: Progress
  /** Notes the verbs of a proposal while it is tried out; null for every other write. */
  readonly recorder: Recorder | null
}

/** A change that happened before it is recorded. */
interface Past {
  /** When it happened. */
  readonly at: number
  readonly recordedAt: number
}

/** What an event says in addition to the verb and the entity after it. */
export interface EventParts {
  /** The changed fields with their values before. */
  readonly previous: JsonObject | null
  /** The version before. */
  readonly replaced?: Current | null
  /** The arguments of the verb, as JSON text. */
  readonly args?: string | null
  /** The id of the event, when it is known already. */
  readonly id?: string
}

/** Runs in the transaction of an event: what it writes is durable with the event, or not at all. */
export type TransactionListener = (write: Write, event: LogRow, entity: Stored) => void

/** The value of a field that a verb declares as `$computed`. */
export type Compute = (noun: Noun, verb: Verb, field: string, state: JsonObject, args: JsonObject) => Json | undefined

/** What else follows from the new state of an entity. Returns the state with it. */
export type Derive = (change: DerivedChange) => JsonObject

/** A change of an entity that other values follow from. */
export interface DerivedChange {
  readonly write: Write
  readonly id: string
  readonly state: JsonObject
  /** The state before; null for a new entity. */
  readonly before: JsonObject | null
  readonly given: JsonObject
}

/** A verb that means more than merging fields: `ApiKey.create`, `Funnel.analyze`. */
export type SpecialVerb = (write: Write, request: VerbRequest) => Stepwise<RunResult>

/** What services add to writes. Filled once, when a tenant is opened. */
export interface WriteExtensions {
  readonly listeners: TransactionListener[]
  /** The one for the events of a type. It comes last, since it may write events of its own. */
  readonly listenerOf: { [type: string]: TransactionListener }
  /** Those that also run for changes of the past that are imported. */
  readonly pastListeners: TransactionListener[]
  readonly verbs: { [name: string]: SpecialVerb }
  /** Values that built-in types fill in, by type. */
  readonly derive: { [type: string]: Derive }
  compute: Compute
  /** The tenant's data as code sees it, inside a write. */
  session: (write: Write) => unknown
}

/** When a write began, by its clock; null until it asks for the time. */
interface Begun {
  at: number | null
}

/** One write: its actor, time, ids and correlation. It exists during its transaction. */
export class Write {
  readonly engine: Engine
  readonly transaction: Transaction
  readonly extensions: WriteExtensions
  readonly grant: Grant
  readonly context: WriteContext
  readonly #begun: Begun

  constructor(
    transaction: Transaction,
    extensions: WriteExtensions,
    grant: Grant,
    context: WriteContext,
    begun: Begun = { at: null },
  ) {
    this.engine = transaction.engine
    this.transaction = transaction
    this.extensions = extensions
    this.grant = grant
    this.context = context
    this.#begun = begun
  }

  get sql() {
    return this.engine.sql
  }

  /** The time of the write: all its events have the same, so that no moment lies between them. */
  now(): number {
    if (this.context.past) return this.context.past.at
    const at = this.#begun.at ?? this.context.clock.now()
    this.#begun.at = at
    return this.engine.nextTime({ now: () => at })
  }

  newId(prefix: string): string {
    const { past, clock, random } = this.context
    return newId(prefix, past ? { now: () => past.at } : clock, random)
  }

  /** The same write for another grant: the service's own, or that of a hook. */
  as(grant: Grant): Write {
    return new Write(this.transaction, this.extensions, grant, this.context, this.#begun)
  }

  /** The same write in another context. */
  within(context: Partial<WriteContext>): Write {
    const begun = context.clock === undefined ? this.#begun : { at: null }
    return new Write(this.transaction, this.extensions, this.grant, { ...this.context, ...context }, begun)
  }

  /** Runs `work` whole or not at all; a failure leaves what was written before it. */
  attempt<T>(work: () => T): T {
    return this.transaction.savepoint(work)
  }

  /** Calls `back` if the work in progress is undone. */
  onRollback(back: () => void): void {
    this.transaction.onRollback(back)
  }

  /** Asks for the tenant to be woken at a time. */
  wakeAt(at: number): void {
    if (!this.context.isDryRun) this.engine.ports.alarm.wakeAt(at)
  }

  /** Appends the event of a verb and calls the listeners. The one place where events are written, and limits hold. */
  append(verb: Verb, entity: Stored, { previous, replaced = null, args = null, id }: EventParts): LogRow {
    const { engine, context } = this
    const { mostBytes } = engine.options
    demandWithinLimits(engine, this.grant, entity.type, verb.name)
    if (mostBytes !== undefined && !context.ignoresQuota) demandSpace(engine.sql, mostBytes)
    context.budget.checkTime()
    if (context.hops > 0) this.onRollback(engine.automation.spend(context.clock.now()))
    const entry = {
      id: id ?? newEventId(entity.updatedAt, engine.head.seq + 1, context.random),
      at: entity.updatedAt,
      recordedAt: this.context.past?.recordedAt ?? null,
      type: entity.type,
      entity: entity.id,
      verb: verb.name,
      event: verb.event,
      version: entity.version,
      actor: this.grant.actor,
      correlation: context.correlation,
      onBehalfOf: this.grant.onBehalfOf ?? null,
      createdAt: entity.createdAt,
      createdBy: entity.createdBy,
      data: entity.data,
      previous: previous && JSON.stringify(previous),
      args,
    }
    // A tracked Event has no entity next to it.
    const n = entity.ordinal === 0 ? null : entity.ordinal
    const row = this.transaction.append(entry, context.random, { n, replaced: replacedSeq(replaced) })
    const { listeners, pastListeners, listenerOf } = this.extensions
    for (const listener of context.past ? pastListeners : listeners) listener(this, row, entity)
    if (!context.past && Object.hasOwn(listenerOf, row.type)) listenerOf[row.type]!(this, row, entity)
    return row
  }
}

const DAY = 86_400_000
/** A proposal changes nothing: another person decides about it. */
const PROPOSALS: readonly string[] = [CHANGESET, 'ChangesetPart']

/** Refuses an event that the limits of an agent's grant do not allow, and counts one that they do. */
function demandWithinLimits({ sql, ports }: Engine, grant: Grant, type: string, verb: string): void {
  const { limits, credential } = grant
  if (limits === undefined || PROPOSALS.includes(type)) return
  demandVerb(grant, type, verb)
  const { writesPerDay } = limits
  if (writesPerDay === undefined || credential === undefined) return
  const now = ports.clock.now()
  if (countWrite(sql, credential, isoOf(now).slice(0, 10)) <= writesPerDay) return
  throw new Problem(
    'rate_limited',
    `This agent may write at most ${writesPerDay} times a day and has reached this limit.`,
    {
      limit: writesPerDay,
      retryAfter: Math.ceil((DAY - (now % DAY)) / 1_000),
    },
  )
}

/** Refuses a verb that is not among those that an agent may run. */
export function demandVerb({ limits }: Grant, type: string, verb: string): void {
  if (limits === undefined) return
  const { verbs } = limits
  // What they store runs without the limits, and on its own.
  if (type === 'Webhook' || type === 'Workflow') {
    throw new Problem('forbidden', `An agent with limits cannot write ${type}.`, { type })
  }
  // `create` names the verb of every type that a path can name, and not the declaration of a type.
  const isNamed = (verbs?.includes(verb) && !INTERNAL_TYPES.get(type)) || verbs?.includes(`${type}.${verb}`)
  if (verbs === undefined || isNamed) return
  throw new Problem('forbidden', `This agent may run ${verbs.join(', ') || 'no verbs'}, but not ${type}.${verb}.`, {
    type,
    verb,
  })
}
