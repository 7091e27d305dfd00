import { catalogue, type Json, type Noun } from '@tildebase/nouns'
import { type Connector, type Found, type ObjectMapping, type PastValues, sourceOf, type Values } from './connector.ts'

/** A row of `import/history`. */
export interface PastRow {
  readonly type: string
  readonly source: string
  readonly verb: string
  readonly timestamp: string
  readonly data?: { readonly [field: string]: Json }
  readonly actor?: string
}

type Words = Pick<Connector, 'name' | 'refersTo' | 'words'>

/** Fields by which people know a record: one that has none yet gets its number. */
const NAMES = ['name', 'title', 'subject', 'number']

/** The past of a record as rows, in the order of time. */
export function pastOf(connector: Words, object: string, mapping: ObjectMapping, found: Found): PastRow[] {
  const { type } = mapping
  const source = sourceOf(connector.name, object, found.id)
  const row = (verb: string, at: string, actor: string | undefined, data?: PastRow['data']): PastRow => {
    const timestamp = new Date(at < found.createdAt ? found.createdAt : at).toISOString()
    return { type, source, verb, timestamp, ...(data && { data }), ...(actor !== undefined && { actor }) }
  }
  const past = inOrder(found)
  let state: Values = found.values
  const first = ours(connector, object, mapping, state, Object.keys(mapping.fields), false)
  const rows = [row('create', found.createdAt, found.actor, { ...named(mapping, object, found), ...first })]
  for (const { at, values, actor, verb = 'update' } of past) {
    state = { ...state, ...values }
    const data = ours(connector, object, mapping, state, Object.keys(values), true)
    if (Object.keys(data).length > 0 || verb !== 'update') rows.push(row(verb, at, actor, data))
  }
  if (found.deletedAt !== undefined) rows.push(row('delete', found.deletedAt, undefined))
  return rows
}

/** The state of a record in our fields. With `clears`, those that are empty are null. */
export function stateOf(
  connector: Words,
  object: string,
  mapping: ObjectMapping,
  found: Found,
  clears = false,
): PastRow['data'] & object {
  const values: Values = Object.assign({}, found.values, ...inOrder(found).map((one) => one.values))
  const now = ours(connector, object, mapping, values, Object.keys(mapping.fields), clears)
  return { ...named(mapping, object, found), ...now }
}

/** What changed, the oldest first. */
function inOrder({ past }: Found): readonly PastValues[] {
  return past.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** The values of some of their fields in ours. With `clears`, what is empty now is null. */
function ours(
  { name, refersTo, words }: Words,
  object: string,
  { type, fields }: ObjectMapping,
  state: Values,
  changed: readonly string[],
  clears: boolean,
): { [field: string]: Json } {
  const data: { [field: string]: Json } = {}
  for (const field of new Set(changed.flatMap((one) => (Object.hasOwn(fields, one) ? [fields[one]!] : [])))) {
    const theirs = Object.keys(fields).filter((one) => fields[one] === field)
    const parts = theirs.flatMap((one) => {
      const value = state[one] ?? null
      if (value === null || value === '') return []
      const target = refersTo(object, one)
      if (target !== null) return [{ source: sourceOf(name, target, String(value)) }]
      const known = words(object, one)
      return known ? (known[String(value)] ?? []) : [value]
    })
    const value = parts.length > 1 ? parts.map(String).join(' ') : parts[0]
    const fitting = value === undefined ? null : fit(nounOf(type), field, value)
    if (fitting !== null) data[field] = fitting
    else if (clears && value === undefined && !NAMES.includes(field)) data[field] = null
  }
  return data
}

function named({ fields }: ObjectMapping, object: string, { id }: Found): { [field: string]: Json } {
  const field = NAMES.find((name) => Object.values(fields).includes(name))
  return field === undefined ? {} : { [field]: `${object} ${id}` }
}

function nounOf(type: string): Noun | undefined {
  return Object.hasOwn(catalogue, type) ? catalogue[type as keyof typeof catalogue] : undefined
}

/** A value as a field of a built-in type takes it; null if it does not. */
function fit(noun: Noun | undefined, name: string, value: Json): Json {
  const field = noun?.fields[name]
  if (field === undefined || typeof value === 'object') return value
  switch (field.kind) {
    case 'number': {
      const number = typeof value === 'boolean' ? Number.NaN : Number(value)
      return Number.isFinite(number) ? number : null
    }
    case 'boolean':
      return typeof value === 'boolean' ? value : value === 'true' || value === 1
    case 'date':
    case 'datetime': {
      const at = new Date(/^\d{12,}$/.test(String(value)) ? Number(value) : String(value))
      if (Number.isNaN(at.getTime())) return null
      return field.kind === 'date' ? at.toISOString().slice(0, 10) : at.toISOString()
    }
    case 'enum':
      return field.values?.includes(String(value)) ? value : null
    default:
      return 'list' in field && field.list ? [value] : String(value)
  }
}

/**
 * Sorted rows without references to what does not exist yet. Such a reference is set when its target is created, unless the
 * field has changed by then.
 */
export async function* settled(rows: AsyncIterable<PastRow>): AsyncGenerator<PastRow> {
  const created = new Set<string>()
  const waiting = new Map<string, { readonly type: string; readonly source: string; readonly field: string }[]>()
  /** What each field that waits refers to. */
  const wanted = new Map<string, string>()
  for await (const row of rows) {
    const data: { [field: string]: Json } = {}
    for (const [field, value] of Object.entries(row.data ?? {})) {
      const target = sourceIn(value)
      const key = `${row.source} ${field}`
      wanted.delete(key)
      if (target === null || created.has(target)) data[field] = value
      else {
        wanted.set(key, target)
        waiting.set(target, [...(waiting.get(target) ?? []), { type: row.type, source: row.source, field }])
      }
    }
    yield row.data ? { ...row, data } : row
    if (row.verb === 'delete') created.delete(row.source)
    if (row.verb !== 'create') continue
    created.add(row.source)
    const { timestamp } = row
    for (const { type, source, field } of waiting.get(row.source) ?? []) {
      if (wanted.get(`${source} ${field}`) !== row.source || !created.has(source)) continue
      yield { type, source, verb: 'update', timestamp, data: { [field]: { source: row.source } } }
    }
    waiting.delete(row.source)
  }
}

/** The source that a value refers to. */
export function sourceIn(value: Json | undefined): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { source } = value as { readonly source?: Json }
  return typeof source === 'string' ? source : null
}
