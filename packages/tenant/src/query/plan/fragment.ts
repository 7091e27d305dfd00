import type { SqlValue } from '../../ports.ts'

/** A piece of SQL with the values of its question marks. */
export interface Fragment {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** Joins SQL, other fragments and values: what is not a fragment is always bound, so nothing from outside becomes SQL. */
export function fragment(texts: TemplateStringsArray, ...parts: readonly (Fragment | SqlValue)[]): Fragment {
  let sql = texts[0]!
  const values: SqlValue[] = []
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!
    if (isFragment(part)) {
      sql += part.sql
      for (const value of part.values) values.push(value)
    } else {
      sql += '?'
      values.push(part)
    }
    sql += texts[index + 1]
  }
  return { sql, values }
}

/** SQL of our own that holds no values: a column, an alias. Never a name from outside. */
export function plain(sql: string): Fragment {
  return { sql, values: [] }
}

/** Fragments one after the other. */
export function join(parts: readonly Fragment[], between: string): Fragment {
  return { sql: parts.map((part) => part.sql).join(between), values: parts.flatMap((part) => part.values) }
}

/** A condition that holds when all of these do. */
export function every(parts: readonly Fragment[]): Fragment {
  return parts.length === 0 ? plain('1') : join(parts, ' AND ')
}

/** A list as one bound value: a Durable Object allows a hundred per statement. */
export function listOf(values: readonly unknown[]): Fragment {
  return fragment`(SELECT value FROM json_each(${jsonText(values)}))`
}

/** A list to start from, each value once: with a list after IN, SQLite may rather read all rows of a type. */
export function eachOf(values: readonly unknown[], alias: string): Fragment {
  return fragment`json_each(${jsonText([...new Set(values)])}) ${plain(alias)}`
}

/** Whole numbers from 2^53 on are written as decimals: SQLite would read their digits as a neighbour of the number. */
function jsonText(values: readonly unknown[]): string {
  if (!values.some(isLong)) return JSON.stringify(values)
  return `[${values.map((value) => (isLong(value) ? `${value}.0` : JSON.stringify(value))).join()}]`
}

function isLong(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) >= 2 ** 53 && /^-?\d+$/.test(`${value}`)
}

function isFragment(part: Fragment | SqlValue): part is Fragment {
  return typeof part === 'object' && part !== null && 'sql' in part
}
