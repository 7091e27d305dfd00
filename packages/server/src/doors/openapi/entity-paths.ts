import type { Noun, Verb } from '@tildebase/nouns'
import type { Route } from '../call.ts'
import { ANY_OBJECT, answers, body, errors, listOf, READ_ERRORS, type Responses, ref, WRITE_ERRORS } from './common.ts'
import { typeDescription, verbDescription } from './descriptions.ts'
import { argumentsExampleOf, exampleOf, patchExampleOf } from './examples.ts'
import { params } from './parameters.ts'
import { type Schema, writeSchema } from './schemas.ts'

/** What is said of a route for one type: its parameters, its body and its answers. */
export interface Description {
  readonly description: string
  readonly parameters: readonly Schema[]
  readonly requestBody?: Schema
  readonly responses: Responses
}

const LIST = ['filter', 'sort', 'limit', 'offset', 'cursor', 'asOf', 'include', 'fields']

/** Describes a route of every type for one of them; null when the type does not have it. */
export function describeFor(noun: Noun, route: Route): Description | null {
  const described = partsOf(noun, route)
  if (described === null) return null
  return { description: typeDescription(`${route.method} ${route.path}`, noun.name, route.summary), ...described }
}

function partsOf(noun: Noun, route: Route): Omit<Description, 'description'> | null {
  const { name } = noun
  const has = (verb: string) => Object.hasOwn(noun.verbs, verb)
  switch (`${route.method} ${route.path}`) {
    case 'GET /:type':
      return {
        parameters: params(...LIST),
        responses: { 200: answers('A page of entities.', listOf(ref(name))), ...READ_ERRORS },
      }
    case 'POST /:type':
      return {
        parameters: params('idempotencyKey', 'dryRun', ...PROPOSE),
        requestBody: body(
          name === 'Changeset' ? NEW_CHANGESET : ref(`${name}Draft`),
          true,
          exampleOf(noun),
          `The fields of the new ${name}.`,
        ),
        responses: {
          201: answers('The entity as it was created.', withSecret(name), ['ETag', 'Location']),
          ...dryRun(),
          ...proposed(),
          ...WRITE_ERRORS,
        },
      }
    case 'GET /:type/count':
      return {
        parameters: params('filter', 'asOf'),
        responses: { 200: answers('The number of entities.', COUNT), ...READ_ERRORS },
      }
    case 'GET /:type/:id':
      return {
        parameters: params('id', 'include', 'fields', 'asOf', 'ifNoneMatch'),
        responses: {
          200: answers('The entity.', READ_AS[name] ?? ref(name), ['ETag']),
          304: { description: 'The entity still has the known version.' },
          ...READ_ERRORS,
        },
      }
    case 'PUT /:type/:id':
    case 'PATCH /:type/:id':
      return has('update') ? changes(name, patchBody(noun), false) : null
    case 'DELETE /:type/:id':
      return has('delete')
        ? {
            parameters: params('id', 'ifMatch', 'dryRun', ...PROPOSE),
            responses: { 204: { description: 'It is deleted.' }, ...dryRun(), ...proposed(), ...WRITE_ERRORS },
          }
        : null
    case 'GET /:type/aggregate':
      return {
        parameters: params('group', 'sum', 'avg', 'min', 'max', 'filter', 'asOf'),
        responses: { 200: answers('The groups, largest first.', GROUPS), ...READ_ERRORS },
      }
    case 'GET /:type/:id/history':
      return {
        parameters: params('id', 'limit', 'cursor'),
        responses: { 200: answers('Its versions, newest first.', listOf(ref('Version'))), ...READ_ERRORS },
      }
    case 'GET /:type/:id/timers':
      return noun.storage === 'log'
        ? null
        : {
            parameters: params('id'),
            responses: { 200: answers('Its timers, the next first.', ref('Timers')), ...READ_ERRORS },
          }
    case 'GET /:type/:id/diff':
      return {
        parameters: params('id', 'from', 'to'),
        responses: { 200: answers('What changed.', ref('Diff')), ...READ_ERRORS },
      }
    default:
      return {
        parameters: route.path.includes(':id') ? params('id') : [],
        responses: {
          200: answers(route.summary, ANY_OBJECT),
          ...(route.mode === 'read' ? READ_ERRORS : WRITE_ERRORS),
        },
      }
  }
}

