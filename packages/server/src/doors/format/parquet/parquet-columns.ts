import { type Field, type Json, type Noun, parseInstant } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import type { SchemaElement } from 'hyparquet-writer'
import { META_COLUMNS, type MetaColumn, shownFields } from '../columns.ts'

/** A value as the writer takes it: days as numbers, times as whole numbers of 64 bits, JSON as text. */
export type Value = string | number | bigint | boolean

/** The column of everything that has no column of its own. */
export const EXTRA: SchemaElement = {
  name: '$extra',
  type: 'BYTE_ARRAY',
  converted_type: 'JSON',
  repetition_type: 'OPTIONAL',
}

/** A column of a meta-field, which every entity has. */
export interface MetaValues {
  readonly element: SchemaElement
  readonly of: (entity: Stored) => Value
}

/** A column of a declared field. */
export type FieldValues = SingleValues | ListValues

interface SingleValues {
  readonly isList: false
  readonly name: string
  readonly element: SchemaElement
  /** The value as the column has it; undefined for one of another kind, from before the field was declared. */
  readonly fits: (value: Json) => Value | undefined
}

/** A column of lists: `element` is what is in them. */
interface ListValues {
  readonly isList: true
  readonly name: string
  readonly element: SchemaElement
  readonly fits: (value: Json) => readonly (Value | null)[] | undefined
}

/** The parts of the schema that a field has. A list is a group of a group, as the format has it. */
export function elementsOf(column: FieldValues): readonly SchemaElement[] {
  if (!column.isList) return [column.element]
  return [
    {
      name: column.name,
      repetition_type: 'OPTIONAL',
      num_children: 1,
      converted_type: 'LIST',
      logical_type: { type: 'LIST' },
    },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    column.element,
  ]
}

/** The columns of the meta-fields. */
export function metaColumns(isShown: (name: string) => boolean): readonly MetaValues[] {
  return META_COLUMNS.filter(isShown).map((name) => {
    const { of, ...element } = META[name]
    return { element: { name, ...element, repetition_type: 'REQUIRED' }, of }
  })
}

/** The columns of the declared fields that are shown. */
export function fieldColumns(noun: Noun, isShown: (name: string) => boolean): readonly FieldValues[] {
  return shownFields(noun)
    .filter(({ name }) => isShown(name))
    .map((field): FieldValues => {
      const { fits, ...element } = kindOf(field)
      const one = { ...element, repetition_type: 'OPTIONAL' } as const
      if (!field.list || field.kind === 'json' || field.kind === 'file') {
        return { isList: false, name: field.name, element: { name: field.name, ...one }, fits }
      }
      return {
        isList: true,
        name: field.name,
        element: { name: 'element', ...one },
        fits: (value) => listFits(value, fits),
      }
    })
}

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
const JSON_TEXT = { type: 'BYTE_ARRAY', converted_type: 'JSON' } as const
const TIMESTAMP = {
  type: 'INT64',
  converted_type: 'TIMESTAMP_MILLIS',
  // Readers that know it take the time for one of UTC, and not of wherever they are.
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
} as const

const META: { readonly [name in MetaColumn]: Omit<SchemaElement, 'name'> & Pick<MetaValues, 'of'> } = {
  $id: { ...TEXT, of: ({ id }) => id },
  $type: { ...TEXT, of: ({ type }) => type },
  $version: { type: 'INT32', of: ({ version }) => version },
  $createdAt: { ...TIMESTAMP, of: ({ createdAt }) => BigInt(createdAt) },
  $updatedAt: { ...TIMESTAMP, of: ({ updatedAt }) => BigInt(updatedAt) },
  $createdBy: { ...TEXT, of: ({ createdBy }) => createdBy },
}

type ColumnKind = Omit<SchemaElement, 'name'> & Pick<SingleValues, 'fits'>

function kindOf(field: Exclude<Field, { kind: 'back' }>): ColumnKind {
  if (field.kind === 'json' || field.kind === 'file') return { ...JSON_TEXT, fits: (value) => JSON.stringify(value) }
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

/** The elements as the column has them; undefined when one of them does not fit. */
function listFits(value: Json, fits: SingleValues['fits']): readonly (Value | null)[] | undefined {
  if (!Array.isArray(value)) return undefined
  const values: (Value | null)[] = []
  for (const one of value) {
    const fitting = one === null ? null : fits(one)
    if (fitting === undefined) return undefined
    values.push(fitting)
  }
  return values
}

function instantOf(value: Json): bigint | undefined {
  const at = typeof value === 'string' && value.length === 24 ? parseInstant(value) : null
  return at === null ? undefined : BigInt(at)
}

function dayOf(value: Json): number | undefined {
  const at = typeof value === 'string' && value.length === 10 ? parseInstant(value) : null
  return at === null ? undefined : Math.floor(at / 86_400_000)
}
