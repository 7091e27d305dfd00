import { ABOUT_TYPES, type Field, isComputed, type Noun, targetText } from '@tildebase/nouns'
import { exampleOf } from './examples.ts'

/** A JSON Schema, as OpenAPI 3.1 takes it. */
export type Schema = { readonly [key: string]: unknown }

/** The schemas of a type: as it is read, as it is created, as it is changed. */
export function nounSchemas(noun: Noun, described: ReadonlySet<string>): { readonly [name: string]: Schema } {
  const fields = Object.values(noun.fields)
  const written = fields.filter((field) => field.kind !== 'back' && !('service' in field && field.service))
  const required = written.filter((field) => 'required' in field && field.required && !('default' in field))
  const additionalProperties = !noun.strict
  const about = (ABOUT_TYPES as { readonly [name: string]: string })[noun.name]
  return {
    [noun.name]: {
      ...(about && { description: about }),
      allOf: [{ $ref: '#/components/schemas/Meta' }],
      type: 'object',
      properties: properties(
        fields.filter(({ kind }) => kind !== 'secret'),
        (field) => readSchema(field, described),
      ),
    },
    [`${noun.name}Draft`]: {
      type: 'object',
      properties: properties(written, writeSchema),
      ...(required.length > 0 && { required: required.map(({ name }) => name) }),
      additionalProperties,
      example: exampleOf(noun),
    },
    ...(Object.hasOwn(noun.verbs, 'update') && {
      [`${noun.name}Patch`]: {
        type: 'object',
        description: 'Merged into the entity at the top level; null clears a field.',
        properties: properties(written, (field) => orNull(writeSchema(field))),
        additionalProperties,
      },
    }),
  }
}

function properties(fields: readonly Field[], schemaOf: (field: Field) => Schema): Schema {
  return Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)]))
}

/** A relation is an id, or what `include` puts in its place. */
function readSchema(field: Field, described: ReadonlySet<string>): Schema {
  if (isComputed(field)) return { ...writeSchema(field), readOnly: true, description: 'Computed.' }
  if (field.kind !== 'back' && field.kind !== 'forward') return writeSchema(field)
  // A lens may leave the other type out.
  const targets = field.kind === 'forward' && field.targets ? field.targets : [field.target]
  const entities = targets.map((target) =>
    described.has(target) ? { $ref: `#/components/schemas/${target}` } : { type: 'object', additionalProperties: true },
  )
  const entity = entities.length === 1 ? entities[0]! : { anyOf: entities }
  if (field.kind === 'back') {
    const description = `${field.target} by ${field.via}; only if included.`
    return field.list
      ? { type: 'array', items: entity, description }
      : { anyOf: [entity, { type: 'null' }], description }
  }
  const one = {
    anyOf: [{ type: 'string' }, entity, { type: 'null' }],
    description: `Id of ${targetText(field)}, or the entity if included.`,
  }
  return field.list ? { type: 'array', items: one } : one
}

/** A field as it is written. */
export function writeSchema(field: Field): Schema {
  if (field.kind === 'back') return {}
  const one =
    field.kind === 'forward' ? { type: 'string', description: `Id of ${targetText(field)}.` } : valueSchema(field)
  return field.list ? { type: 'array', items: one } : one
}

function valueSchema(field: Exclude<Field, { kind: 'forward' | 'back' }>): Schema {
  // In words: an update applies no default, and generators take a field that has one for a required field.
  const fallback = field.default !== undefined && {
    description: field.default === 'now' ? 'Default: the time of creation.' : `${field.default} unless given.`,
  }
  switch (field.kind) {
    case 'enum':
      return { type: 'string', enum: field.values, ...fallback }
    case 'number': {
      const { min, max } = field
      const bounds = { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) }
      return { type: 'number', ...bounds, ...fallback }
    }
    case 'boolean':
      return { type: 'boolean', ...fallback }
    case 'date':
      return { type: 'string', format: 'date', ...fallback }
    case 'datetime':
      return { type: 'string', format: 'date-time', ...fallback }
    case 'json':
      return { description: 'Any JSON.' }
    case 'secret':
      return { type: 'string', writeOnly: true }
    default:
      return { type: 'string', ...fallback }
  }
}

function orNull(schema: Schema): Schema {
  if (Array.isArray(schema.enum)) return { ...schema, type: ['string', 'null'], enum: [...schema.enum, null] }
  return typeof schema.type === 'string' ? { ...schema, type: [schema.type, 'null'] } : schema
}
