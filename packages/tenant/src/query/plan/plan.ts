import { type Filter, meetsMissing } from '@tildebase/nouns'
import { fixedNumber } from '../../store/names.ts'
import type { Moment, ReadContext } from '../reader.ts'
import { needleTest } from '../words/needle.ts'
import { matchQuery, textTest } from '../words/text.ts'
import { compile, fieldIndexOf, recordVisibility } from './compile.ts'
import { branchesOf, type FieldIndexTest } from './field-index.ts'
import { every, type Fragment, fragment, listOf, plain } from './fragment.ts'
import type { Scope } from './scope.ts'
import { isLogged, sourceOf, VERB_EVENT_FIELDS } from './source.ts'
import { readsOtherForm } from './todays-form.ts'

/** A question split into what SQL answers and what is left to memory. */
export interface Plan {
  readonly scope: Scope
  readonly conditions: readonly Condition[]
  /** Parts of the filter that memory tests, with whether relations in them are narrowed. */
  readonly residual: readonly Part[]
  /** The words of all `$text`, and the FTS5 query of them when they are asked for. */
  readonly words: readonly string[]
  readonly match: string | null
}

/** A part of the filter as SQL, and how the index over fields would answer it. */
export interface Condition {
  readonly sql: Fragment
  readonly index: FieldIndexTest | null
  /** How the index would find the rows of each branch, if this is an `or`. */
  readonly branches?: readonly FieldIndexTest[] | null
}

/** A part of a filter, or whether a log record is visible. */
export type Part = FilterPart | { readonly records: true }

interface FilterPart {
  readonly filter: Filter
  readonly narrowed: boolean
}

/** What a page adds to these must stay below the hundred values and 100 KB that a Durable Object allows. */
const MOST_VALUES = 60
const LONGEST_SQL = 60_000

/** Plans a question about a type at a moment. */
export function plan(reader: ReadContext, type: string, filter: Filter, moment: Moment): Plan {
  const scope: Scope = { reader, moment, type, source: sourceOf(reader, type, moment, 'e'), narrowed: true }
  const asked = partsOf(filter)
  const words = asked.flatMap((part) => (part.op === 'text' ? part.words : []))
  const texts: Condition[] = words.length > 0 ? [{ sql: textTest(scope, words), index: null }] : []
  const narrowing = partsOf(reader.narrow?.(type) ?? { op: 'and', of: [] })
  const parts: FilterPart[] = [
    ...asked.filter((part) => part.op !== 'text').map((part) => ({ filter: part, narrowed: true })),
    ...narrowing.map((part) => ({ filter: part, narrowed: false })),
  ]
  const { conditions, residual } = divide(scope, parts)
  const records = isLogged(reader, type) ? recordVisibility(scope) : []
  return {
    scope,
    conditions: [...texts, ...conditions, ...(records ?? []).map((sql) => ({ sql, index: null }))],
    residual: records === null ? [...residual, { records: true }] : residual,
    words,
    match: words.length > 0 ? matchQuery(words) : null,
  }
}

/** The parts of a filter that must all hold. */
function partsOf(filter: Filter): readonly Filter[] {
  return filter.op === 'and' ? filter.of : [filter]
}

function divide(scope: Scope, parts: readonly FilterPart[]): Pick<Plan, 'conditions' | 'residual'> {
  const conditions: Condition[] = []
  const residual: Part[] = []
  let values = 0
  let length = 0
  for (const part of parts) {
    const within = { ...scope, narrowed: part.narrowed }
    const sql = compile(within, part.filter)
    const fits = sql && values + sql.values.length <= MOST_VALUES && length + sql.sql.length <= LONGEST_SQL
    const hint = isLogged(scope.reader, scope.type) ? trackedOnly(scope, part.filter) : null
    if (fits)
      conditions.push({
        sql: hint ? every([hint, fragment`(${sql})`]) : fragment`(${sql})`,
        index: fieldIndexOf(within, part.filter),
        branches: branchesOf(within, part.filter),
      })
    else residual.push(part)
    const hasNeedle = !fits && !hint && !readsOtherForm(within, part.filter)
    const needle = hasNeedle && 'path' in part.filter ? needleTest(scope.source, part.filter) : null
    if (!fits && hint) conditions.push({ sql: hint, index: null })
    if (needle && values < MOST_VALUES) conditions.push({ sql: needle, index: null })
    values += fits ? sql.values.length : needle ? 1 : 0
    length += fits ? sql.sql.length : 0
  }
  return { conditions, residual }
}

/** The log rows that a condition on the Event collection can only be met by, so that an index finds them. */
function trackedOnly(scope: Scope, part: Filter): Fragment | null {
  if (!('path' in part) || part.path.hops.length > 0 || part.path.field.startsWith('$') || meetsMissing(part))
    return null
  const type = fragment`${plain(scope.source.alias)}.type`
  const { op, path, value } = part
  if (op === 'exists' && value === false) return null
  if (!VERB_EVENT_FIELDS.has(path.field)) return fragment`${type} = ${plain(String(fixedNumber('Event')))}`
  const operands = op === 'eq' ? [value] : op === 'in' ? (value as readonly unknown[]) : null
  if (operands === null) return null
  if (path.field === 'properties') return propertyHint(plain(scope.source.alias), path.into, operands)
  if (path.into.length > 0) return null
  const verbs = { type: 'verb', source: 'API' }[path.field]
  if (verbs !== undefined && !operands.includes(verbs))
    return fragment`${type} = ${plain(String(fixedNumber('Event')))}`
  if (path.field !== 'name') return null
  const types = operands.flatMap((name) =>
    typeof name === 'string' && name.includes('.') ? [name.slice(0, name.indexOf('.'))] : [],
  )
  return fragment`${type} IN (SELECT names.n FROM names WHERE names.name IN ${listOf(['Event', ...types])})`
}

/** The log rows that can have one of these values as a property: tracked events, and rows with it in a column. */
function propertyHint(e: Fragment, into: readonly string[], values: readonly unknown[]): Fragment | null {
  const [property, ...deeper] = into
  if (deeper.length > 0 || !values.every((value) => typeof value === 'string')) return null
  const named = fragment`(SELECT names.n FROM names WHERE names.name IN ${listOf(values)})`
  const columns: { readonly [property: string]: Fragment } = {
    entityId: fragment`${e}.n IN (SELECT entities.n FROM entities WHERE entities.id IN ${listOf(values)})
      OR ${e}.entity IN ${listOf(values)}`,
    entityType: fragment`${e}.type IN ${named}`,
    verb: fragment`${e}.verb IN ${named}`,
  }
  const column = Object.hasOwn(columns, property ?? '') ? columns[property!] : undefined
  return column ? fragment`(${e}.type = ${plain(String(fixedNumber('Event')))} OR ${column})` : null
}
