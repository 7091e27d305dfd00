import { Problem } from '@tildebase/nouns'
import { type Call, type Route, textParam } from '../call.ts'
import { answer, HTML, PLAIN } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ref, TEXT, WHOLE } from '../describe/schema.ts'
import { contentReply, json, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { proofPage } from './proof-page.ts'

const NOTE = { 'content-type': 'text/plain; charset=utf-8', vary: 'accept' }
const SIZE = { ...WHOLE, minimum: 0 }

/** What a tenant proves about its log. */
export const proofRoutes: readonly Route[] = [
  streamRoute('GET /checkpoint', {
    summary: 'Read the signed checkpoint of the log',
    needs: 'any valid key',
    answers: { 200: answer(ref('Checkpoint'), PLAIN) },
    handle: checkpoint,
  }),
  streamRoute('GET /proof/:eventId', {
    summary: 'Get the proof that an event is in the log unchanged',
    needs: 'read on the types involved',
    params: [
      query('size', 'The size of an earlier log in which to prove the event.', 100, SIZE),
      query('format', 'json, or html for a page that verifies the proof.', 'html', { ...TEXT, enum: ['json', 'html'] }),
    ],
    answers: { 200: answer(ref('EventProof'), { content: HTML }) },
    handle: proof,
  }),
  streamRoute('GET /consistency', {
    summary: 'Get the proof that an earlier log is the beginning of a later one',
    needs: 'any valid key',
    params: [
      { ...query('from', 'The size of the earlier log.', 100, SIZE), required: true },
      query('to', 'The size of the later log; default the newest.', 200, SIZE),
    ],
    answers: { 200: answer(ref('ConsistencyProof')) },
    handle: consistency,
  }),
]

/** A signed note as text, or with what is known about it as JSON. */
async function checkpoint({ tenant, grant, request }: Call): Promise<Reply> {
  const found = await tenant.prove(grant).checkpoint()
  if (request.headers.accept?.includes('application/json')) return json(200, found, { vary: 'accept' })
  return contentReply(200, { value: () => found.note, text: () => found.note }, NOTE)
}

async function proof({ tenant, grant, params, query, budget }: Call): Promise<Reply> {
  const format = textParam(query, 'format') ?? 'json'
  if (format !== 'json' && format !== 'html')
    throw new Problem('invalid_parameter', 'format must be json or html.', { field: 'format' })
  const size = sizeParam(query, 'size')
  if (format === 'html' && size !== null)
    throw new Problem('invalid_parameter', 'A page uses the newest checkpoint: omit size.', { field: 'size' })
  const found = await tenant.prove(grant).event(params.eventId!, size)
  budget.spendBytes((found.entry.data?.length ?? 0) + (found.entry.previous?.length ?? 0))
  return format === 'html' ? proofPage(found) : json(200, found)
}

async function consistency({ tenant, grant, query }: Call): Promise<Reply> {
  const from = sizeParam(query, 'from')
  if (from === null)
    throw new Problem('invalid_parameter', 'Give from: the size of the earlier log.', { field: 'from' })
  return json(200, await tenant.prove(grant).consistency(from, sizeParam(query, 'to')))
}

/** A number of events, or null when it is not given. */
function sizeParam(query: Call['query'], name: string): number | null {
  const text = textParam(query, name)
  if (text === undefined || text === '') return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Problem('invalid_parameter', `${name} must be a number of events, a whole number from 0.`, { field: name })
}
