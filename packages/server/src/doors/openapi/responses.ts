import { ANY_OBJECT, ref, type Schema, TEXT } from '../describe/schema.ts'
import { ERROR_CODES } from '../error-codes.ts'
import { codesOf } from '../respond.ts'

/** An operation's answers, by status. */
export type Responses = { readonly [status: string]: Schema }

const JSON_TYPE = 'application/json'

/** What every operation shares. */
export const SCHEMAS: { readonly [name: string]: Schema } = {
  Meta: {
    type: 'object',
    description: 'The meta-fields of every entity. Clients do not set them.',
    properties: {
      $id: { type: 'string', examples: ['contact_0VxGq3mZ8kLrT2wYbN4cDe'] },
      $type: { type: 'string' },
      $context: { type: 'string', format: 'uri', description: 'The namespace of the tenant.' },
      $version: { type: 'integer', minimum: 1 },
      $createdAt: { type: 'string', format: 'date-time' },
      $updatedAt: { type: 'string', format: 'date-time' },
      $createdBy: { type: 'string' },
      createdAt: { type: 'string', format: 'date-time' },
      updatedAt: { type: 'string', format: 'date-time' },
    },
    required: ['$id', '$type'],
  },
  Error: {
    type: 'object',
    properties: {
      error: { type: 'string', enum: codesOf() },
      message: { type: 'string', description: 'A sentence that says what to do.' },
      type: { type: 'string' },
      id: { type: 'string' },
      field: { type: 'string' },
      details: { type: 'array', items: {} },
      requestId: { type: 'string' },
    },
    required: ['error', 'message', 'requestId'],
  },
  DryRun: {
    type: 'object',
    description: 'The answer and the events that a real write would have produced.',
    properties: {
      dryRun: { const: true },
      status: { type: 'integer' },
      result: {},
      events: { type: 'array', items: ANY_OBJECT },
    },
    required: ['dryRun', 'status', 'events'],
  },
  Task: {
    type: 'object',
    description: 'A write that takes longer than a request may. Until it is done, nothing of it is there.',
    properties: {
      id: TEXT,
      title: { ...TEXT, description: 'The request: POST /schema/Contact/retype.' },
      state: { enum: ['running', 'done', 'failed', 'cancelled'] },
      actor: TEXT,
      onBehalfOf: TEXT,
      startedAt: TEXT,
      endedAt: { type: ['string', 'null'] },
      progress: { type: 'integer', description: 'How many entities, changes or operations are done.' },
      total: { type: 'integer', description: 'How many there are, as far as is known.' },
      result: {
        type: ['object', 'null'],
        description: 'The status that the request would have been answered with, and counts of what it did.',
      },
      error: { type: ['object', 'null'], description: 'Why it failed: code and message.' },
    },
    required: ['id', 'title', 'state', 'actor', 'startedAt', 'endedAt', 'progress', 'total', 'result', 'error'],
  },
}

const ERRORS: readonly (readonly [status: number, name: string, description: string])[] = [
  [400, 'BadRequest', 'The request is not valid.'],
  [401, 'Unauthorized', 'The request has no valid key.'],
  [403, 'Forbidden', 'The key does not have this right.'],
  [404, 'NotFound', 'There is no such entity, type, verb or path.'],
  [405, 'NotPossible', 'The method is not supported here.'],
  [408, 'BodyTimeout', 'The body stopped in the middle.'],
  [409, 'Conflict', 'The state does not allow it, or a unique value is taken.'],
  [412, 'VersionMismatch', 'The entity has a different version than If-Match says.'],
  [413, 'TooLarge', 'The body is too large.'],
  [415, 'UnsupportedMediaType', 'The content type is not supported here.'],
  [416, 'OutOfRange', 'The file has no such bytes.'],
  [422, 'Invalid', 'The data is not valid.'],
  [429, 'TooMany', 'The key exceeded its rate limit.'],
  [500, 'Fault', 'An internal error.'],
  [501, 'NotSupported', 'This host does not support it.'],
  [503, 'Unavailable', 'Try again later.'],
]

/** The answers that tell of errors, by name. */
export function errorResponses(holds: (status: number) => boolean): Responses {
  return Object.fromEntries(
    ERRORS.filter(([status]) => holds(status)).map(([status, name, description]) => [
      name,
      {
        description,
        ...headersOf(status),
        content: { [JSON_TYPE]: { schema: ref('Error'), examples: examplesOf(status) } },
      },
    ]),
  )
}

/** References to the errors of these statuses. */
export function errors(statuses: readonly number[]): Responses {
  return Object.fromEntries(
    ERRORS.filter(([status]) => statuses.includes(status)).map(([status, name]) => [
      String(status),
      { $ref: `#/components/responses/${name}` },
    ]),
  )
}

function headersOf(status: number): Schema {
  const names = { 401: ['WWW-Authenticate'], 405: ['Allow'], 429: ['Retry-After'], 503: ['Retry-After'] }[status] ?? []
  return names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }])) }
}

function examplesOf(status: number): Schema {
  return Object.fromEntries(
    codesOf(status).map((code) => {
      const { cause, remedy } = ERROR_CODES[code]!
      const value = { error: code, message: cause, requestId: '6f1c2b1e-1f0a-4f52-9a53-0f6a4e0a5a55' }
      return [code, { summary: code, description: remedy, value }]
    }),
  )
}
