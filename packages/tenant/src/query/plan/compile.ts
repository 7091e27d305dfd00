import { type Filter, type Hop, isIndex, type Leaf, meetsMissing, SOURCE } from '@tildebase/nouns'
import { needleTest } from '../words/needle.ts'
import { textTest } from '../words/text.ts'
import { type Case, caseOf, casesOf } from './cases.ts'
import { type FieldIndexTest, fieldIndexTest, fieldIndexWhere } from './field-index.ts'
import { every, type Fragment, fragment, plain } from './fragment.ts'
import { compileMeta } from './meta.ts'
import { PRESENT } from './moment.ts'
import { fieldIndexAt, fieldIndexNumber, jsonPath, type Scope } from './scope.ts'
import { isLogged, recordSource, sourceOf, typeNumber } from './source.ts'
import { readsOtherForm } from './todays-form.ts'

/** Deeper ways into JSON double the text with every step; they are left to memory. */
const MOST_STEPS = 2

/** A narrowing is in a statement once for every relation, and a Durable Object allows a hundred values in all. */
const MOST_NARROWING = 25

/** A filter as SQL that gives 0 or 1, never NULL, or null when it must be tested in memory. */
export function compile(scope: Scope, filter: Filter): Fragment | null {
  if (readsOtherForm(scope, filter)) return null
  switch (filter.op) {
    case 'and':
    case 'or':
      return compileAll(scope, filter.of, filter.op)
    case 'not': {
      const inner = compile(scope, filter.of)
      return inner && fragment`NOT (${inner})`
    }
    case 'text':
      return textTest(scope, filter.words)
    default: {
      const found = compileLeaf(scope, filter, 0)
      return found && filter.op === 'exists' && filter.value === false ? fragment`NOT (${found})` : found
    }
  }
}

/** The scope of the entities that a relation leads to. */
export function scopeBehind(scope: Scope, hop: Hop, alias: string): Scope {
  const source = sourceOf(scope.reader, hop.target, scope.moment, alias)
  return { ...scope, type: hop.target, source }
}

/** What an entity behind one of a leaf's relations must meet, or null when only memory can tell. */
function behindCondition(scope: Scope, leaf: Leaf, step: number) {
  const behind = scopeBehind(scope, leaf.path.hops[step]!, `t${step + 1}`)
  const there = presence(behind)
  // Behind a relation the index finds the few entities that matter, where the type as a whole would be read.
  const facts = leaf.path.hops.length === step + 1 ? fieldIndexTest(behind, leaf) : null
  const inner = facts ? inFacts(behind, facts) : compileLeaf(behind, leaf, step + 1)
  return there && inner && { ...behind, there, indexed: facts !== null, condition: fragment`${there} AND (${inner})` }
}

function inFacts(scope: Scope, facts: FieldIndexTest): Fragment {
  const f = plain(`${scope.source.alias}i`)
  return fragment`${scope.source.n} IN (SELECT ${f}.n FROM field_index ${f} WHERE ${fieldIndexWhere(scope, facts, f)})`
}

/** How the index over fields answers a part of a filter: a field of the type itself, or one behind a relation. */
export function fieldIndexOf(scope: Scope, part: Filter): FieldIndexTest | null {
  if (!('path' in part)) return null
  const [hop] = part.path.hops
  if (!hop) return fieldIndexTest(scope, part)
  const negative = meetsMissing(part) || (part.op === 'exists' && part.value === false)
  const number = fieldIndexNumber(scope.reader, scope.type, hop.field)
  const behind = hop.kind === 'forward' && !negative && number !== null ? behindCondition(scope, part, 0) : null
  if (number === null || !behind) return null
  const ids = fragment`(SELECT ${behind.source.id} FROM ${behind.source.from} WHERE ${behind.condition})`
  return {
    field: number,
    test: (f) => fragment`${f}.value IN ${ids}`,
    equality: false,
    single: !hop.list,
    unique: false,
  }
}

