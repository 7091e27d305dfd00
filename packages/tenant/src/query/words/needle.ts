import type { Leaf } from '@tildebase/nouns'
import { type Fragment, fragment } from '../plan/fragment.ts'
import type { Source } from '../plan/source.ts'
import { requiredText } from './required-text.ts'

/**
 * A condition that every row meets which the leaf matches, and that SQLite tests faster than it parses JSON: a text that the
 * stored JSON must contain. Null when there is none.
 */
export function needleTest(source: Source, leaf: Leaf): Fragment | null {
  const needle = source.isStored && leaf.path.hops.length === 0 ? needleOf(leaf) : null
  if (needle === null) return null
  // As bytes: SQLite then compares without looking for the characters of UTF-8.
  return fragment`instr(CAST(${source.data} AS BLOB), CAST(${needle} AS BLOB)) > 0`
}

function needleOf({ op, value, path }: Leaf): string | null {
  if (path.field.startsWith('$')) return null
  if (op === 'eq') return typeof value === 'string' ? plainText(value) : null
  if (op !== 'regex') return null
  const { pattern, flags } = value as { readonly pattern: string; readonly flags: string }
  return flags.includes('i') ? null : requiredText(pattern)
}

/** A string as it is in JSON, if it is there without escapes. */
function plainText(value: string): string | null {
  const text = JSON.stringify(value)
  return text.length === value.length + 2 ? text : null
}