/** Describes a verb of a type. */
export function describeVerb(noun: Noun, verb: Verb): Description {
  const described = { description: verbDescription(noun, verb), ...changes(noun.name, verbBody(noun, verb), true) }
  return verb.name === 'delete'
    ? {
        ...described,
        responses: { 204: { description: 'It is deleted.' }, ...dryRun(), ...proposed(), ...WRITE_ERRORS },
      }
    : described
}

function patchBody(noun: Noun): Schema {
  return body(ref(`${noun.name}Patch`), true, patchExampleOf(noun), 'The fields to change; null clears one.')
}

function verbBody(noun: Noun, verb: Verb): Schema {
  const args = verb.args ?? []
  const properties = Object.fromEntries(args.map((name) => [name, argument(noun, name)]))
  const schema = { type: 'object', properties, additionalProperties: true }
  if (verb.name === 'update') return body(schema, false, patchExampleOf(noun), 'The fields to change; null clears one.')
  const description = args.length > 0 ? `The arguments: ${args.join(', ')}.` : 'The arguments; any field can be given.'
  return body(schema, false, argumentsExampleOf(noun, args), description)
}

function changes(name: string, requestBody: Schema, isPost: boolean): Omit<Description, 'description'> {
  return {
    parameters: params('id', 'ifMatch', 'dryRun', ...PROPOSE, ...(isPost ? ['idempotencyKey'] : [])),
    requestBody,
    responses: {
      200: answers('The entity after the verb, or the result of a dry run.', { anyOf: [ref(name), ref('DryRun')] }, [
        'ETag',
      ]),
      ...proposed(),
      ...WRITE_ERRORS,
    },
  }
}

const COUNT = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }

const PROPOSE = ['propose', 'reason']

/**
 * What every write answers that is proposed. Its content is named in words alone: clients that are made from the document
 * would otherwise take every write for either of two answers.
 */
export function proposed(): Responses {
  const { content: _, ...answer } = answers('Proposed, not executed: a ChangesetReview.', ref('ChangesetReview'), [
    'Location',
  ])
  return { 202: answer }
}

function dryRun(): Responses {
  return { 200: answers('The result of a dry run.', ref('DryRun')) }
}

const GROUPS = {
  type: 'object',
  properties: {
    results: {
      type: 'array',
      items: {
        type: 'object',
        properties: { count: { type: 'integer' } },
        required: ['count'],
        additionalProperties: true,
      },
    },
    total: { type: 'integer' },
  },
  required: ['results', 'total'],
}

/** A Metric is read by its id or by its name, and some names are built in. */
const METRIC = { anyOf: [ref('Metric'), ref('BuiltInMetric')] }

/** Types that are read otherwise than they are listed. */
const READ_AS: { readonly [type: string]: Schema } = {
  Metric: METRIC,
  Changeset: { anyOf: [ref('ChangesetReview'), ref('Changeset')] },
}

/** A changeset without operations, from operations, or from what a fork did. */
const NEW_CHANGESET = {
  anyOf: [
    ref('ChangesetDraft'),
    {
      type: 'object',
      properties: {
        title: { type: 'string' },
        reason: { type: 'string' },
        from: { type: 'string', description: 'A fork of this tenant.' },
        key: { type: 'string', description: 'A key of the fork.' },
        base: { type: 'integer', description: 'The seq of the state that the operations refer to.' },
        operations: { type: 'array', maxItems: 10_000, items: ANY_OBJECT },
      },
    },
  ],
}

/** An argument that is called as a field is one of its kind. */
function argument(noun: Noun, name: string): Schema {
  return Object.hasOwn(noun.fields, name) ? writeSchema(noun.fields[name]!) : {}
}

/** Keys and webhooks show their secret once. */
function withSecret(name: string): Schema {
  if (name !== 'ApiKey' && name !== 'Webhook') return ref(name)
  return { allOf: [ref(name)], type: 'object', properties: { secret: { type: 'string' } } }
}

/** Parquet files are read in parts. */
const PART = {
  description: 'The requested range of a Parquet file.',
  content: { 'application/vnd.apache.parquet': { schema: { type: 'string', format: 'binary' } } },
}

/** The errors of a route that is none of every type. */
export function errorsOf(route: Route): Responses {
  return {
    ...(route.mode === 'read' ? READ_ERRORS : WRITE_ERRORS),
    ...(route.path === '/export/:type' && { 206: PART, ...errors(416) }),
  }
}
