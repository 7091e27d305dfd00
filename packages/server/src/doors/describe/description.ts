import type { Noun, Verb } from '@tildebase/nouns'
import { type Parameter, query } from './parameters.ts'
import { ref, type Schema, TEXT, whole } from './schema.ts'

type Action = 'read' | 'write' | 'admin'

/** The rights that a route needs, in the words of the reference. The engine enforces them. */
type Need =
  | 'no key'
  | 'any valid key'
  | 'a session'
  | 'a session or admin:identity'
  | `${Action}:${string}`
  /** The type in the path. */
  | `${Action} on the type`
  /** At least one scope of that action, or of a stronger one. */
  | `${'read' | 'write'} on any area`
  /** The engine leaves out, or refuses, what the key may not see. */
  | `${'read' | 'write'} on the types involved`
  | 'the operator key'

/** A body of a request, by its content type. */
export interface Body {
  readonly description: string
  readonly required: boolean
  readonly content: { readonly [contentType: string]: { readonly schema: Schema; readonly example: unknown } }
}

/** An answer: without a description it has that of the route, without content it has no body. */
export interface Answer {
  readonly description?: string
  readonly headers?: readonly ('ETag' | 'Location')[]
  readonly content?: { readonly [contentType: string]: Schema }
  readonly examples?: Schema
}

export type Answers = { readonly [status: number]: Answer }

/** A value; or for routes of types, one for each type and verb. */
export type Of<T> = T | ((noun: Noun, verb: Verb) => T)

/** All that a route says about itself. The OpenAPI document and the reference are rendered from it. */
export interface Description {
  /** A line without a full stop. */
  readonly summary: string
  /** Sentences; the summary unless given. */
  readonly description?: Of<string>
  readonly needs: Need
  /** A right that it needs in addition. */
  readonly also?: Need | 'the rights of the workflow' | 'the rights of the integration'
  /** Parameters of the query and of headers. Those in the path are added. */
  readonly params?: readonly Parameter[]
  readonly body?: Of<Body | null>
  /** The answers of success, and errors that differ from those of every route. */
  readonly answers: Of<Answers>
  /** The statuses of its errors, where they are others than those of its mode. */
  readonly errors?: readonly number[]
  /** For routes of types: whether a type has it. */
  readonly has?: (noun: Noun) => boolean
}

export const READ_ERRORS = [400, 401, 403, 404, 429, 500, 503]
export const WRITE_ERRORS = [400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 422, 429, 500, 503]

const JSON_TYPE = 'application/json'
export const HTML = { 'text/html': TEXT }
export const EVENT_STREAM = { 'text/event-stream': TEXT }

/** A body of JSON. */
export function jsonBody(schema: Schema, example: unknown, description: string, required = true): Body {
  return { description, required, content: { [JSON_TYPE]: { schema, example } } }
}

/** A form that needs the fields of the example. */
export function formBody(example: { readonly [name: string]: string }): Body {
  const names = Object.keys(example)
  const schema = {
    ...whole(Object.fromEntries(names.map((name) => [name, TEXT]))),
    additionalProperties: TEXT,
  }
  const content = { 'application/x-www-form-urlencoded': { schema, example } }
  return { description: `A form with ${names.join(', ')}.`, required: true, content }
}

/** An answer of JSON, and of these other kinds. */
export function answer(schema: Schema, more: Answer = {}): Answer {
  return { ...more, content: { [JSON_TYPE]: schema, ...more.content } }
}

/** An answer of plain text. */
export const PLAIN: Answer = { content: { 'text/plain': TEXT } }

export const DELETED: Answers = { 204: { description: 'Done.' } }

/** The title of a new changeset, or one that is open. */
export const PROPOSE: readonly Parameter[] = ['propose', 'reason']

/**
 * The answer to a write that is proposed. Its content is named in words alone: clients that are made from the document
 * would otherwise take every write for either of two answers.
 */
export const PROPOSED: Answers = {
  202: {
    description: 'Proposed, not executed: a ChangesetReview. Or a Task: the write takes long, and continues.',
    headers: ['Location'],
  },
}

/** The answer to a write that takes longer than a request may. */
export const TASK: Answers = {
  202: answer(ref('Task'), { description: 'It takes long, and continues as a task.', headers: ['Location'] }),
}

export const DRY_RUN: Answers = { 200: answer(ref('DryRun'), { description: 'The result of a dry run.' }) }

/** The parameter that names a person. */
export const USER: Parameter = query('user', 'The person, for administrators.', 'user_0VxGq3mZ8kLrT2wYbN4cDe')
