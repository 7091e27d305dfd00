import { Problem } from '@tildebase/nouns'
import { type Call, type StreamRoute, textParam } from '../call.ts'
import { contentReply, json, type Reply } from '../reply.ts'
import { proofPage } from './proof-page.ts'

const TEXT = { 'content-type': 'text/plain; charset=utf-8', vary: 'accept' }

/** What a tenant proves about its log. */
export const proofRoutes: readonly StreamRoute[] = [
  {
    method: 'GET',
    path: '/checkpoint',
    needs: 'key',
    mode: 'stream',
    summary: 'Read the signed checkpoint of the log',
    handle: checkpoint,
  },
  {
    method: 'GET',
    path: '/proof/:eventId',
    needs: { action: 'read', on: 'each' },
    mode: 'stream',
    summary: 'Get the proof that an event is in the log unchanged',
    handle: proof,
  },
  {
    method: 'GET',
    path: '/consistency',
    needs: 'key',
    mode: 'stream',
    summary: 'Get the proof that an earlier log is the beginning of a later one',
    handle: consistency,
  },
]

/** A signed note as text, or with what is known about it as JSON. */
async function checkpoint({ tenant, grant, request }: Call): Promise<Reply> {
  const found = await tenant.prove(grant).checkpoint()
  if (request.headers.accept?.includes('application/json')) return json(200, found, { vary: 'accept' })
  return contentReply(200, { value: () => found.note, text: () => found.note }, TEXT)
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
