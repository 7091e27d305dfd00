import { type Field, isComputed, type Noun } from '@tildebase/nouns'

/** A JSON Schema, as OpenAPI 3.1 takes it. */
export type Schema = { readonly [key: string]: unknown }

/** The schemas of a type: as it is read, as it is created, as it is changed. */
export function nounSchemas(noun: Noun, described: ReadonlySet<string>): { readonly [name: string]: Schema } {
  const fields = Object.values(noun.fields)
  const written = fields.filter((field) => field.kind !== 'back' && !('service' in field && field.service))
  const required = written.filter((field) => 'required' in field && field.required && !('default' in field))
  const additionalProperties = !noun.strict
  return {
    [noun.name]: {
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

/** A draft that is valid in an empty tenant: what must be there, and one or two things more. */
export function exampleOf(noun: Noun): Schema {
  const fields = Object.values(noun.fields)
  const needed = fields.filter((field) => 'required' in field && field.required && !('default' in field))
  const liked = fields.filter((field) => ['name', 'email', 'stage', 'value'].includes(field.name))
  const shown = [...new Set([...needed, ...liked])].filter((field) => !('service' in field && field.service))
  return Object.fromEntries(shown.map((field) => [field.name, exampleValue(noun, field)]))
}

function properties(fields: readonly Field[], schemaOf: (field: Field) => Schema): Schema {
  return Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)]))
}

/** A relation is an id, or what `include` puts in its place. */
function readSchema(field: Field, described: ReadonlySet<string>): Schema {
  if (isComputed(field)) return { ...writeSchema(field), readOnly: true, description: 'Computed.' }
  if (field.kind !== 'back' && field.kind !== 'forward') return writeSchema(field)
  // A lens may leave the other type out.
  const entity = described.has(field.target)
    ? { $ref: `#/components/schemas/${field.target}` }
    : { type: 'object', additionalProperties: true }
  if (field.kind === 'back') {
    const description = `${field.target} by ${field.via}; only when included.`
    return field.list
      ? { type: 'array', items: entity, description }
      : { anyOf: [entity, { type: 'null' }], description }
  }
  const one = {
    anyOf: [{ type: 'string' }, entity, { type: 'null' }],
    description: `Id of ${field.target}, or the entity when included.`,
  }
  return field.list ? { type: 'array', items: one } : one
}

/** A field as it is written. */
export function writeSchema(field: Field): Schema {
  if (field.kind === 'back') return {}
  const one = field.kind === 'forward' ? { type: 'string', description: `Id of ${field.target}.` } : valueSchema(field)
  return field.list ? { type: 'array', items: one } : one
}

function valueSchema(field: Exclude<Field, { kind: 'forward' | 'back' }>): Schema {
  // In words: an update applies no default, and generators take a field that has one for a required field.
  const fallback = field.default !== undefined && {
    description: field.default === 'now' ? 'The time of creation unless given.' : `${field.default} unless given.`,
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

function exampleValue(noun: Noun, field: Field): unknown {
  if (field.kind === 'forward' || field.kind === 'back') return `${field.target}_…`
  const known = EXAMPLES[`${noun.name}.${field.name}`] ?? EXAMPLES[field.name]
  const value = known ?? field.max ?? field.min ?? KINDS[field.kind] ?? field.values?.[0] ?? 'text'
  return field.list && !Array.isArray(value) ? [value] : value
}

const EXAMPLES: { readonly [field: string]: unknown } = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  'Deal.name': 'Analytical engine',
  'Organization.name': 'Analytical Engines Ltd',
  'Event.name': 'signed_up',
  'Event.type': 'track',
  'Webhook.url': 'https://example.com/hooks',
  'Webhook.events': ['Contact.created', '*.deleted'],
  'Invoice.number': 'INV-001',
  'FeatureFlag.key': 'new-checkout',
}

const KINDS: { readonly [kind: string]: unknown } = {
  number: 100,
  boolean: true,
  date: '2026-01-31',
  datetime: '2026-01-31T09:00:00.000Z',
  json: {},
}
