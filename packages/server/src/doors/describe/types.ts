import { ABOUT_TYPES, type Field, isComputed, type Noun, targetText } from '@tildebase/nouns'
import type { Steps } from '@tildebase/tenant'
import { exampleOf } from './examples.ts'
import { ANY_OBJECT, ref, type Schema } from './schema.ts'

/** The schemas of types. An included entity has one of its own, so that types do not refer to each other in circles. */
export function* nounSchemas(nouns: readonly Noun[]): Steps<{ readonly [name: string]: Schema }> {
  const names = new Set(nouns.map(({ name }) => name))
  const relations = nouns.flatMap(({ fields }) => Object.values(fields)).filter((field) => 'target' in field)
  const targets = new Set(relations.flatMap(targetsOf))
  // A lens may leave the other type out.
  const included = (type: string) => (names.has(type) ? ref(`Included${type}`) : ANY_OBJECT)
  const schemas: { [name: string]: Schema } = {}
  for (const noun of nouns) {
    yield
    Object.assign(schemas, schemasOf(noun, included))
    if (targets.has(noun.name)) schemas[`Included${noun.name}`] = entitySchema(noun, () => ANY_OBJECT)
  }
  return schemas
}

/** A type as it is read. */
function entitySchema({ name, fields }: Noun, included: (type: string) => Schema): Schema {
  const about = (ABOUT_TYPES as { readonly [name: string]: string })[name]
  const read = Object.values(fields).filter(({ kind }) => kind !== 'secret')
  return {
    ...(about && { description: about }),
    allOf: [ref('Meta')],
    type: 'object',
    properties: properties(read, (field) => readSchema(field, included)),
  }
}

/** The schemas of a type: as it is read, as it is created, as it is changed. */
function schemasOf(noun: Noun, included: (type: string) => Schema): { readonly [name: string]: Schema } {
  const written = Object.values(noun.fields).filter(
    (field) => field.kind !== 'back' && !('service' in field && field.service),
  )
  const required = written.filter((field) => 'required' in field && field.required && !('default' in field))
  const additionalProperties = !noun.strict
  return {
    [noun.name]: entitySchema(noun, included),
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

/** The types that a relation can lead to. */
function targetsOf(field: Extract<Field, { readonly target: string }>): readonly string[] {
  return field.kind === 'forward' && field.targets ? field.targets : [field.target]
}

/** A relation is an id, or the entity that `include` puts in its place. */
function readSchema(field: Field, included: (type: string) => Schema): Schema {
  if (isComputed(field)) return { ...writeSchema(field), readOnly: true, description: 'Computed.' }
  if (field.kind !== 'back' && field.kind !== 'forward') return writeSchema(field)
  const targets = [...new Set(targetsOf(field).map(included))]
  const entity = targets.length === 1 ? targets[0]! : { anyOf: targets }
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
    case 'file':
      return ref('File')
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
