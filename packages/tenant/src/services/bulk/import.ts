import { isPlainObject, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { Budget } from '../../budget.ts'
import { TURN, toEnd } from '../../engine/turns.ts'
import { find } from '../../query/answer/find.ts'
import { filterOf } from '../../query/parameters/filter.ts'
import { bodyNames, searchBudget, type UnknownField, unknownField } from '../../query/parameters/unknown-names.ts'
import { readContextOf } from '../../query/read-context.ts'
import { exists } from '../../store/entities.ts'
import { runVerb } from '../../write/run-verb.ts'
import { computingOnce } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { DryRunRows } from './dry-run-rows.ts'
import { ForwardReferences, refersAhead, type WaitingRow } from './forward-references.ts'
import type { ImportRow } from './import-row.ts'

/** Refusals that hold for all rows to come: they end the import. */
const ENDS: ReadonlySet<string> = new Set(['over_budget', 'over_quota'])

export interface ImportOptions {
  /** A unique field, or `$id`: a row that names an entity by it updates that one. */
  readonly upsert: string | null
  /** Reports what would happen, and writes nothing. */
  readonly dryRun: boolean
  /** Refuses rows with names that are neither declared nor stored, which are reported otherwise. */
  readonly strict?: boolean
  /** More rows of the file come in other requests: rows that refer to them are returned, not refused. */
  readonly more?: boolean
}

export interface ImportDetail {
  readonly row: number
  readonly error: string
  readonly line?: number
  /** The time of the newest event, for a row of the past that is not in order. */
  readonly head?: string
}

/** Writes rows slice by slice. */
export interface RowImporter {
  take(write: Write, rows: readonly ImportRow[]): ImportCounts
  /** Imports rows that waited for others; null if none is left. */
  settle(write: Write): ImportCounts | null
  readonly isFull: boolean
  readonly waiting: readonly number[]
}

/** What became of some rows. */
export interface ImportCounts {
  imported: number
  updated: number
  /** Rows of a past that the log has already. */
  repeated?: number
  readonly details: ImportDetail[]
  /** Rows that refer to others which have not come, and were not imported. */
  readonly waiting: number[]
  /** Names of these rows that are neither declared nor stored. */
  readonly warnings: UnknownField[]
}

/** Rows that wait for another row of the file are few, or are refused. */
const MOST_WAITING = 10_000
/** Names beyond these are not looked at. */
const MOST_NAMES = 1_000
const WAITING_LENGTH = 32 * 1_048_576

/** Imports rows slice by slice: each row a create with its event, or an update. A bad row is reported, the others stay. */
export class Importer implements RowImporter {
  readonly #noun: Noun
  readonly #options: ImportOptions
  readonly #dryRunRows: DryRunRows | null
  /** Names of rows that were looked at, and what is unknown of them. */
  readonly #names = new Map<string, UnknownField | null>()
  #waiting: WaitingRow[] = []
  #waitingLength = 0
  /** How many rows were returned because others must come first. */
  #returned = 0
  /** Rows that waited, while they are imported. */
  #settling: ForwardReferences | null = null

  constructor(noun: Noun, options: ImportOptions) {
    refuseType(noun)
    refuseKey(noun, options.upsert)
    this.#noun = noun
    this.#options = options
    this.#dryRunRows = options.dryRun ? new DryRunRows(noun) : null
  }

  /** Imports a slice. Count what it returns once the write is durable. */
  take(write: Write, rows: readonly ImportRow[]): ImportCounts {
    return this.#run(write, (write) => {
      const counts = noCounts()
      const search = searchBudget(write.context.budget.cpu)
      for (const row of rows) {
        if ('error' in row) counts.details.push(detailOf(row, `The row ${row.error}.`))
        else {
          this.#look(write, row.value, counts, search)
          this.#attempt(write, row, counts)
        }
      }
      return counts
    })
  }

  /** Imports rows that refer to others which came later, or to each other, for some milliseconds; null if none is left. */
  settle(write: Write): ImportCounts | null {
    if (this.#waiting.length === 0 && this.#settling === null) return null
    const { timer } = write.context.budget
    const end = timer() + TURN.bulk
    return this.#run(write, (write) => {
      const counts = noCounts()
      const settling = this.#settling ?? this.#beginSettling(write, counts)
      this.#settling = settling
      while (!settling.isDone && timer() < end) this.#settleNext(write, settling, counts)
      if (settling.isDone) this.#settling = null
      return counts
    })
  }

  #settleNext(write: Write, settling: ForwardReferences, counts: ImportCounts): void {
    const ids = this.#dryRunRows?.ids
    const { imported, updated } = counts
    const refused = settling.next(write, (value, pending) => {
      this.#write(write, value, counts, ids ? new Set([...ids, ...pending]) : pending)
    })
    if (refused.length === 0) return
    Object.assign(counts, { imported, updated })
    for (const { row, error } of refused) counts.details.push(detailOf(row, error))
  }

  #run(write: Write, work: (write: Write) => ImportCounts): ImportCounts {
    this.#restoreOnRollback(write)
    const run = () => toEnd(computingOnce(write, work))
    return this.#dryRunRows ? write.transaction.dryRun(run).result : run()
  }

  /** A slice that is undone may be run again: from where it began. */
  #restoreOnRollback(write: Write): void {
    const forget = this.#dryRunRows?.begin()
    const waiting = this.#waiting
    const count = waiting.length
    const length = this.#waitingLength
    const returned = this.#returned
    const names = new Set(this.#names.keys())
    const settling = this.#settling
    const done = settling?.done ?? 0
    write.onRollback(() => {
      forget?.()
      this.#settling = settling
      if (settling) settling.done = done
      for (const name of this.#names.keys()) if (!names.has(name)) this.#names.delete(name)
      waiting.length = count
      this.#waiting = waiting
      this.#waitingLength = length
      this.#returned = returned
    })
  }

  #attempt(write: Write, row: ImportRow & { value: unknown }, counts: ImportCounts): void {
    try {
      write.attempt(() => this.#write(write, row.value, counts))
    } catch (reason) {
      if (!(reason instanceof Problem) || ENDS.has(reason.code)) throw reason
      if (refersAhead(this.#noun, reason)) this.#wait(row, row.value as JsonObject)
      else counts.details.push(detailOf(row, reason.message))
    }
  }

  /** Looks at the names of a row that are new in this import, before it is written: what it writes is known then. */
  #look({ engine, grant }: Write, value: unknown, counts: ImportCounts, search: Budget): void {
    for (const name of bodyNames(this.#noun, undefined, value)) {
      if (this.#names.size >= MOST_NAMES || search.msLeft <= 0) return
      if (this.#names.has(name)) continue
      const unknown = unknownField(engine, grant, this.#noun, name, { budget: search })
      this.#names.set(name, unknown)
      if (unknown) counts.warnings.push(unknown)
    }
  }

  #refuseUnknown(value: object): void {
    const unknown = Object.keys(value).flatMap((name) => this.#names.get(name) ?? [])
    if (unknown.length === 0) return
    const list = unknown.map(({ field, nearest }) => `${field}${nearest === null ? '' : ` (did you mean ${nearest}?)`}`)
    throw new Problem('validation_error', `With strict, only known fields are allowed; unknown: ${list.join(', ')}.`, {
      type: this.#noun.name,
      field: unknown[0]!.field,
    })
  }

  #wait(row: ImportRow, value: JsonObject): void {
    this.#waiting.push({ row, value })
    this.#waitingLength += row.size
  }

  /** Rows that were taken, and are neither imported nor refused yet. */
  get waiting(): readonly number[] {
    return [...(this.#settling?.left ?? []), ...this.#waiting].map(({ row }) => row.row)
  }

  /** Whether rows that wait for others must be imported before more are taken. */
  get isFull(): boolean {
    return this.#waiting.length > MOST_WAITING || this.#waitingLength > WAITING_LENGTH
  }

  #beginSettling({ sql }: Write, counts: ImportCounts): ForwardReferences {
    const ids = this.#dryRunRows?.ids
    const isThere = (id: string) => ids?.has(id) === true || exists(sql, this.#noun.name, id)
    const settling = new ForwardReferences(this.#noun, this.#waiting, isThere)
    for (const { row, error } of settling.lost) {
      if (this.#options.more && this.#returned++ < MOST_WAITING) counts.waiting.push(row.row)
      else counts.details.push(detailOf(row, error))
    }
    this.#waiting = []
    this.#waitingLength = 0
    return settling
  }

  #write(write: Write, value: unknown, counts: ImportCounts | null, pending?: ReadonlySet<string>): void {
    if (!isPlainObject(value)) throw new Problem('invalid_body', 'A row must be a JSON object.')
    if (this.#options.strict) this.#refuseUnknown(value)
    this.#dryRunRows?.refuseRepeated(value, this.#options.upsert)
    const id = this.#known(write, value)
    const type = this.#noun.name
    const pendingIds = pending ?? this.#dryRunRows?.ids
    const { entity, event } =
      id === null
        ? runVerb(write, {
            type,
            verb: 'create',
            data: value,
            keepId: true,
            keepSource: true,
            dropsComputed: true,
            pendingIds,
          })
        : runVerb(write, { type, verb: 'update', id, data: value, dropsComputed: true, pendingIds })
    this.#dryRunRows?.keep(entity)
    if (!counts) return
    counts.imported++
    if (id !== null && event !== null) counts.updated++
  }

  /** The entity that the row is about, when it may be an existing one. */
  #known({ engine, grant }: Write, value: { readonly [field: string]: unknown }): string | null {
    const { upsert } = this.#options
    const key = upsert === null ? undefined : value[upsert]
    if (upsert === null || key === undefined || key === null) return null
    const filter = filterOf(engine, this.#noun, { [upsert]: { $eq: key } })
    const query = { type: this.#noun.name, filter, limit: 1, total: false }
    return find(readContextOf(engine, grant), query).results[0]?.id ?? null
  }
}

function noCounts(): ImportCounts {
  return { imported: 0, updated: 0, details: [], waiting: [], warnings: [] }
}

function detailOf({ row, line }: ImportRow, error: string): ImportDetail {
  return { row, error, ...(line !== undefined && { line }) }
}

/** Keys and webhooks have secrets that are given out once, so they are made one by one. */
function refuseType({ name, path }: Noun): void {
  if (name === 'Changeset') {
    throw new Problem('forbidden', 'A Changeset cannot be imported. Propose writes with ?propose=<title>.', {
      type: name,
    })
  }
  if (name !== 'ApiKey' && name !== 'Webhook') return
  throw new Problem(
    'forbidden',
    `${name} cannot be imported, because its secret is shown only once. POST each to /${path}.`,
    {
      type: name,
    },
  )
}

function refuseKey(noun: Noun, upsert: string | null): void {
  if (upsert === null || upsert === '$id') return
  const field = Object.hasOwn(noun.fields, upsert) ? noun.fields[upsert] : undefined
  if (field && 'index' in field && field.index === 'unique') return
  const unique = Object.values(noun.fields).filter((one) => 'index' in one && one.index === 'unique')
  const names = ['$id', ...unique.map(({ name }) => name)]
  throw new Problem('invalid_parameter', `upsert must be a unique field of ${noun.name}: ${names.join(' or ')}.`, {
    type: noun.name,
    field: 'upsert',
    supported: names,
  })
}
