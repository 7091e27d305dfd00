import { type Noun, Problem } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import { parseFields, TURN } from '@tildebase/tenant/internal'
import { type Call, flagParam, type Route, textParam } from '../call.ts'
import { answer, WRITE_ERRORS } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ANY_OBJECT, FLAG, TEXT } from '../describe/schema.ts'
import { type Pieces, type Writing, writeJson, writeNdjson } from '../format/write.ts'
import { writeCsv } from '../format/write-csv.ts'
import type { MaybePromise } from '../http.ts'
import { empty, isKnown, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { scheduler } from '../turns.ts'
import { asOfParam, filterParam } from './params.ts'
import { rangedReply } from './ranges.ts'

const PARQUET = { 'application/vnd.apache.parquet': { ...TEXT, format: 'binary' } }

/** Data out: whole collections as files. */
export const exportRoutes: readonly Route[] = [
  streamRoute('GET /export/:type', {
    summary: 'Export entities as JSON, NDJSON, CSV or Parquet',
    needs: 'read on the type',
    params: [
      query('format', 'json, ndjson, csv or parquet.', 'csv', {
        ...TEXT,
        enum: ['json', 'ndjson', 'csv', 'parquet'],
        default: 'json',
      }),
      'filter',
      'asOf',
      'fields',
      query('safe', 'csv: cells that a spreadsheet would run as a formula are escaped.', true, FLAG),
    ],
    answers: {
      200: answer(
        { type: 'array', items: ANY_OBJECT },
        { content: { 'application/x-ndjson': TEXT, 'text/csv': TEXT, ...PARQUET } },
      ),
      206: { description: 'The requested range of a Parquet file.', content: PARQUET },
    },
    errors: [...WRITE_ERRORS, 416],
    handle: exportAll,
  }),
]

interface Format {
  readonly contentType: string
  readonly write: (writing: Writing) => MaybePromise<Pieces>
  /** Whether the file shows the host that was asked, in `$context`. */
  readonly showsHost: boolean
}

/** How many characters a turn makes at most: where the clock does not advance, they end it. */
const TURN_LENGTH = 262_144
/** Part of the ETag: changes with the file format, so that old files do not count as unchanged. */
const LAYOUT = 4

const FORMATS: { readonly [name: string]: Format } = {
  json: { contentType: 'application/json; charset=utf-8', write: writeJson, showsHost: true },
  ndjson: { contentType: 'application/x-ndjson; charset=utf-8', write: writeNdjson, showsHost: true },
  csv: { contentType: 'text/csv; charset=utf-8; header=present', write: writeCsv, showsHost: false },
  parquet: { contentType: 'application/vnd.apache.parquet', write: writeParquet, showsHost: false },
}

function exportAll(call: Call): MaybePromise<Reply> {
  const noun = call.read.noun(call.params.type!)
  const [name, format] = formatParam(call)
  const query = new Map([...call.query].filter(([name]) => name !== 'format' && name !== 'safe'))
  const filter = filterParam({ ...call, query }, noun)
  const snapshot = call.read.snapshot(noun, filter, asOfParam(call, noun))
  const fields = parseFields(call.query.get('fields'), noun)
  const safe = flagParam(call.query, 'safe')
  const etag = `"${snapshot.fingerprint(LAYOUT, name, fields, safe, format.showsHost ? call.context : null)}"`
  const headers = {
    etag,
    'content-type': format.contentType,
    'content-disposition': `attachment; filename="${noun.name}.${name}"`,
  }
  if (isKnown(call.request, etag)) return empty(304, { etag })
  const pages = () => snapshot.pages()
  const bytes = () => streamed(call, format.write({ noun, pages, fields, context: call.context, safe }))
  if (name === 'parquet') return rangedReply(call, { etag, headers, bytes })
  return begun(bytes()).then((stream) => {
    return { status: 200, headers: { ...headers, 'accept-ranges': 'none' }, content: null, stream }
  })
}

/** A stream that has made its first piece: what fails before is answered, and does not break off an answer. */
async function begun<T>(stream: AsyncGenerator<T>): Promise<AsyncIterable<T>> {
  const first = await stream.next()
  return (async function* () {
    try {
      if (!first.done) yield first.value
      yield* stream
    } finally {
      await stream.return(undefined)
    }
  })()
}

/** The parquet file of a type, as `/export/:type?format=parquet` gives it. */
export function parquetPieces(
  call: Call,
  noun: Noun,
  snapshot: { pages(): Iterable<readonly Stored[]> },
): Promise<Pieces> {
  return writeParquet({ noun, pages: () => snapshot.pages(), fields: null, context: call.context, safe: false })
}

/** Loads the writer with the first such file: many services never write one. */
async function writeParquet(writing: Writing): Promise<Pieces> {
  const writer = await import('../format/parquet/write-parquet.ts')
  return writer.writeParquet(writing)
}

/** The pieces of a file, some in each turn. */
async function* streamed({ tenant }: Call, file: MaybePromise<Pieces>): AsyncGenerator<string | Uint8Array> {
  const pieces = await file
  try {
    for (let isDone = false; !isDone; ) {
      await scheduler.next(tenant.slug)
      const turn = piecesOfTurn(pieces)
      isDone = turn.isDone
      yield* turn.made
    }
  } finally {
    pieces.return(undefined)
  }
}

/** As many pieces as are made in a turn. Texts are joined: each is sent on its own. */
function piecesOfTurn(pieces: Pieces): { readonly made: (string | Uint8Array)[]; readonly isDone: boolean } {
  const made: (string | Uint8Array)[] = []
  const end = performance.now() + TURN.read
  let length = 0
  do {
    const { done, value: piece } = pieces.next()
    if (done) return { made, isDone: true }
    if (piece === null || piece.length === 0) continue
    length += piece.length
    if (typeof piece === 'string' && typeof made.at(-1) === 'string') made.push(made.pop() + piece)
    else made.push(piece)
  } while (performance.now() < end && length < TURN_LENGTH)
  return { made, isDone: false }
}

function formatParam(call: Call): [string, Format] {
  const name = textParam(call.query, 'format') || 'json'
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined
  if (format) return [name, format]
  throw new Problem('invalid_parameter', `format is ${Object.keys(FORMATS).join(', ')}.`, {
    field: 'format',
    supported: Object.keys(FORMATS),
  })
}
