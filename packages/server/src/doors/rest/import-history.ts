import { Problem } from '@tildebase/nouns'
import { utf8Decoder } from '@tildebase/nouns/csv'
import { HistoryImporter } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ANY_OBJECT, FLAG, ref, TEXT } from '../describe/schema.ts'
import { jsonReader } from '../format/read/read-json.ts'
import { ndjsonReader } from '../format/read/read-ndjson.ts'
import type { RowReader } from '../format/rows.ts'
import { refuseLength, textOf } from '../format/text.ts'
import { json, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { importAll, Report, withReport } from './import.ts'

const EXAMPLE = {
  type: 'Contact',
  source: 'hubspot:contact:123',
  verb: 'create',
  timestamp: '2024-05-01T09:30:00Z',
  data: { name: 'Ada' },
}

/** The past of entities in: changes with the times at which they happened. */
export const importHistoryRoutes: readonly Route[] = [
  streamRoute('POST /import/history', {
    summary: 'Import past changes in the order of time',
    needs: 'admin:all',
    rawBody: true,
    params: [query('more', 'The body is a part of a file; other requests send the rest.', true, FLAG)],
    body: {
      description: 'Past changes in the order of time: a JSON list, or one JSON object per line.',
      required: true,
      content: {
        'application/json': { schema: { type: 'array', items: ANY_OBJECT }, example: [EXAMPLE] },
        'application/x-ndjson': { schema: TEXT, example: `${JSON.stringify(EXAMPLE)}\n` },
      },
    },
    answers: { 200: answer(ref('HistoryReport')) },
    handle: importHistory,
  }),
]

async function importHistory(call: Call): Promise<Reply> {
  const { request, importLimit } = call
  call.read.demandArea('admin', 'all')
  const reader = rowReader(request.headers['content-type'])
  const encoding = request.headers['content-encoding']?.trim().toLowerCase()
  refuseLength(request.headers['content-length'], encoding, importLimit)
  const report = new Report({ repeats: true })
  try {
    const texts = textOf(request.body, encoding, importLimit, utf8Decoder())
    await importAll(call, texts, reader, new HistoryImporter(), report)
  } catch (reason) {
    throw withReport(reason, report)
  }
  return json(200, { success: true, ...report.body })
}

function rowReader(contentType: string | undefined): RowReader {
  switch ((contentType ?? '').replace(/;.*/s, '').trim().toLowerCase() || 'application/json') {
    case 'application/json':
      return jsonReader()
    case 'application/x-ndjson':
    case 'application/ndjson':
    case 'application/jsonl':
      return ndjsonReader()
    default:
      throw new Problem(
        'unsupported_media_type',
        'Content-Type must be application/json (an array) or application/x-ndjson.',
        { field: 'Content-Type', supported: ['application/json', 'application/x-ndjson'] },
      )
  }
}
