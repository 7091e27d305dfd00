import type { Field, Noun } from '@tildebase/nouns'

type Example = { readonly [field: string]: unknown }

/** A draft that is valid in an empty tenant: what must be there, and one or two things more. */
export function exampleOf(noun: Noun): Example {
  const fields = Object.values(noun.fields)
  const needed = fields.filter((field) => 'required' in field && field.required && !('default' in field))
  const liked = fields.filter((field) => ['name', 'email', 'stage', 'value'].includes(field.name))
  const shown = [...new Set([...needed, ...liked])].filter((field) => !('service' in field && field.service))
  return Object.fromEntries(shown.map((field) => [field.name, exampleValue(noun, field)]))
}

/** A change that is valid for every entity of the type: a field that all clients may write, or nothing. */
export function patchExampleOf(noun: Noun): Example {
  const field = Object.values(noun.fields).find(
    (one) =>
      (one.kind === 'string' || one.kind === 'number') &&
      !one.service &&
      !one.list &&
      one.index !== 'unique' &&
      !('computed' in one),
  )
  return field === undefined || noun.name === 'ApiKey'
    ? { name: 'New name' }
    : { [field.name]: exampleValue(noun, field) }
}

/** The arguments of a verb. Arguments that name other entities are omitted, because their ids are unknown. */
export function argumentsExampleOf(noun: Noun, args: readonly string[]): Example {
  const known = args.filter((name) => {
    const field = Object.hasOwn(noun.fields, name) ? noun.fields[name] : undefined
    return field?.kind !== 'forward' && !ENTITIES.has(name)
  })
  return Object.fromEntries(known.map((name) => [name, ARGUMENTS[name] ?? argumentValue(noun, name)]))
}

/** Arguments that are ids of entities, or drafts of them. */
const ENTITIES = new Set(['into', 'organization', 'contact', 'deal', 'assignee', 'keep'])

const ARGUMENTS: Example = { asOf: '7d ago' }

function argumentValue(noun: Noun, name: string): unknown {
  const field = Object.hasOwn(noun.fields, name) ? noun.fields[name] : undefined
  return field ? exampleValue(noun, field) : 'text'
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
  file: { hash: `sha256:${'0'.repeat(64)}` },
}
