import { article, type Noun, Problem } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import { type Call, type Route, textParam, type WriteRoute } from '../call.ts'
import { answer, type Body, DRY_RUN, PROPOSE, PROPOSED } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ANY_OBJECT, either, ref, TEXT } from '../describe/schema.ts'
import type { HttpRequest } from '../http.ts'
import { createdReply, entityReply, ifMatch, json, type Reply } from '../reply.ts'
import { writeRoute } from '../route.ts'
import { isMultipart } from './multipart.ts'
import { fileField, operationWith, receiveAlone, receiveForCreate, receiveForField, valueAlone } from './upload.ts'

const BYTES = { schema: { ...TEXT, format: 'binary' }, example: '%PDF-1.7 …' }
const FORM = { schema: { ...ANY_OBJECT, properties: { file: { ...TEXT, format: 'binary' } } }, example: { file: '…' } }
const NAME = query('name', 'The name of the file, if Content-Disposition has none.', 'contract.pdf')

const CONTENT: Body = {
  description: 'The bytes, or a form with the part file. Content-Type is the type of the file.',
  required: true,
  content: { 'application/octet-stream': BYTES, 'multipart/form-data': FORM },
}

/** Stores content and sets a file field of an entity, in one verb. */
export const UPLOAD: WriteRoute = writeRoute('POST /:type/:id/:field', {
  summary: 'Send the content of a file',
  description: ({ name }) =>
    `Stores the bytes of the body and sets the field of ${article(name)} with the verb update. A list gets one file more.`,
  needs: 'write on the type',
  rawBody: true,
  has: (noun) => Object.hasOwn(noun.verbs, 'update') && hasFiles(noun),
  params: ['ifMatch', 'dryRun', ...PROPOSE, NAME],
  body: () => CONTENT,
  answers: ({ name }) => ({
    200: answer(either(ref(name), ref('DryRun')), {
      description: 'The entity with the file, or the result of a dry run.',
      headers: ['ETag'],
    }),
    ...PROPOSED,
  }),
  prepare: (call) => receiveForField(call, nounOf(call), fieldOf(call)),
  handle: (call, write) => {
    demandReceived(call)
    const { type, id } = call.params
    const operation = { type: type!, verb: 'update', id: id!, ifVersions: ifMatch(call.request) }
    return entityReply(write.run(operationWith(call, write, operation)), call.context)
  },
})

/** Creates an entity from a form with files. */
const CREATE_FROM_FORM: WriteRoute = writeRoute('POST /:type', {
  summary: 'Create an entity from a form',
  description: ({ name }) => `Creates ${article(name)} with the files and fields of a form.`,
  needs: 'write on the type',
  rawBody: true,
  params: ['dryRun', ...PROPOSE],
  body: () => CONTENT,
  answers: ({ name }) => ({ 201: answer(ref(name), { headers: ['ETag', 'Location'] }), ...DRY_RUN, ...PROPOSED }),
  prepare: (call) => receiveForCreate(call, nounOf(call)),
  handle: (call, write) => {
    demandReceived(call)
    const operation = { type: call.params.type!, verb: 'create' }
    return createdReply(write.run(operationWith(call, write, operation)), call.context)
  },
})

/** The body of a create; one of a type with file fields may be a form. */
export function withForm({ fields }: Noun, body: Body): Body {
  if (!hasFiles({ fields })) return body
  return { ...body, content: { ...body.content, 'multipart/form-data': FORM } }
}

function hasFiles({ fields }: Pick<Noun, 'fields'>): boolean {
  return Object.values(fields).some(({ kind }) => kind === 'file')
}

/** The route of content, where a path looks like a verb or a body is a form. */
export function routeOfContent(
  { method, headers }: HttpRequest,
  noun: Noun | undefined,
  name: string | undefined,
): WriteRoute | null {
  if (method !== 'POST' || noun === undefined) return null
  if (name !== undefined) return fileField(noun, name) ? UPLOAD : null
  return isMultipart(headers['content-type']) && hasFiles(noun) ? CREATE_FROM_FORM : null
}

export const fileRoutes: readonly Route[] = [
  writeRoute('POST /files', {
    uses: 'files',
    summary: 'Store content without an entity',
    description:
      'Stores the bytes of the body and returns the value for a file field. Content that nothing names is removed after 24 hours (TILDE_FILE_ORPHANS).',
    needs: 'write on any area',
    rawBody: true,
    params: [NAME],
    body: CONTENT,
    answers: { 201: answer(ref('File'), { description: 'The value for a file field.' }) },
    prepare: storeContent,
    handle: (call: Call, _write: TenantWriter): Reply => {
      demandReceived(call)
      return json(201, valueAlone(call))
    },
  }),
]

function storeContent(call: Call): Promise<Call> {
  if (call.query.has('propose'))
    throw new Problem('invalid_parameter', 'Content without an entity cannot be proposed.', { field: 'propose' })
  return receiveAlone(call)
}

function nounOf({ read, params }: Call): Noun {
  return read.noun(params.type!)
}

function fieldOf(call: Call) {
  const field = fileField(nounOf(call), call.params.field ?? call.params.verb)
  if (field) return field
  throw new Problem('unknown_path', `This type has no file field ${textParam(call.query, 'field') ?? ''}.`)
}

/** In a batch nothing is received. */
function demandReceived({ prepared }: Call): void {
  if (prepared !== undefined) return
  throw new Problem('invalid_operation', 'A batch cannot send content. Send it to /files and name its hash here.')
}
