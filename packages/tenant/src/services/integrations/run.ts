import { type Json, type JsonObject, Problem, parseInstant, SOURCE, sameJson, type Verb } from '@tildebase/nouns'
import { sourceIn, stateOf } from '../../connect/changes.ts'
import { type Found, type ObjectMapping, sourceOf } from '../../connect/connector.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Job } from '../../engine/scheduler.ts'
import { demand, type Grant, grantFor } from '../../grant/grant.ts'
import { beginRun, connectedOf, dueRuns, endRun, nextRun } from '../../store/automation/integrations.ts'
import { currentOf } from '../../store/entities.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { runVerb } from '../../write/run-verb.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { idFrom } from '../bulk/history-row.ts'
import { serverOf } from '../mail/transport.ts'
import { registersOf } from '../sync/register.ts'
import { type ConnectorDeclaration, demandCoversIntegration } from './author.ts'
import { checkSmtp, fetchMailbox } from './mailbox.ts'
import { askerOf, openConnected } from './provider.ts'
import { schedule } from './verbs.ts'

/** What a run did with the records of the provider. */
interface RunCounts {
  created: number
  updated: number
  unchanged: number
  failed: number
}

const SYNCED: Verb = { name: 'sync', before: 'syncing', event: 'synced', set: { status: 'Synced' }, keeps: 'event' }
const FAILED: Verb = { name: 'fail', before: 'failing', event: 'failed', set: { status: 'Connected' }, keeps: 'event' }
const SYSTEM = grantFor('system')
/** Records of one commit. */
const SLICE = 25
/** A run ends when the provider asks for a longer pause. */
const LONGEST_WAIT = 120_000
const TRIES = 5

/** A run that has begun, and how far it is. */
export interface IntegrationRun extends Readonly<RunCounts> {
  readonly begunAt: string
  /** The object that it reads: `contacts`. */
  readonly object: string | null
}

/** A run while it is in progress. */
interface Running {
  readonly begunAt: string
  readonly counts: RunCounts
  object: string | null
  /** Set by who stops it. */
  isStopped: boolean
  /** Ends the pauses of a run that is stopped. */
  readonly stopped: PromiseWithResolvers<void>
}

/** Runs integrations when they are due: one at a time for each, and their pauses hold up nothing else. */
export class IntegrationRuns implements Job {
  readonly #transactor: Transactor
  readonly #running = new Map<string, Running>()

  constructor(transactor: Transactor) {
    this.#transactor = transactor
  }

  due(): number | null {
    return this.#running.size > 0 ? null : nextRun(this.#transactor.engine.sql)
  }

  run(): void {
    const { engine } = this.#transactor
    for (const id of dueRuns(engine.sql, engine.ports.clock.now())) {
      if (this.#running.has(id)) continue
      const running: Running = {
        begunAt: new Date(engine.ports.clock.now()).toISOString(),
        counts: { created: 0, updated: 0, unchanged: 0, failed: 0 },
        object: null,
        isStopped: false,
        stopped: Promise.withResolvers(),
      }
      this.#running.set(id, running)
      // The run is booked first, so that it is not due again while it runs. After a crash it runs again.
      this.#transactor.commit(SYSTEM, {}, (write) => {
        beginRun(write.sql, id)
      })
      const ended = runIntegration(this.#transactor, id, running).finally(() => this.#running.delete(id))
      engine.scheduler.track(ended)
    }
  }

  /** The run of an integration that is in progress; null if there is none. */
  runOf(id: string): IntegrationRun | null {
    const running = this.#running.get(id)
    return running ? { begunAt: running.begunAt, object: running.object, ...running.counts } : null
  }

  /** Stops a run that is in progress: it ends as failed, and what it wrote stays. False if there is none. */
  stop(grant: Grant, id: string): boolean {
    const { engine } = this.#transactor
    demand(grant, 'write', engine.noun('Integration'))
    demandCoversIntegration(engine, grant, id)
    const running = this.#running.get(id)
    if (!running) return false
    running.isStopped = true
    running.stopped.resolve()
    return true
  }
}

async function runIntegration(transactor: Transactor, id: string, running: Running): Promise<void> {
  const { engine } = transactor
  const { begunAt, counts } = running
  let reason: string | null = null
  try {
    await fetchAll(transactor, id, running)
  } catch (error) {
    reason = error instanceof Problem ? error.message : 'The run failed.'
    if (!(error instanceof Problem))
      engine.options.log?.('error', `An integration of ${engine.slug} failed`, { reason: String(error) })
  }
  transactor.commit(SYSTEM, {}, (write) => {
    const connected = connectedOf(write.sql, id)
    if (!connected) return
    // How far a mailbox was read is noted with each of its messages.
    const isMail = /^(?:imap|smtp)s?:/.test(connected.address)
    endRun(write.sql, id, reason === null && !isMail ? begunAt : null)
    const verb = reason === null ? SYNCED : FAILED
    const data = reason === null ? { ...counts } : { reason, ...counts }
    const serviceFields: JsonObject = reason === null ? { lastSyncedAt: begunAt, error: null } : { error: reason }
    const { entity } = applyVerb(write, {
      type: 'Integration',
      verb: verb.name,
      internalVerb: verb,
      id,
      data,
      serviceFields,
    })
    schedule(write, id, JSON.parse(entity.data) as JsonObject)
  })
}