/** What rows of a scope must pass to be there at all: their source's own condition and the reader's narrowing. Null when only memory can tell. */
export function presence(scope: Scope): Fragment | null {
  const { reader, type, source, narrowed } = scope
  const narrowing = narrowed ? (reader.narrow?.(type) ?? null) : null
  const records = narrowed && isLogged(reader, type) ? recordVisibility(scope) : NO_CONDITIONS
  if (narrowing === null && records === NO_CONDITIONS) return source.where
  const narrow = narrowing === null ? plain('1') : compile({ ...scope, narrowed: false }, narrowing)
  if (!narrow || !records || narrow.values.length > MOST_NARROWING) return null
  return every([source.where, ...records, fragment`(${narrow})`])
}

/**
 * The conditions under which a narrowed reader sees a log record: the state in the record matches the row filter of its
 * type. Null when only memory can tell. `recordTest` is the same rule in memory.
 */
export function recordVisibility({ reader, source }: Scope): readonly Fragment[] | null {
  const types = (reader.narrowedTypes ?? []).filter((type) => reader.nouns.get(type) && !isLogged(reader, type))
  if (types.length === 0) return NO_CONDITIONS
  if (types.some((type) => reader.migrations?.(type).length)) return null
  const conditions = types.map((type) => {
    const record: Scope = { reader, type, moment: PRESENT, source: recordSource(source.alias), narrowed: false }
    const narrow = compile(record, reader.narrow!(type)!)
    return (
      narrow &&
      fragment`(${plain(source.alias)}.type IS NOT ${typeNumber(reader, type)} OR (${record.source.where} AND (${narrow})))`
    )
  })
  if (!conditions.every((condition) => condition !== null)) return null
  return every(conditions).values.length > MOST_NARROWING ? null : conditions
}

const NO_CONDITIONS: readonly Fragment[] = []

function compileAll(scope: Scope, parts: readonly Filter[], op: 'and' | 'or'): Fragment | null {
  const compiled = parts.map((part) => compile(scope, part))
  if (compiled.includes(null)) return null
  if (compiled.length === 0) return plain(op === 'and' ? '1' : '0')
  return balanced(compiled as Fragment[], plain(op === 'and' ? 'AND' : 'OR'))
}

/** Halved and halved again: SQLite bounds how deep an expression may nest, and a chain nests with every link. */
function balanced(parts: readonly Fragment[], between: Fragment): Fragment {
  const [only] = parts
  if (parts.length === 1) return only!
  const half = Math.ceil(parts.length / 2)
  return fragment`(${balanced(parts.slice(0, half), between)}) ${between} (${balanced(parts.slice(half), between)})`
}

function compileLeaf(scope: Scope, leaf: Leaf, step: number): Fragment | null {
  const hop = leaf.path.hops[step]
  if (!hop) return compileField(scope, leaf)
  const behind = behindCondition(scope, leaf, step)
  const any = behind && related(scope, hop, behind, behind.condition, behind.indexed)
  if (!any || !meetsMissing(leaf)) return any
  // A relation that leads nowhere is a value that is missing.
  const some = related(scope, hop, behind, behind.there, false)
  return some && fragment`(${any} OR NOT ${some})`
}

/** Whether a row is related to one behind the hop that meets a condition. The set behind is found once, not per row. */
function related(scope: Scope, hop: Hop, behind: Scope, condition: Fragment, indexed: boolean): Fragment | null {
  const { source } = scope
  if (hop.kind === 'back') return fragment`coalesce(${source.id} IN (${pointedTo(hop, behind, condition, indexed)}), 0)`
  const path = jsonPath([hop.field])
  if (path === null) return null
  const data = source.dataFor(hop.field)
  const ids = fragment`(SELECT ${behind.source.id} FROM ${behind.source.from} WHERE ${condition})`
  if (!hop.list) return fragment`coalesce(json_extract(${data}, ${path}) IN ${ids}, 0)`
  return fragment`EXISTS (SELECT 1 FROM json_each(${data}, ${path}) WHERE value IN ${ids})`
}

