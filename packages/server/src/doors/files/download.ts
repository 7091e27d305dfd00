import { type FileValue, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { TenantReader } from '@tildebase/tenant'
import type { OpenFile } from '@tildebase/tenant/internal'
import { type Call, flagParam, type Route } from '../call.ts'
import { query } from '../describe/parameters.ts'
import { FLAG, TEXT } from '../describe/schema.ts'
import type { HttpResponse } from '../http.ts'
import { empty, isKnown, type Reply } from '../reply.ts'
import { asOfParam } from '../rest/params.ts'
import { rangeIn, within } from '../rest/ranges.ts'
import { streamRoute } from '../route.ts'
import { fileField } from './upload.ts'

/** Types that a browser shows without running anything of them. */
const SHOWN =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|apng|tiff|x-icon|vnd\.microsoft\.icon)|(?:audio|video)\/(?!.*xml)[a-z0-9.+-]+|text\/plain|application\/pdf)$/

const INLINE = query(
  'inline',
  'With true, images, audio, video, plain text and PDF are shown and not saved.',
  true,
  FLAG,
)

export const BINARY = { 'application/octet-stream': { ...TEXT, format: 'binary' } }

const CONTENT = {
  summary: 'Read the content of a file',
  description:
    'Returns the bytes. The ETag is the hash. Range, If-Range and If-None-Match are supported. With asOf, the content of that time.',
  needs: 'read on the type',
  params: ['asOf', INLINE],
  answers: {
    200: { description: 'The bytes.', headers: ['ETag'], content: BINARY },
    206: { description: 'The part that Range asks for.', headers: ['ETag'], content: BINARY },
    304: { description: 'The content is still the known one.' },
  },
  errors: [400, 401, 403, 404, 405, 416, 429, 500, 503],
} as const

export const downloadRoutes: readonly Route[] = [
  streamRoute('GET /:type/:id/:field', { ...CONTENT, has: (noun) => hasFiles(noun, false), handle: download }),
  streamRoute('GET /:type/:id/:field/:n', {
    ...CONTENT,
    summary: 'Read the content of one file of a list',
    has: (noun) => hasFiles(noun, true),
    handle: download,
  }),
]

function download(call: Call): Reply {
  const noun = call.read.noun(call.params.type!)
  call.read.demand('read', noun)
  if (fileField(noun, call.params.field) === undefined) throw noFile(noun, call.params.field!)
  return contentReply(call, fileOf(call, call.read, noun, asOfParam(call, noun)))
}

/** The file that the path names, in the entity as the reader sees it. */
export function fileOf(call: Call, read: TenantReader, noun: Noun, asOf: number | null): OpenFile {
  const { id, field, n } = call.params
  return openFile(call, read, noun, { id: id!, field: field!, n: placeOf(n), asOf })
}

interface Place {
  readonly id: string
  readonly field: string
  readonly n: number | null
  readonly asOf: number | null
}

export function openFile({ tenant }: Call, read: TenantReader, noun: Noun, { id, field, n, asOf }: Place): OpenFile {
  const entity = read.get(noun, id, { asOf })
  return tenant.files.open(noun, id, JSON.parse(entity.data) as JsonObject, field, n)
}

/** The place in a list, or null when the path names none. */
export function placeOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new Problem('unknown_path', 'A file of a list is named by its place: 0, 1, 2, …')
}

/** As these a browser would run what is stored, in a page that names it. */
const PARTS_OF_PAGES = /^(?:script|style|xslt|.*worker|.*worklet)$/

/** The bytes of a file, or the part that Range asks for. */
export function contentReply(call: Call, { value, read }: OpenFile): Reply {
  if (PARTS_OF_PAGES.test(call.request.headers['sec-fetch-dest'] ?? ''))
    throw new Problem('forbidden', 'A stored file cannot be a script or a style sheet of a page.')
  const etag = `"${value.hash}"`
  const headers = headersOf(value, flagParam(call.query, 'inline'), etag)
  if (isKnown(call.request, etag)) return empty(304, { etag })
  const wanted = call.request.method === 'HEAD' ? null : rangeIn(call, etag)
  if (wanted === null)
    return stream(200, { ...headers, 'content-length': `${value.size}` }, call, () => read(0, value.size))
  const [start, end] = within(wanted, value.size)
  const range = { 'content-range': `bytes ${start}-${end - 1}/${value.size}`, 'content-length': `${end - start}` }
  return stream(206, { ...headers, ...range }, call, () => read(start, end))
}

function stream(
  status: number,
  headers: HttpResponse['headers'],
  { request }: Call,
  bytes: () => AsyncIterable<Uint8Array>,
): Reply {
  return { status, headers, content: null, stream: request.method === 'HEAD' ? nothing() : bytes() }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function headersOf({ type, name }: FileValue, inline: boolean, etag: string): HttpResponse['headers'] {
  const isShown = inline && SHOWN.test(type)
  const policy = isShown && type === 'application/pdf' ? "default-src 'none'" : 'sandbox'
  return {
    'content-type': type,
    'content-disposition': `${isShown ? 'inline' : 'attachment'}; ${nameParameters(name)}`,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    // Compression on the way would change the bytes that the ETag and Range speak of.
    'cache-control': 'private, no-cache, no-transform',
    'cross-origin-resource-policy': 'same-site',
    etag,
  }
}

/** The name of a file in a header: as ASCII, and in full for those who read UTF-8. */
function nameParameters(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const full = encodeURIComponent(name).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return plain === name ? `filename="${plain}"` : `filename="${plain}"; filename*=UTF-8''${full}`
}

function hasFiles({ fields }: Noun, list: boolean): boolean {
  return Object.values(fields).some((field) => field.kind === 'file' && field.list === list)
}

/** The problem of a path that names no file. */
export function noFile({ name, fields, verbs }: Noun, field: string): Problem {
  if (Object.hasOwn(verbs, field))
    return new Problem('method_not_allowed', `${field} is a verb of ${name}; use POST.`, { type: name, allow: 'POST' })
  const files = Object.values(fields).flatMap((one) => (one.kind === 'file' ? one.name : []))
  const known = files.length === 0 ? 'It has none.' : `It has ${files.join(', ')}.`
  return new Problem('unknown_path', `${name} has no file field ${field.slice(0, 80)}. ${known}`, { type: name })
}
