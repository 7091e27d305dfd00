import type { JsonObject, Noun } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { INTERNAL_TYPES } from '../engine/types.ts'
import { valuesIn } from '../store/field-index.ts'
import { BEGINNING, chain, hasValues, headAfter, isInOrder } from '../store/log/log.ts'
import {
  endOfEntities,
  entityHeads,
  IndexLookup,
  liveStates,
  readSealed,
  strayEntities,
  strayVersions,
} from '../store/log/verify.ts'
import { forgetNames } from '../store/names.ts'
import { hexOf } from '../store/non-log-tables.ts'
import { Erasures } from './erasure/erasures.ts'
import { NewestEvents } from './newest-events.ts'
import { treeFaults } from './proof/check-tree.ts'

/** One thing that is not as it should be; `seq` is the event where it shows. */
export interface Fault {
  readonly seq: number | null
  readonly message: string
}

/** Whether a tenant's data is whole. */
export interface Verdict {
  readonly ok: boolean
  readonly events: number
  readonly head: { readonly seq: number; readonly hash: string }
  /** The first event that does not fit the chain. */
  readonly firstBad: number | null
  readonly faults: readonly Fault[]
}

const CHUNK = 1_000
/** The entities that are read at once. */
const PART = 20_000
const MOST_FAULTS = 100

/** Goes through the whole tenant: the file, the chain of the log, and everything that is made from it. */
export function verify(engine: Engine, tell: (done: number, of: number) => void): Verdict {
  const faults = fileFaults(engine)
  const { events, hash, newest } = walkChain(engine, faults, tell)
  faults.push(...treeFaults(engine))
  checkHeads(engine, newest, faults)
  faults.push(...derivedFaults(engine))
  return verdictOf(events, hash, faults)
}

function verdictOf(events: number, hash: string, faults: readonly Fault[]): Verdict {
  return {
    ok: faults.length === 0,
    events,
    head: { seq: events, hash },
    firstBad: faults.reduce<number | null>(
      (first, { seq }) => (seq !== null && (first === null || seq < first) ? seq : first),
      null,
    ),
    faults: faults.slice(0, MOST_FAULTS),
  }
}

function fileFaults({ sql }: Engine): Fault[] {
  const messages = sql.faults?.() ?? []
  forgetNames(sql)
  return messages.map((message) => ({ seq: null, message: `The file: ${message}` }))
}

/** What is made from the log and differs from it: entities, the past, and the index over fields. */
export function derivedFaults(engine: Engine): Fault[] {
  const faults: Fault[] = []
  for (const { id, seq } of strayEntities(engine.sql))
    faults.push({ seq, message: `The state of ${id} differs from its event.` })
  for (const seq of strayVersions(engine.sql))
    faults.push({ seq, message: 'An interval of the past does not match its events.' })
  for (const noun of [...engine.nouns.all, ...INTERNAL_TYPES.all]) checkFacts(engine, noun, faults)
  return faults
}

/** Recomputes every seal of the log. An erased event has no values left to test; its place in the chain is tested all the same. */
function walkChain(
  engine: Engine,
  faults: Fault[],
  told: (done: number, of: number) => void,
): { events: number; hash: string; newest: NewestEvents } {
  const { seal } = engine.ports
  let before: Uint8Array = new Uint8Array(32)
  let events = 0
  let head = BEGINNING
  const newest = new NewestEvents()
  const erasures = new Erasures()
  const read = () => readSealed(engine.sql, seal, events, CHUNK)
  for (let rows = read(); rows.length > 0; rows = read()) {
    for (const row of rows) {
      const tell = (message: string) => faults.length < MOST_FAULTS && faults.push({ seq: row.seq, message })
      if (row.seq !== events + 1) tell(`Event ${events + 1} is missing.`)
      if (!isInOrder(head, row)) tell('Its time is before that of the previous event.')
      if (row.type !== 'Event' && !newest.add(row)) tell(`${row.entity} skips a version.`)
      if (row.salt === null && hasValues(row)) tell('It has values without a salt.')
      erasures.add(row)
      const hash = chain(seal, before, row.seq, row, row.digest)
      if (!seal.equal(hash, row.hash)) tell('Its header or its values do not match the hash chain.')
      before = row.hash
      head = headAfter(head, row, row.hash)
      events = row.seq
    }
    told(events, engine.head.seq)
  }
  for (const [id, seq] of erasures.unrecorded())
    faults.push({ seq, message: `The values of ${id} are missing, and no Erasure records that.` })
  return { events, hash: hexOf(before), newest }
}

/** No entity is missing, and none is older than the newest event of its own. */
function checkHeads(engine: Engine, newest: NewestEvents, faults: Fault[]): void {
  const end = endOfEntities(engine.sql)
  const older = (id: string, seq: number) => faults.push({ seq, message: `The state of ${id} is older than the log.` })
  for (let from = 0; from < end; from += PART) {
    for (const [id, seq] of entityHeads(engine.sql, from, from + PART)) {
      const last = newest.take(id)
      if (last !== null && last !== seq) older(id, last)
    }
  }
  for (const [id, seq] of newest.left()) older(id, seq)
}

/** The index over fields must hold the values of the present, no more and no less. */
function checkFacts(engine: Engine, noun: Noun, faults: Fault[]): void {
  const { sql } = engine
  const checks = engine.indexed(noun).map((field) => ({ field, rows: new IndexLookup(sql, field.number) }))
  const end = endOfEntities(sql)
  // A part at a time, so that the memory does not grow with the tenant. No entity has a number below 0.
  for (let from = 0; from < end && checks.length > 0; from += PART) {
    for (const [n, data] of liveStates(sql, noun.name, from, from + PART)) {
      const state = JSON.parse(data) as JsonObject
      for (const { field, rows } of checks) for (const value of valuesIn(field, state)) rows.add(value, n)
    }
  }
  for (const { field, rows } of checks) {
    const { missing, unexpected } = rows.compare()
    if (missing + unexpected === 0) continue
    const message = `The index on ${noun.name}.${field.name} misses ${missing} rows and has ${unexpected} unexpected rows.`
    faults.push({ seq: null, message })
  }
}
