import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { Sql } from '../ports.ts'

/**
 * Names that statements and partial indexes mention have the same number in every file: their place in this list,
 * counted from 1. New ones are only ever added at its end, with a migration that frees their number.
 */
const FIXED = ['Event', 'Deal', 'Subscription', 'Ticket', 'Lead', 'delete', 'conflict', 'restore', 'create'] as const

type FixedName = (typeof FIXED)[number]

/** The first number that a tenant gives to a name of its own. */
const FIRST_OWN = 32

/** Names of types, verbs, events and actors: they repeat in every row, so rows hold their numbers. */
export const NAMES: readonly string[] = [
  'CREATE TABLE names (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)',
  `INSERT INTO names (n, name) VALUES ${FIXED.map((name, i) => `(${i + 1}, '${name}')`).join(', ')}`,
]

/** The number of a name that is the same in every file. */
export function fixedNumber(name: FixedName): number {
  return FIXED.indexOf(name) + 1
}

/** An SQL expression: the name of a number. */
export function nameIn(column: string): string {
  return `(SELECT names.name FROM names WHERE names.n = ${column})`
}

interface Known {
  /** Whether a name got its number since the names were last forgotten. */
  given: boolean
  readonly numbers: BoundedMap<string, number>
  readonly names: BoundedMap<number, string>
}

/** What was read of each database. A number never gets another name, unless the transaction that gave it is undone. */
const known = new WeakMap<Sql, Known>()

/** How many names are kept in memory: actors can be many. */
const MOST_KNOWN = 10_000

/** So many are read at once: types and verbs have the first numbers, and every question needs some of them. */
const FIRST_READ = 100

/**
 * Forgets what was read: numbers may have been given in a transaction that is undone. Returns whether there may be such
 * numbers: plans that hold them must go, too.
 */
export function forgetNames(sql: Sql): boolean {
  const given = known.get(sql)?.given ?? false
  known.delete(sql)
  return given
}

/** The number of a name, which gets one if it has none. */
export function numberName(sql: Sql, name: string): number {
  const number = nameNumber(sql, name)
  if (number !== NO_NUMBER) return number
  knownOf(sql).given = true
  const [row] = sql.rows(
    'INSERT INTO names (n, name) SELECT max(max(n) + 1, ?), ? FROM names RETURNING n',
    FIRST_OWN,
    name,
  )
  keep(sql, row![0], name)
  return row![0]
}

/** The number that no name has. */
const NO_NUMBER = 0

/** The number of a name, or one that no row has. */
export function nameNumber(sql: Sql, name: string): number {
  const { numbers } = knownOf(sql)
  const number = numbers.get(name)
  if (number !== undefined) return number
  const [row] = sql.rows('SELECT n FROM names WHERE name = ?', name)
  if (!row) return NO_NUMBER
  keep(sql, row[0], name)
  return row[0]
}

/** The numbers of all names that are the same but for their case. */
export function numbersAnyCase(sql: Sql, name: string): number[] {
  return sql.rows('SELECT n FROM names WHERE name = ? COLLATE NOCASE', name).map(([n]) => n)
}

/** The name of a number. */
export function nameOf(sql: Sql, number: number): string {
  const name = knownOf(sql).names.get(number)
  if (name !== undefined) return name
  const [row] = sql.rows('SELECT name FROM names WHERE n = ?', number)
  // Only in a damaged file: what checks it says so, since no hash covers this.
  if (!row) return `(name ${number} is missing)`
  keep(sql, number, row[0])
  return row[0]
}

function keep(sql: Sql, number: number, name: string): void {
  const { numbers, names } = knownOf(sql)
  numbers.set(name, number)
  names.set(number, name)
}

function knownOf(sql: Sql): Known {
  let one = known.get(sql)
  if (!one) {
    one = { given: false, numbers: new BoundedMap(MOST_KNOWN), names: new BoundedMap(MOST_KNOWN) }
    known.set(sql, one)
    for (const [number, name] of sql.rows('SELECT n, name FROM names ORDER BY n LIMIT ?', FIRST_READ))
      keep(sql, number, name)
  }
  return one
}
