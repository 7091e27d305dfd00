import { declaredField, type Field, type Filter, type Json, type Leaf, meetsMissing } from '@tildebase/nouns'
import { NULL_KEY } from '../../store/layout.ts'
import { type Fragment, fragment, listOf, plain } from './fragment.ts'
import { fieldIndexAt, fieldIndexNumber, type Scope } from './scope.ts'

/** A condition that the index over fields answers exactly: these rows of `field_index` are these entities. */
export interface FieldIndexTest {
  readonly field: number
  /** The condition on the value, under an alias of `field_index`. */
  readonly test: (f: Fragment) => Fragment
  /** True for one value: rows then come in the order of creation. */
  readonly equality: boolean
  /** True when no entity can have two such rows at one moment. */
  readonly single: boolean
  /** True for one value of a unique field: at most one row. */
  readonly unique: boolean
}

/** How the index over fields answers a leaf about a field of the type itself, or null when it cannot. */
export function fieldIndexTest(scope: Scope, leaf: Leaf): FieldIndexTest | null {
  const noun = scope.reader.nouns.get(scope.type)
  const field = noun && declaredField(leaf.path, noun, scope.reader.nouns)
  if (!field || field.kind === 'back' || field.kind === 'json' || (leaf.op === 'in' && meetsMissing(leaf))) return null
  const number = fieldIndexNumber(scope.reader, scope.type, field.name)
  const test = number === null ? null : valueTest(leaf, field)
  if (number === null || test === null) return null
  const equality = leaf.op === 'eq'
  const unique = equality && leaf.value !== null && 'index' in field && field.index === 'unique'
  return { field: number, test, equality, single: equality || !field.list, unique }
}

/** So many branches of an `or` are looked up. Each has values of its own, and a Durable Object allows a hundred in all. */
const MOST_BRANCHES = 4

/** How the index finds all rows that an `or` can be met by, and perhaps others; null when it cannot. */
export function branchesOf(scope: Scope, part: Filter): readonly FieldIndexTest[] | null {
  if (part.op !== 'or' || part.of.length > MOST_BRANCHES) return null
  const branches = part.of.map((branch) => {
    const leaves = branch.op === 'and' ? branch.of : [branch]
    const own = leaves.flatMap((leaf) => ('path' in leaf && leaf.path.hops.length === 0 ? [leaf] : []))
    const facts = own.map((leaf) => fieldIndexTest(scope, leaf)).filter((one) => one !== null)
    return facts.find(({ equality }) => equality) ?? facts[0] ?? null
  })
  return branches.every((branch) => branch !== null) ? branches : null
}

/** The condition on an alias of `field_index` that its rows are those of a test at the moment. */
export function fieldIndexWhere({ moment }: Scope, facts: FieldIndexTest, f: Fragment): Fragment {
  return fragment`${f}.field = ${facts.field} AND ${facts.test(f)} AND ${fieldIndexAt(moment, f)}`
}

/** The number of a field whose rows in `field_index` hold every entity once, in the order of its values; else null. */
export function sortNumber(scope: Scope, name: string): number | null {
  const field = scope.reader.nouns.get(scope.type)?.fields[name]
  if (!field || !('index' in field) || field.list || field.index === 'none') return null
  return fieldIndexNumber(scope.reader, scope.type, name)
}

function valueTest({ op, value }: Leaf, field: Field): FieldIndexTest['test'] | null {
  const indexed = (operand: Json) => inIndex(operand, field)
  if (op === 'eq') {
    const operand = indexed(value)
    return operand === null ? null : (f) => fragment`${f}.value = ${operand}`
  }
  if (op === 'in') {
    const operands = (value as readonly Json[]).map(indexed)
    // Minus infinity has no JSON, but null never comes this far.
    return operands.includes(null) ? null : (f) => fragment`${f}.value IN ${listOf(operands)}`
  }
  const operand = indexed(value)
  if (op === 'exists' || op === 'regex' || operand === null || typeof value === 'boolean') return null
  return rangeTest(op, operand)
}

/** SQLite orders numbers before texts before blobs, and minus infinity represents null: a range stays within its type. */
function rangeTest(op: Leaf['op'], operand: string | number): FieldIndexTest['test'] {
  const text = typeof operand === 'string'
  if (op === 'gt' || op === 'gte') {
    const sign = plain(op === 'gt' ? '>' : '>=')
    return (f) => fragment`${f}.value ${sign} ${operand} AND ${f}.value < ${plain(text ? `x''` : `''`)}`
  }
  const sign = plain(op === 'lt' ? '<' : '<=')
  const least = text ? plain(`''`) : fragment`${NULL_KEY}`
  return (f) => fragment`${f}.value ${sign} ${operand} AND ${f}.value ${plain(text ? '>=' : '>')} ${least}`
}

/** An operand as it is in `field_index`, or null when a field of this kind never holds it. */
function inIndex(operand: Json, field: Field): string | number | null {
  if (operand === null) return 'index' in field && !field.list ? NULL_KEY : null
  if (field.kind === 'number') return typeof operand === 'number' ? operand : null
  if (field.kind === 'boolean') return typeof operand === 'boolean' ? Number(operand) : null
  return typeof operand === 'string' ? operand : null
}
