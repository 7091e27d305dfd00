import type { Leaf } from '@tildebase/nouns'
import { type Fragment, fragment } from './fragment.ts'
import type { Source } from './source.ts'

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
  return flags.includes('i') ? null : literalOf(pattern)
}

/** A string as it is in JSON, if it is there without escapes. */
function plainText(value: string): string | null {
  const text = JSON.stringify(value)
  return text.length === value.length + 2 ? text : null
}

/**
 * A text that is in everything that a pattern matches, or null. Only what comes before the first group, class, escape or
 * number of repetitions is looked at, and a pattern with alternatives not at all.
 */
export function literalOf(pattern: string): string | null {
  if (pattern.includes('|')) return null
  const head = /^[^([\\{]*/.exec(pattern)![0]
  // What follows may make the last character optional: a number of repetitions, or a quantifier behind flags as in `b(?i)*`.
  const runs = (head === pattern ? head : `${head}*`).match(/[\w @:,;/-]+[+?*]*/g) ?? []
  const certain = runs.map((run) => {
    const text = run.replace(/[+?*]+$/, '')
    return /[?*]$/.test(run) ? text.slice(0, -1) : text
  })
  const longest = certain.reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest.length > 1 ? longest : null
}
