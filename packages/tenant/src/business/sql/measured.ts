import { presence } from '../../query/plan/compile.ts'
import { type Fragment, fragment, plain } from '../../query/plan/fragment.ts'
import { sourceOf } from '../../query/plan/source.ts'
import type { Moment, ReadContext } from '../../query/reader.ts'
import { isMeasured } from '../../store/measures.ts'
import { fixedNumber } from '../../store/names.ts'

/** Rows to add up, and how their fields are read. */
export interface Measured {
  readonly from: Fragment
  readonly where: Fragment
  readonly n: Fragment
  readonly createdAt: Fragment
  /** The value of a field of ours. Never a name from outside. */
  field(name: string): Fragment
}

/** The rows of a type that a reader sees at a moment, along the index that holds what is asked; null when only memory can tell. */
export function measured(reader: ReadContext, type: string, moment: Moment, alias = 'e'): Measured | null {
  const source = sourceOf(reader, type, moment, alias)
  const narrowed = reader.narrow?.(type) ?? null
  const where = presence({ reader, moment, type, source, narrowed: true })
  if (where === null) return null
  if (!isMeasured(type) || narrowed !== null || moment.asOf !== null) {
    return {
      from: source.from,
      where,
      n: source.n,
      createdAt: source.createdAt,
      field: (name) => fragment`${source.data} ->> ${plain(`'$.${name}'`)}`,
    }
  }
  return {
    from: plain(`entities ${alias} INDEXED BY measures_${type}`),
    // The index is partial: SQLite takes it only when it reads the type in the statement itself.
    where: plain(`${alias}.type = ${fixedNumber(type)} AND ${alias}.gone = 0`),
    n: source.n,
    createdAt: source.createdAt,
    field: (name) => plain(`${alias}.measured ->> '$.${name}'`),
  }
}
