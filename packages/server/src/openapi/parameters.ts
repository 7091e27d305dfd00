import type { Schema } from './schemas.ts'

const TEXT = { type: 'string' }

function query(name: string, description: string, schema: Schema = TEXT): Schema {
  return { name, in: 'query', description, schema }
}

function header(name: string, description: string): Schema {
  return { name, in: 'header', description, schema: TEXT }
}

/** The parameters that operations refer to. */
export const PARAMETERS: { readonly [name: string]: Schema } = {
  id: { name: 'id', in: 'path', required: true, description: 'The $id of an entity.', schema: TEXT },
  // A string that holds JSON, and not `content`: few generated clients write JSON into a URL.
  filter: query('filter', 'A filter in the query language, as JSON: {"stage": "Lead", "value": {"$gte": 100}}.', {
    type: 'string',
    contentMediaType: 'application/json',
  }),
  sort: query('sort', 'Field names with commas; a minus sorts descending. Default -createdAt.'),
  limit: query('limit', 'How many at most.', { type: 'integer', minimum: 1, maximum: 100, default: 25 }),
  offset: query('offset', 'How many to skip.', { type: 'integer', minimum: 0, default: 0 }),
  cursor: query('cursor', 'The cursor of the page before.'),
  asOf: query('asOf', 'The state as of an ISO 8601 time, now, today, 7d ago, or the seq of an event.'),
  group: query('group', 'The fields to group by, with commas.'),
  sum: query('sum', 'The fields to add up, with commas.'),
  avg: query('avg', 'The fields to average, with commas.'),
  min: query('min', 'The fields to find the smallest values of, with commas.'),
  max: query('max', 'The fields to find the greatest values of, with commas.'),
  from: { ...query('from', 'A version number, or a time.'), required: true },
  to: { ...query('to', 'A version number, or a time.'), required: true },
  include: query('include', 'Relations to embed, with commas; nested by dots.'),
  fields: query('fields', 'The fields to show, with commas.'),
  dryRun: query('dryRun', 'Tells what would happen, and does nothing.', { type: 'boolean', default: false }),
  propose: query(
    'propose',
    'Proposes the write instead of executing it: the title of a new changeset, or the id of an open one.',
  ),
  reason: query('reason', 'Why it is proposed.'),
  ifMatch: header('If-Match', 'The ETag that was seen; another version is a mismatch.'),
  ifNoneMatch: header('If-None-Match', 'The ETag that is known; the same version answers 304.'),
  idempotencyKey: header('Idempotency-Key', 'The same key and body within 24 hours replays the first answer.'),
}

export const HEADERS: { readonly [name: string]: Schema } = {
  ETag: { description: 'The version of the entity, in quotes.', schema: TEXT },
  Location: { description: 'Where the entity is.', schema: TEXT },
}

/** References to these parameters. */
export function params(...names: readonly string[]): Schema[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

/** A parameter in the path that no operation of a type has. */
export function pathParam(name: string, types: readonly string[]): Schema {
  const schema = name === 'type' ? { type: 'string', enum: types } : TEXT
  return { name, in: 'path', required: true, description: DESCRIPTIONS[name] ?? name, schema }
}

const DESCRIPTIONS: { readonly [name: string]: string } = {
  type: 'The name of a type.',
  id: 'The $id of an entity.',
  name: 'The name of a step, such as qualifying or qualified.',
  correlation: 'What the events to undo share.',
  eventId: 'The id of an event, or its seq.',
}
