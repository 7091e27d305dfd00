import { type Json, type JsonObject, Problem, parseInstant, SOURCE, sameJson, type Verb } from '@tildebase/nouns'
import { act } from '../../authorship/stored.ts'
import { patient } from '../../connect/ask.ts'
import { sourceIn, stateOf } from '../../connect/changes.ts'
import { type Found, type ObjectMapping, sourceOf } from '../../connect/connector.ts'
import type { Job } from '../../engine/scheduler.ts'
import { grantFor } from '../../grant/grant.ts'
import { beginRun, connectedOf, dueRuns, endRun, nextRun } from '../../store/automation/integrations.ts'
import { currentOf } from '../../store/entities.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { runVerb } from '../../write/run-verb.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { idFrom } from '../bulk/history-row.ts'
import { serverOf } from '../mail/transport.ts'
import { registersOf } from '../sync/register.ts'
import { authoredIntegration, type ConnectorDeclaration } from './author.ts'
import { checkSmtp, fetchMailbox } from './mailbox.ts'
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
const REQUEST_MS = 30_000
const ANSWER_LIMIT = 16_777_216
/** Records of one commit. */
const SLICE = 25
/** A run ends when the provider asks for a longer pause. */
const LONGEST_WAIT = 120_000
const TRIES = 5

/** Runs integrations when they are due: one at a time for each, and their pauses hold up nothing else. */
export function integrationJob(transactor: Transactor): Job {
  const { engine } = transactor
  const running = new Set<string>()
  return {
    due() {
      const at = nextRun(engine.sql)
      return running.size > 0 ? null : at
    },
    run() {
      for (const id of dueRuns(engine.sql, engine.ports.clock.now())) {
        if (running.has(id)) continue
        running.add(id)
        // The run is booked first, so that it is not due again while it runs. After a crash it runs again.
        transactor.commit(SYSTEM, {}, (write) => {
          beginRun(write.sql, id)
        })
        engine.scheduler.track(runIntegration(transactor, id).finally(() => running.delete(id)))
      }
    },
  }
}

async function runIntegration(transactor: Transactor, id: string): Promise<void> {
  const { engine } = transactor
  const begun = new Date(engine.ports.clock.now()).toISOString()
  const counts: RunCounts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
  let reason: string | null = null
  try {
    await fetchAll(transactor, id, counts)
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
    endRun(write.sql, id, reason === null && !isMail ? begun : null)
    const verb = reason === null ? SYNCED : FAILED
    const data = reason === null ? { ...counts } : { reason, ...counts }
    const serviceFields: JsonObject = reason === null ? { lastSyncedAt: begun, error: null } : { error: reason }
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

async function fetchAll(transactor: Transactor, id: string, counts: RunCounts): Promise<void> {
  const { engine } = transactor
  const stored = authoredIntegration(engine, id)
  const connected = connectedOf(engine.sql, id)
  if (!stored || !connected) throw new Problem('invalid_transition', 'This Integration must be connected again.')
  const { declaration, grant } = act(stored)
  if (connected.address !== declaration.address)
    throw new Problem('invalid_transition', 'Its address has changed. Connect it again.')
  const token = engine.ports.vault.decrypt(connected.credentials)
  if (token === null) throw new Problem('unavailable', 'The credentials cannot be decrypted. Connect it again.')
  if ('mail' in declaration) {
    const server = serverOf(declaration.address, token)
    return declaration.mail === 'imap'
      ? fetchMailbox(transactor, { id, server, grant, after: connected.since }, counts)
      : checkSmtp(engine, server)
  }
  const { clock, outbound, pause } = engine.ports
  if (!outbound) throw new Problem('not_supported', 'This service sends no requests.')
  const ask = patient({
    send: async (path) => {
      const url = `${declaration.address}${path}`
      const headers = declaration.connector.headers(token)
      const answer = await outbound.send({
        method: 'GET',
        url,
        headers,
        body: '',
        timeoutMs: REQUEST_MS,
        answerLimit: ANSWER_LIMIT,
      })
      return 'error' in answer
        ? answer
        : { status: answer.status, text: answer.text ?? '', headers: answer.headers ?? {} }
    },
    wait: async (ms) => pause?.(ms),
    now: () => clock.now(),
    tries: TRIES,
    longestWait: LONGEST_WAIT,
  })
  for (const [object, mapping] of Object.entries(declaration.mapping)) {
    const question = { object, mapping, since: connected.since, now: clock.now(), scope: declaration.scope }
    let slice: Found[] = []
    const flush = () => {
      const found = slice
      slice = []
      if (found.length > 0)
        transactor.commit(grant, {}, (write) => takeAll(write, declaration, object, mapping, found, counts))
    }
    for await (const found of declaration.connector.records(ask, question)) {
      if (engine.scheduler.isResting) throw new Problem('unavailable', 'The service was stopped. The run begins again.')
      if (slice.push(found) >= SLICE) flush()
    }
    flush()
  }
}

function takeAll(
  write: Write,
  declaration: ConnectorDeclaration,
  object: string,
  mapping: ObjectMapping,
  all: readonly Found[],
  counts: RunCounts,
): void {
  for (const found of all) take(write, declaration, object, mapping, found, counts)
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
  const state = withIds(write, stateOf(connector, object, mapping, found), type)
  const id = idFrom(engine, type, source)
  const current = id === undefined ? undefined : currentOf(engine.sql, type, id)
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
