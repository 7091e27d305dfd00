import { isPlainObject, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { filterOf } from '../../query/filter.ts'
import { find } from '../../query/find.ts'
import { readContextOf } from '../../query/parameters.ts'
import { runVerb } from '../run-verb.ts'
import { DryRunRows } from './dry-run-rows.ts'
import { importReferences, refersAhead, type WaitingRow } from './forward-references.ts'

/** A row to import: a value, or why there is none. */
export type ImportRow = { readonly row: number; readonly line?: number; readonly size: number } & (
  | { readonly value: unknown }
  | { readonly error: string }
)

export interface ImportOptions {
  /** A unique field, or `$id`: a row that names an entity by it updates that one. */
  readonly upsert: string | null
  /** Tells what would happen, and writes nothing. */
  readonly dryRun: boolean
  readonly correlation: string | null
}

export interface ImportDetail {
  readonly row: number
  readonly error: string
  readonly line?: number
}

/** What became of some rows. */
export interface ImportCounts {
  imported: number
  updated: number
  readonly details: ImportDetail[]
}

/** Rows that wait for another row of the file are few, or are refused. */
const MOST_WAITING = 10_000
const WAITING_LENGTH = 32 * 1_048_576

/** Imports rows slice by slice: each row a create with its event, or an update. A bad row is told, the others stay. */
export class Importer {
  readonly #tenant: Engine
  readonly #grant: Grant
  readonly #noun: Noun
  readonly #options: ImportOptions
  readonly #rehearsed: DryRunRows | null
  #waiting: WaitingRow[] = []
  #waitingLength = 0

  constructor(tenant: Engine, grant: Grant, noun: Noun, options: ImportOptions) {
    refuseType(noun)
    refuseKey(noun, options.upsert)
    this.#tenant = tenant
    this.#grant = grant
    this.#noun = noun
    this.#options = options
    this.#rehearsed = options.dryRun ? new DryRunRows(noun) : null
  }

  /** Imports a slice. Call inside a commit; count the tally once it is durable. */
  take(rows: readonly ImportRow[]): ImportCounts {
    return this.#run(() => {
      const tally = emptyTally()
      for (const row of rows) {
        if ('error' in row) tally.details.push(detailOf(row, `The row ${row.error}.`))
        else this.#attempt(row, tally)
      }
      if (this.#waiting.length > MOST_WAITING || this.#waitingLength > WAITING_LENGTH) this.#settle(tally)
      return tally
    })
  }

  /** Imports the rows that name others which came later, or name each other. */
  finish(): ImportCounts {
    return this.#run(() => {
      const tally = emptyTally()
      this.#settle(tally)
      return tally
    })
  }

  #run(work: () => ImportCounts): ImportCounts {
    this.#goBackWith()
    return this.#rehearsed ? this.#tenant.dryRun(work).result : work()
  }

  /** A slice that is undone may be run again: from where it began. */
  #goBackWith(): void {
    const forget = this.#rehearsed?.begin()
    const waiting = this.#waiting
    const count = waiting.length
    const length = this.#waitingLength
    this.#tenant.onRollback(() => {
      forget?.()
      waiting.length = count
      this.#waiting = waiting
      this.#waitingLength = length
    })
  }

  #attempt(row: ImportRow & { value: unknown }, tally: ImportCounts): void {
    try {
      this.#write(row.value, tally)
    } catch (reason) {
      if (!(reason instanceof Problem)) throw reason
      if (refersAhead(this.#noun, reason)) this.#wait(row, row.value as JsonObject)
      else tally.details.push(detailOf(row, reason.message))
    }
  }

  #wait(row: ImportRow, value: JsonObject): void {
    this.#waiting.push({ row, value })
    this.#waitingLength += row.size
  }

  #settle(tally: ImportCounts): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingLength = 0
    const refused = importReferences(this.#tenant, this.#noun, waiting, (value, coming) =>
      this.#write(value, null, coming),
    )
    tally.imported += waiting.length - refused.length
    for (const { row, error } of refused) tally.details.push(detailOf(row, error))
  }

  #write(value: unknown, tally: ImportCounts | null, coming?: ReadonlySet<string>): void {
    if (!isPlainObject(value)) throw new Problem('invalid_body', 'A row must be a JSON object.')
    this.#rehearsed?.refuseRepeated(value, this.#options.upsert)
    const { correlation } = this.#options
    const id = this.#known(value)
    const type = this.#noun.name
    const ahead = coming ?? this.#rehearsed?.ids
    const { entity, event } =
      id === null
        ? runVerb(this.#tenant, this.#grant, {
            type,
            verb: 'create',
            data: value,
            keepId: true,
            correlation,
            pendingIds: ahead,
          })
        : runVerb(this.#tenant, this.#grant, { type, verb: 'update', id, data: value, correlation, pendingIds: ahead })
    this.#rehearsed?.keep(entity)
    if (!tally) return
    tally.imported++
    if (id !== null && event !== null) tally.updated++
  }

  /** The entity that the row is about, when it may be one that is there. */
  #known(value: { readonly [field: string]: unknown }): string | null {
    const { upsert } = this.#options
    const key = upsert === null ? undefined : value[upsert]
    if (upsert === null || key === undefined || key === null) return null
    const filter = filterOf(this.#tenant, this.#noun, { [upsert]: { $eq: key } })
    const reader = readContextOf(this.#tenant, this.#grant)
    return find(reader, { type: this.#noun.name, filter, limit: 1, total: false }).results[0]?.id ?? null
  }
}

function emptyTally(): ImportCounts {
  return { imported: 0, updated: 0, details: [] }
}

function detailOf({ row, line }: ImportRow, error: string): ImportDetail {
  return { row, error, ...(line !== undefined && { line }) }
}

/** Keys and webhooks have secrets that are given out once, so they are made one by one. */
function refuseType({ name, path }: Noun): void {
  if (name !== 'ApiKey' && name !== 'Webhook') return
  throw new Problem('forbidden', `${name} cannot be imported: its secret is shown once. POST each to /${path}.`, {
    type: name,
  })
}

function refuseKey(noun: Noun, upsert: string | null): void {
  if (upsert === null || upsert === '$id') return
  const field = Object.hasOwn(noun.fields, upsert) ? noun.fields[upsert] : undefined
  if (field && 'index' in field && field.index === 'unique') return
  const unique = Object.values(noun.fields).filter((one) => 'index' in one && one.index === 'unique')
  const names = ['$id', ...unique.map(({ name }) => name)]
  throw new Problem('invalid_parameter', `upsert is a unique field of ${noun.name}: ${names.join(' or ')}.`, {
    type: noun.name,
    field: 'upsert',
    supported: names,
  })
}
