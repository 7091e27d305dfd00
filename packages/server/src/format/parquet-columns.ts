import { type Field, type Json, type Noun, parseInstant } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import type { SchemaElement } from 'hyparquet-writer'
import { isMeta, META_COLUMNS, type MetaColumn, secretNames, shownFields } from './columns.ts'

/** The column of everything that has no column of its own. */
export const EXTRA = '$extra'

/** A column: its place in the schema, and how it takes its value out of an entity. Undefined is none. */
export interface Column {
  readonly element: SchemaElement
  readonly take: (entity: Stored, rest: Record<string, Json>) => unknown
}

/** The columns of a type, or of some of its fields. */
export function columnsFor(noun: Noun, fields: readonly string[] | null): readonly Column[] {
  const shown = fields && new Set(['$id', '$type', ...fields])
  const visible = ({ name }: { readonly name: string }) => shown === null || shown.has(name)
  const meta = META_COLUMNS.filter((name) => visible({ name })).map(metaColumn)
  const own = shownFields(noun).filter(visible).map(fieldColumn)
  const others = shown && [...shown].filter((name) => !isMeta(name) && !Object.hasOwn(noun.fields, name))
  return [...meta, ...own, extraColumn(noun, shown, others)]
}

export function schemaOf(columns: readonly Column[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.map(({ element }) => element)]
}

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
const JSON_TEXT = { type: 'BYTE_ARRAY', converted_type: 'JSON' } as const
const TIMESTAMP = { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' } as const

const META: { readonly [name in MetaColumn]: Omit<SchemaElement, 'name'> & { of: (entity: Stored) => unknown } } = {
  $id: { ...TEXT, of: ({ id }) => id },
  $type: { ...TEXT, of: ({ type }) => type },
  $version: { type: 'INT32', of: ({ version }) => version },
  $createdAt: { ...TIMESTAMP, of: ({ createdAt }) => BigInt(createdAt) },
  $updatedAt: { ...TIMESTAMP, of: ({ updatedAt }) => BigInt(updatedAt) },
  $createdBy: { ...TEXT, of: ({ createdBy }) => createdBy },
}

function metaColumn(name: MetaColumn): Column {
  const { of, ...element } = META[name]
  return { element: { name, ...element, repetition_type: 'REQUIRED' }, take: of }
}

function fieldColumn(field: Exclude<Field, { kind: 'back' }>): Column {
  const { fits, ...element } = kindOf(field)
  return {
    element: { name: field.name, ...element, repetition_type: 'OPTIONAL' },
    take: (_, rest) => {
      if (!Object.hasOwn(rest, field.name)) return undefined
      const value = fits(rest[field.name]!)
      // A value from before the field was declared may be of another kind: it stays with the rest.
      if (value !== undefined) delete rest[field.name]
      return value
    },
  }
}

type ColumnKind = Omit<SchemaElement, 'name'> & { readonly fits: (value: Json) => unknown }

function kindOf(field: Exclude<Field, { kind: 'back' }>): ColumnKind {
  if (field.list || field.kind === 'json') return { ...JSON_TEXT, fits: (value) => value }
  switch (field.kind) {
    case 'number':
      return { type: 'DOUBLE', fits: (value) => (typeof value === 'number' ? value : undefined) }
    case 'boolean':
      return { type: 'BOOLEAN', fits: (value) => (typeof value === 'boolean' ? value : undefined) }
    case 'datetime':
      return { ...TIMESTAMP, fits: instantOf }
    case 'date':
      return { type: 'INT32', converted_type: 'DATE', fits: dayOf }
    default:
      return { ...TEXT, fits: (value) => (typeof value === 'string' ? value : undefined) }
  }
}

function instantOf(value: Json): bigint | undefined {
  const at = typeof value === 'string' && value.length === 24 ? parseInstant(value) : null
  return at === null ? undefined : BigInt(at)
}

function dayOf(value: Json): number | undefined {
  const at = typeof value === 'string' && value.length === 10 ? parseInstant(value) : null
  return at === null ? undefined : Math.floor(at / 86_400_000)
}

function extraColumn(noun: Noun, shown: ReadonlySet<string> | null, others: readonly string[] | null): Column {
  const secrets = secretNames(noun)
  return {
    element: { name: EXTRA, ...JSON_TEXT, repetition_type: 'OPTIONAL' },
    take: (_, rest) => {
      const left = Object.entries(rest).filter(
        ([name]) => !secrets.has(name) && (shown === null || shown.has(name) || others?.includes(name)),
      )
      return left.length === 0 ? undefined : Object.fromEntries(left)
    },
  }
}
