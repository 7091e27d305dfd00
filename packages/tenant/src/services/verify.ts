import type { JsonObject, Noun } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { INTERNAL_TYPES } from '../engine/types.ts'
import { valuesIn } from '../store/field-index.ts'
import { BEGINNING, chain, hasValues, headAfter, isInOrder } from '../store/log/log.ts'
import {
  endOfEntities,
  entityHeads,
  liveFieldIndex,
  liveStates,
  readSealed,
  strayEntities,
  strayVersions,
} from '../store/log/verify.ts'
import { forgetNames } from '../store/names.ts'
import { Erasures } from './erasure/erasures.ts'
import { NewestEvents } from './newest-events.ts'
import { treeFaults } from './proof/check-tree.ts'

/** One thing that is not as it should be; `seq` is the event where it shows. */
interface Fault {
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
/** The entities whose index is compared at once. */
const PART = 20_000
const MOST_FAULTS = 100

/** Goes through the whole tenant: the file, the chain of the log, and everything that is made from it. */
export function verify(engine: Engine, tell: (done: number, of: number) => void): Verdict {
  const faults: Fault[] = (engine.sql.faults?.() ?? []).map((message) => ({
    seq: null,
    message: `The file: ${message}`,
  }))
  forgetNames(engine.sql)
  const { events, hash, newest } = walkChain(engine, faults, tell)
  faults.push(...treeFaults(engine))
  for (const { id, seq } of strayEntities(engine.sql))
    faults.push({ seq, message: `The state of ${id} differs from its event.` })
  checkHeads(engine, newest, faults)
  for (const seq of strayVersions(engine.sql))
    faults.push({ seq, message: 'An interval of the past does not match its events.' })
  for (const noun of [...engine.nouns.all, ...INTERNAL_TYPES.all]) checkFacts(engine, noun, faults)
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
      if (!same(hash, row.hash)) tell('Its header or its values do not match the hash chain.')
      before = row.hash
      head = headAfter(head, row, row.hash)
      events = row.seq
    }
    told(events, engine.head.seq)
  }
  for (const [id, seq] of erasures.unrecorded())
    faults.push({ seq, message: `The values of ${id} are missing, and no Erasure records that.` })
  return { events, hash: hex(before), newest }
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
  const end = endOfEntities(engine.sql)
  for (const field of engine.indexed(noun)) {
    let missing = 0
    let tooMany = 0
    // A part at a time, so that the memory does not grow with the tenant. No entity has a number below 0.
    for (let from = 0; from < end; from += PART) {
      const rows = liveFieldIndex(engine.sql, field.number, from, from + PART)
      const found = new Set(rows.map(([n, value]) => `${n} ${typeof value} ${value}`))
      for (const [n, data] of liveStates(engine.sql, noun.name, from, from + PART))
        for (const value of valuesIn(field, JSON.parse(data) as JsonObject))
          if (!found.delete(`${n} ${typeof value} ${value}`)) missing++
      tooMany += found.size
    }
    if (missing + tooMany === 0) continue
    const message = `The index on ${noun.name}.${field.name} misses ${missing} rows and has ${tooMany} unexpected rows.`
    faults.push({ seq: null, message })
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