async function fetchAll(transactor: Transactor, id: string, running: Running): Promise<void> {
  const { engine } = transactor
  const { counts } = running
  const { declaration, grant, token, since } = openConnected(engine, id)
  if ('mail' in declaration) {
    const server = serverOf(declaration.address, token)
    return declaration.mail === 'imap'
      ? fetchMailbox(transactor, { id, server, grant, after: since }, counts)
      : checkSmtp(engine, server)
  }
  const { clock, pause } = engine.ports
  const wait = async (ms: number) => {
    await Promise.race([pause?.(ms), running.stopped.promise])
    demandGoesOn(engine, id, declaration, running)
  }
  const ask = askerOf(engine, declaration, token, { wait, tries: TRIES, longestWait: LONGEST_WAIT })
  for (const [object, mapping] of inOrderOfReferences(declaration)) {
    running.object = object
    const question = { object, mapping, since, now: clock.now(), scope: declaration.scope }
    let slice: Found[] = []
    const flush = () => {
      const found = slice
      slice = []
      if (found.length === 0) return demandGoesOn(engine, id, declaration, running)
      transactor.commit(grant, {}, (write) => {
        demandGoesOn(engine, id, declaration, running)
        for (const one of found) take(write, declaration, object, mapping, one, counts)
      })
    }
    for await (const found of declaration.connector.records(ask, question)) if (slice.push(found) >= SLICE) flush()
    flush()
  }
}

/** Ends a run that was stopped, whose integration was disconnected, or whose service ends. */
function demandGoesOn(engine: Engine, id: string, declaration: ConnectorDeclaration, running: Running): void {
  if (engine.scheduler.isResting) throw new Problem('unavailable', 'The service was stopped. The run begins again.')
  if (running.isStopped) throw new Problem('unavailable', 'The run was stopped.')
  const connected = connectedOf(engine.sql, id)
  if (connected?.address !== declaration.address) throw new Problem('unavailable', 'The Integration was disconnected.')
}

/** The objects of a mapping: what others refer to comes first, so that it exists when they come. */
function inOrderOfReferences({ connector, mapping }: ConnectorDeclaration): [string, ObjectMapping][] {
  const ordered = new Map<string, ObjectMapping>()
  const add = (object: string, path: readonly string[]) => {
    const one = Object.hasOwn(mapping, object) ? mapping[object]! : undefined
    if (!one || ordered.has(object) || path.includes(object)) return
    for (const field of Object.keys(one.fields)) {
      const target = connector.refersTo(object, field)
      if (target !== null) add(target, [...path, object])
    }
    ordered.set(object, one)
  }
  for (const object of Object.keys(mapping)) add(object, [])
  return [...ordered]
}

/** Writes a record by its source. Of a field that was changed here after the record was, the value stays. */
function take(
  write: Write,
  { connector }: ConnectorDeclaration,
  object: string,
  mapping: ObjectMapping,
  found: Found,
  counts: RunCounts,
): void {
  const { engine } = write
  const { type } = mapping
  const source = sourceOf(connector.name, object, found.id)
  const id = idFrom(engine, type, source)
  const current = id === undefined ? undefined : currentOf(engine.sql, type, id)
  const state = withIds(write, stateOf(connector, object, mapping, found, current !== undefined), type)
  try {
    write.attempt(() => {
      if (!current) {
        if (found.deletedAt !== undefined) counts.unchanged++
        else {
          runVerb(write, {
            type,
            verb: 'create',
            data: { ...state, [SOURCE.name]: [source] },
            keepSource: true,
            dropsComputed: true,
          })
          counts.created++
        }
      } else if (current.deleted) counts.unchanged++
      else if (found.deletedAt !== undefined) {
        runVerb(write, { type, verb: 'delete', id: current.id })
        counts.updated++
      } else {
        const patch = newer(write, current, state, found)
        const event =
          Object.keys(patch).length === 0
            ? null
            : runVerb(write, { type, verb: 'update', id: current.id, data: patch, dropsComputed: true }).event
        if (event === null) counts.unchanged++
        else counts.updated++
      }
    })
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    counts.failed++
  }
}

function newer(
  { engine }: Write,
  current: NonNullable<ReturnType<typeof currentOf>>,
  state: JsonObject,
  found: Found,
): JsonObject {
  const own = JSON.parse(current.data) as JsonObject
  const differing = Object.keys(state).filter((field) => !sameJson(own[field] ?? null, state[field]!))
  const changedAt = found.updatedAt === undefined ? null : parseInstant(found.updatedAt)
  const registers = changedAt === null ? null : registersOf(engine, current, differing)
  const wins = (field: string) => registers === null || (registers.get(field)?.at ?? 0) <= changedAt!
  return Object.fromEntries(differing.filter(wins).map((field) => [field, state[field]!]))
}

/** A state with the ids of what it refers to; what does not exist here yet comes with a later run. */
function withIds({ engine }: Write, state: { readonly [field: string]: Json }, type: string): JsonObject {
  const noun = engine.noun(type)
  const entries = Object.entries(state).flatMap(([field, value]): [string, Json][] => {
    const source = sourceIn(value)
    if (source === null) return [[field, value]]
    const relation = noun.fields[field]
    const targets = relation?.kind === 'forward' ? (relation.targets ?? [relation.target]) : []
    const id = targets.flatMap((target) => idFrom(engine, target, source) ?? [])[0]
    return id === undefined ? [] : [[field, id]]
  })
  return Object.fromEntries(entries)
}
