import { EVERYTHING, type Filter, type JsonObject, type Noun, type Nouns, parseFilter } from '@tildebase/nouns'
import type { Sql, SqlValue } from '@tildebase/tenant/ports'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'
import { Budget } from '../../packages/tenant/src/budget.ts'
import type { ReadContext } from '../../packages/tenant/src/query/reader.ts'
import { regexFault } from '../../packages/tenant/src/query/words/regex.ts'
import { LAYOUT, NULL_KEY, OPEN } from '../../packages/tenant/src/store/layout.ts'
import { indexVersions } from '../../packages/tenant/src/store/log/versions.ts'

interface State {
  n: number
  seq: number
  version: number
  createdAt: number
  data: JsonObject | null
}

/** The tables of the first: properties need thousands, and laying one out takes several times as long as copying it. */
let laidOut: Uint8Array | undefined

/** A tenant's tables filled by hand from documents, apart from the code that fills them in earnest. */
export class Ledger {
  readonly sql: Sql
  readonly nouns: Nouns
  readonly #fields = new Map<string, number>()
  readonly #states = new Map<string, State>()
  seq = 0
  now = Date.UTC(2026, 0, 1)

  constructor(nouns: Nouns, options: { readonly limits?: boolean } = { limits: true }) {
    const sql = openSql(':memory:', { ...options, content: laidOut })
    this.sql = sql
    this.nouns = nouns
    if (laidOut === undefined) {
      for (const statement of LAYOUT) sql.run(statement)
      laidOut = sql.content()
    }
    for (const noun of nouns.all) for (const name of indexed(noun)) this.#number(noun.name, name)
  }

  /** The context of a read; counts statements in `asked` if given. */
  reader(more: Partial<ReadContext> = {}): ReadContext {
    return {
      sql: this.sql,
      nouns: this.nouns,
      foldPast: () => void indexVersions(this.sql),
      fieldNumber: (type, name) => this.#fields.get(`${type}.${name}`) ?? null,
      now: this.now,
      budget: budgetOf(60_000),
      context: 'http://localhost/~acme',
      ...more,
    }
  }

  /** The database, and the texts of the statements that are asked of it from now on. */
  watched(): { readonly sql: Sql; readonly texts: string[] } {
    const texts: string[] = []
    const { sql } = this
    const rows: Sql['rows'] = (text, ...values) => {
      texts.push(text)
      return sql.rows(text, ...values)
    }
    return {
      texts,
      sql: {
        rows,
        run: sql.run.bind(sql),
        transaction: sql.transaction.bind(sql),
        within: (_, work) => work(),
        tick: sql.tick,
      },
    }
  }

  filter(type: string, json: unknown): Filter {
    return json === undefined
      ? EVERYTHING
      : parseFilter(json, this.nouns.get(type)!, this.nouns, this.now, { regex: regexFault })
  }

  /** Writes the next state of an entity: null deletes it. The time passes by a millisecond. */
  put(type: string, id: string, data: JsonObject | null, verb = data === null ? 'delete' : 'update'): void {
    const seq = ++this.seq
    this.now += 1
    const at = this.now
    const before = this.#states.get(id)
    const state: State = before
      ? { ...before, seq, version: before.version + 1, data }
      : { n: seq, seq, version: 1, createdAt: at, data }
    const text = JSON.stringify(data ?? before?.data ?? {})
    const event = before ? `${verb.replace(/e$/, '')}ed` : 'created'
    this.sql.run(
      `INSERT INTO log (seq, id, at, type, n, verb, event, version, actor, data, replaced, hash)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'')`,
      ...[seq, type === 'Event' ? id : `event_${seq}`, at, this.#name(type), type === 'Event' ? null : state.n],
      ...[this.#name(before ? verb : 'create'), this.#name(event), state.version, this.#name('apiKey_1')],
      ...[text, before?.data ? before.seq : null],
    )
    if (type === 'Event') return
    this.#states.set(id, state)
    this.sql.run(
      `INSERT OR REPLACE INTO entities (n, id, type, gone, seq, created_at, created_by)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[state.n, id, this.#name(type), data === null ? 1 : 0, seq, state.createdAt, this.#name('apiKey_1')],
    )
    for (const name of indexed(this.nouns.get(type)!)) this.#move(type, name, state.n, seq, before?.data ?? null, data)
  }

  #name(name: string): number {
    this.sql.run('INSERT OR IGNORE INTO names (name) VALUES (?)', name)
    return this.sql.rows('SELECT n FROM names WHERE name = ?', name)[0]![0]
  }

  #move(type: string, name: string, n: number, seq: number, before: JsonObject | null, after: JsonObject | null): void {
    const field = this.#number(type, name)
    const nulls = this.nouns.get(type)!.fields[name]!.kind !== 'forward'
    const olds = before ? factValues(before[name], nulls) : []
    const news = after ? factValues(after[name], nulls) : []
    for (const value of olds.filter((one) => !news.includes(one))) {
      this.sql.run(
        'UPDATE field_index SET until = ? WHERE field = ? AND value = ? AND until = ? AND n = ?',
        seq,
        field,
        value,
        OPEN,
        n,
      )
    }
    for (const value of news.filter((one) => !olds.includes(one))) {
      this.sql.run(
        'INSERT INTO field_index (field, value, until, n, since) VALUES (?, ?, ?, ?, ?)',
        field,
        value,
        OPEN,
        n,
        seq,
      )
    }
  }

  #number(type: string, name: string): number {
    const key = `${type}.${name}`
    if (!this.#fields.has(key)) this.#fields.set(key, this.#fields.size + 1)
    return this.#fields.get(key)!
  }
}

/** A budget of so many milliseconds, and of as many rows and bytes as there are. */
export function budgetOf(ms: number, timer: () => number = () => performance.now()): Budget {
  const most = Number.POSITIVE_INFINITY
  return new Budget({ ms, rows: most, bytes: most }, timer)
}

function indexed(noun: Noun): string[] {
  return Object.values(noun.fields)
    .filter((field) => field.kind === 'forward' || ('index' in field && field.index !== 'none'))
    .map((field) => field.name)
}

function factValues(value: unknown, nulls: boolean): SqlValue[] {
  if (Array.isArray(value)) return [...new Set(value as string[])]
  if (typeof value === 'boolean') return [value ? 1 : 0]
  if (typeof value === 'string' || typeof value === 'number') return [value]
  return nulls ? [NULL_KEY] : []
}
