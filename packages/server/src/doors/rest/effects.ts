import { isPlainObject } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import { limitOf } from '@tildebase/tenant/internal'
import { type Call, type Route, textParam } from '../call.ts'
import { answer, DELETED, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, listOf, record, ref, TEXT, whole } from '../describe/schema.ts'
import { empty, json, type Reply } from '../reply.ts'
import { readRoute, writeRoute } from '../route.ts'

/** Questions that workflows ask people. */
export const askRoutes: readonly Route[] = [
  readRoute('GET /asks', {
    summary: 'List the questions that wait for you',
    needs: 'any valid key',
    params: ['limit', 'cursor'],
    answers: { 200: answer(listOf(ref('Ask'))) },
    handle: asks,
  }),
  readRoute('GET /asks/:id', {
    summary: 'Read a question',
    needs: 'any valid key',
    answers: { 200: answer(ref('Ask')) },
    handle: ask,
  }),
  writeRoute('POST /asks/:id/answer', {
    summary: 'Answer a question',
    needs: 'a session',
    body: jsonBody(
      record('', { answer: { enum: ['Approved', 'Rejected'] }, fields: ANY_OBJECT }, ['answer']),
      { answer: 'Approved' },
      'The answer, with the fields that the question asks for.',
    ),
    answers: { 200: answer(ref('Ask')) },
    handle: answerAsk,
  }),
]

/** Secrets that the requests of workflows use. */
export const secretRoutes: readonly Route[] = [
  readRoute('GET /secrets', {
    summary: 'List the names of the secrets',
    needs: 'admin:platform',
    params: ['limit', 'cursor'],
    answers: { 200: answer(listOf(ref('Secret'))) },
    handle: secrets,
  }),
  writeRoute('PUT /secrets/:name', {
    summary: 'Set a secret',
    needs: 'admin:platform',
    body: jsonBody(whole({ value: TEXT }), { value: 'sk_live_…' }, 'The secret. No answer ever shows it.'),
    answers: { 200: answer(ref('Secret')), 201: answer(ref('Secret'), { description: 'It was created.' }) },
    handle: putSecret,
  }),
  writeRoute('DELETE /secrets/:name', {
    summary: 'Delete a secret',
    needs: 'admin:platform',
    answers: DELETED,
    handle: dropSecret,
  }),
]

function asks({ read, query }: Call): Reply {
  return json(200, read.reactions.asks(pageOf(query)))
}

function pageOf(query: Call['query']): { readonly cursor: string | null; readonly limit: number } {
  return { cursor: textParam(query, 'cursor') || null, limit: limitOf(query.get('limit') ?? 25) }
}

function ask({ read, params }: Call): Reply {
  return json(200, read.reactions.ask(params.id!))
}

function answerAsk({ params, body }: Call, write: TenantWriter): Reply {
  return json(200, write.answerAsk(params.id!, body))
}

function secrets({ read, query }: Call): Reply {
  return json(200, read.reactions.secrets(pageOf(query)))
}

function putSecret({ params, body }: Call, write: TenantWriter): Reply {
  const isNew = write.putSecret(params.name!, isPlainObject(body) ? body.value : undefined)
  return json(isNew ? 201 : 200, write.read.reactions.secret(params.name!)!)
}

function dropSecret({ params }: Call, write: TenantWriter): Reply {
  write.dropSecret(params.name!)
  return empty(204)
}
