import type { ForwardField, Json, ValueField } from '../noun.ts'
import type { Issue } from '../problem.ts'
import { valueCheck } from './check.ts'
import { isoOf, parseInstant } from './time.ts'

/** A stored value converted to another type, or the reason why it cannot be. */
export type Converted = { readonly value: Json } | { readonly fault: string }

/**
 * Converts a value that is not null: `"12"` → 12, `"yes"` → true, `"a"` → `["a"]`. A value that the field would refuse
 * is an error.
 */
export function convert(field: ValueField | ForwardField, value: Json): Converted {
  const candidate = field.list ? convertList(field, value) : convertSingle(field, value)
  if (candidate === null) return { value: null }
  const issues: Issue[] = []
  const checked = valueCheck(field)(candidate, issues)
  return issues.length === 0 ? { value: checked } : { fault: issues[0]!.message }
}

function convertList(field: ValueField | ForwardField, value: Json): Json {
  const list = Array.isArray(value) ? (value as Json[]) : [value]
  return list.map((one) => convertOne(field, one))
}

/** A list with one element becomes the element, an empty list becomes null. */
function convertSingle(field: ValueField | ForwardField, value: Json): Json {
  if (!Array.isArray(value) || field.kind === 'json') return convertOne(field, value)
  if (value.length > 1) return value
  return value.length === 0 ? null : convertOne(field, value[0] as Json)
}

/** The converted value if there is a conversion, else the value itself. */
function convertOne(field: ValueField | ForwardField, value: Json): Json {
  switch (field.kind) {
    case 'string':
      if (typeof value === 'string' || value === null) return value
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    case 'number':
      return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value
    case 'boolean':
      return booleanOf(value)
    case 'enum':
      return field.values?.find((word) => word.toLowerCase() === String(value).trim().toLowerCase()) ?? value
    case 'date':
    case 'datetime': {
      const instant = typeof value === 'string' ? parseInstant(value.trim()) : null
      return instant === null ? value : isoOf(instant).slice(0, field.kind === 'date' ? 10 : undefined)
    }
    default:
      return value
  }
}

function booleanOf(value: Json): Json {
  const text = String(value).trim().toLowerCase()
  if (['true', 'yes', '1'].includes(text)) return true
  return ['false', 'no', '0'].includes(text) ? false : value
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i