/**
 * The ids that the rows of an inverse relation point to: from their index, or from their data if an index found them.
 */
function pointedTo(hop: Hop, scope: Scope, condition: Fragment, indexed: boolean): Fragment {
  const { reader, moment, source, type } = scope
  const number = fieldIndexNumber(reader, type, hop.via!)
  const f = plain(`${source.alias}f`)
  if (number === null || indexed) {
    const data = source.dataFor(hop.via!)
    return fragment`SELECT ${f}.value FROM ${source.from}, json_each(${data}, ${jsonPath([hop.via!])}) ${f}
    WHERE ${condition}`
  }
  return fragment`SELECT ${f}.value FROM field_index ${f} CROSS JOIN ${source.from}
    WHERE ${f}.field = ${number} AND ${fieldIndexAt(moment, f)} AND ${source.n} = ${f}.n AND ${condition}`
}

function compileField(scope: Scope, leaf: Leaf): Fragment | null {
  const { field, into } = leaf.path
  if (field.startsWith('$') && field !== SOURCE.name) return compileMeta(scope, leaf)
  const cases = casesOf(leaf)
  if (cases === null || into.length > MOST_STEPS || into.some(isIndex) || jsonPath([field, ...into]) === null)
    return null
  if (cases.every(({ types }) => types.length === 0)) return plain('0')
  const test = inJson(scope.source.dataFor(field), [field], into, leaf, cases, 0)
  const needle = needleTest(scope.source, leaf)
  return needle ? fragment`CASE WHEN ${needle} THEN ${test} ELSE 0 END` : test
}

/** Goes into JSON step by step: a list on the way represents any of its objects. */
function inJson(
  json: Fragment,
  at: readonly string[],
  into: readonly string[],
  leaf: Leaf,
  cases: readonly Case[],
  depth: number,
): Fragment {
  const [step, ...rest] = into
  if (step === undefined) return valueTest(json, jsonPath(at)!, leaf, cases)
  const x = plain(`x${depth}`)
  const element = inJson(fragment`${x}.value`, [step], rest, leaf, cases, depth + 1)
  const other = plain(meetsMissing(leaf) ? '1' : '0')
  // An empty list on the way is a value that is missing.
  const empty = meetsMissing(leaf) ? fragment`json_array_length(${json}, ${jsonPath(at)!}) = 0 OR ` : plain('')
  return fragment`CASE WHEN json_type(${json}, ${jsonPath(at)!}) = 'array' THEN (${empty}EXISTS (
    SELECT 1 FROM json_each(${json}, ${jsonPath(at)!}) ${x}
    WHERE CASE ${x}.type WHEN 'object' THEN ${element} ELSE ${other} END))
    ELSE ${inJson(json, [...at, step], rest, leaf, cases, depth)} END`
}

/** The value itself, or any element when it is a list. */
function valueTest(json: Fragment, path: string, leaf: Leaf, cases: readonly Case[]): Fragment {
  if (leaf.op === 'exists') return fragment`coalesce(json_type(${json}, ${path}), 'null') <> 'null'`
  const type = fragment`json_type(${json}, ${path})`
  const value = fragment`json_extract(${json}, ${path})`
  const element = fragment`EXISTS (
    SELECT 1 FROM json_each(${json}, ${path})
    WHERE ${caseOf(plain('type'), plain('value'), cases)} ELSE 0 END)`
  const whole = cases.find(({ types }) => types.includes('array'))?.test(value)
  const list = fragment` WHEN 'array' THEN ${whole ? fragment`(${whole} OR ${element})` : element}`
  const known = meetsMissing(leaf) ? fragment`coalesce(${type}, 'null')` : type
  return fragment`${caseOf(known, value, cases, list)} ELSE 0 END`
}
