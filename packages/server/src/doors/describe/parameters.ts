import { FLAG, type Schema, TEXT } from './schema.ts'

/** A parameter of the query, which may be left out. */
export function query(name: string, description: string, example: unknown, schema: Schema = TEXT): Schema {
  return { name, in: 'query', description, schema, example }
}

function header(name: string, description: string, example: string): Schema {
  return { name, in: 'header', description, schema: TEXT, example }
}

const ID = 'contact_0VxGq3mZ8kLrT2wYbN4cDe'

/** The parameters that operations refer to. */
export const PARAMETERS = {
  id: { name: 'id', in: 'path', required: true, description: 'The $id of an entity.', schema: TEXT, example: ID },
  // A string that holds JSON, and not `content`: few generated clients write JSON into a URL.
  filter: query('filter', 'A filter in the query language, as JSON.', '{"createdAt": {"$gte": "7d ago"}}', {
    type: 'string',
    contentMediaType: 'application/json',
  }),
  sort: query('sort', 'Field names separated by commas; a minus sorts descending. Default -createdAt.', '-createdAt'),
  limit: query('limit', 'The maximum number of results.', 25, {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 25,
  }),
  offset: query('offset', 'The number of results to skip.', 0, { type: 'integer', minimum: 0, default: 0 }),
  cursor: query('cursor', 'The cursor of the previous page.', 'eyJrIjpbMV19'),
  asOf: query('asOf', 'The state at an ISO 8601 time, now, today, 7d ago, or the seq of an event.', '7d ago'),
  group: query('group', 'The fields to group by, with commas; a time as createdAt:month.', 'createdAt:month'),
  sum: query('sum', 'The fields to sum, separated by commas.', 'value'),
  avg: query('avg', 'The fields to average, separated by commas.', 'value'),
  min: query('min', 'The fields to take the minimum of, separated by commas.', 'createdAt'),
  max: query('max', 'The fields to take the maximum of, separated by commas.', 'createdAt'),
  from: { ...query('from', 'A version number, or a time.', '1'), required: true },
  to: { ...query('to', 'A version number, or a time.', '2'), required: true },
  include: query('include', 'Relations to embed, separated by commas; use dots for nested ones.', 'organization'),
  total: query('total', 'With false, the answer has no total.', false, FLAG),
  explain: query(
    'explain',
    'With true, the answer says how the query would be answered. It needs admin:all.',
    true,
    FLAG,
  ),
  lastEventId: query('lastEventId', 'The seq that a live list has shown last, in place of Last-Event-ID.', 17, {
    type: 'integer',
    minimum: 0,
  }),
  strict: query('strict', 'With true, names that are not known are refused instead of reported.', true, FLAG),
  cascade: query('cascade', 'With true, what a key or a person has made stops, too.', true, FLAG),
  fields: query('fields', 'The fields to return, separated by commas.', 'name'),
  dryRun: query('dryRun', 'With true, the answer shows what would happen, and nothing is written.', true, FLAG),
  propose: query(
    'propose',
    'Proposes the write instead of executing it: the title of a new changeset, or the id of an open one.',
    'Clean up leads',
  ),
  reason: query('reason', 'The reason for the proposal.', 'They have not answered for a year.'),
  ifMatch: header('If-Match', 'The ETag of the version to change; another version answers 412.', '"3"'),
  ifNoneMatch: header('If-None-Match', 'The ETag of a known version; the same version answers 304.', '"3"'),
  idempotencyKey: header(
    'Idempotency-Key',
    'The same key and body within 24 hours get the first answer again.',
    '0f8fad5b-d9cb-469f-a165-70867728950e',
  ),
} satisfies { readonly [name: string]: Schema }

/** A parameter of the query or of a header: one that operations share by its name, or one of its own. */
export type Parameter = keyof typeof PARAMETERS | Schema

/** The names of the parameters that belong to the query. */
export function parameterNames(parameters: readonly Parameter[]): readonly string[] {
  return parameters
    .map((one): Schema => (typeof one === 'string' ? PARAMETERS[one] : one))
    .filter((one) => one.in === 'query')
    .map((one) => String(one.name))
}

export const HEADERS: { readonly [name: string]: Schema } = {
  ETag: {
    description: 'The version of the entity, in quotes. With include, a digest of the answer follows it.',
    schema: TEXT,
  },
  Location: { description: 'The URL of the entity.', schema: TEXT },
}

/** A parameter as an operation has it. */
export function parameterOf(parameter: Parameter): Schema {
  return typeof parameter === 'string' ? { $ref: `#/components/parameters/${parameter}` } : parameter
}

/** The parameters in a path. */
export function pathParameters(path: string, types: readonly string[]): Schema[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => pathParameter(name!, types))
}

function pathParameter(name: string, types: readonly string[]): Schema {
  if (name === 'id') return parameterOf('id')
  const schema = name === 'type' ? { ...TEXT, enum: types } : TEXT
  const [description, example] = PATH[name]!
  return { name, in: 'path', required: true, description, schema, example: name === 'type' ? types[0] : example }
}

const PATH: { readonly [name: string]: readonly [description: string, example: string] } = {
  type: ['The name of a type.', ''],
  name: ['The name of a step, such as qualifying or qualified, or of a role.', 'qualifying'],
  correlation: ['The correlation that the events to undo share.', '6f1c2b1e-1f0a-4f52-9a53-0f6a4e0a5a55'],
  eventId: ['The id of an event, or its seq.', '17'],
  run: ['The id of a run.', 'run_0VxGq3mZ8kLrT2wYbN4cDe'],
  task: ['The id of a task.', 'task_0VxGq3mZ8kLrT2wYbN4cDe'],
  tenant: ['The name of a tenant.', 'acme'],
  field: ['The name of a file field.', 'file'],
  n: ['The place of a file in a list, from 0.', '0'],
  link: ['The last part of the URL of a link.', 'u1Zk…'],
  hash: ['The hash of a content.', `sha256:${'0'.repeat(64)}`],
}
