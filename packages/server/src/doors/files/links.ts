import { invalid, isoOf, isPlainObject, type Noun, Problem } from '@tildebase/nouns'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { TEXT, TIME, whole } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { asOfParam } from '../rest/params.ts'
import { readRoute, streamRoute } from '../route.ts'
import { BINARY, contentReply, fileOf, noFile, openFile, placeOf } from './download.ts'
import { fileField } from './upload.ts'

const DEFAULT = '10m'
const DAY = 86_400_000
const LONGEST = 7 * DAY
const UNITS: { readonly [unit: string]: number } = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY }

const LINK = {
  summary: 'Make a link to the content of a file',
  description:
    'The URL shows the content without a key until it expires, as far as its maker may still read it. At most 7 days.',
  needs: 'read on the type',
  repeats: true,
  params: ['asOf'],
  body: jsonBody(whole({ expires: TEXT }), { expires: '10m' }, 'For how long: 30s, 10m, 24h or 7d.', false),
  answers: { 200: answer(whole({ url: TEXT, expires: TIME })) },
  errors: [400, 401, 403, 404, 405, 422, 429, 500, 503],
} as const

export const linkRoutes: readonly Route[] = [
  readRoute('POST /:type/:id/:field/link', { ...LINK, handle: makeLink }),
  readRoute('POST /:type/:id/:field/:n/link', { ...LINK, handle: makeLink }),
  streamRoute('GET /files/:link', {
    summary: 'Read the content that a link shows',
    needs: 'no key',
    answers: { 200: { description: 'The bytes.', headers: ['ETag'], content: BINARY } },
    errors: [404, 416, 429, 500, 503],
    handle: followLink,
  }),
]

function makeLink(call: Call): Reply {
  const { read, params, tenant } = call
  const noun = read.noun(params.type!)
  read.demand('read', noun)
  if (fileField(noun, params.field) === undefined) throw noFile(noun, params.field!)
  const asOf = asOfParam(call, noun)
  fileOf(call, read, noun, asOf)
  const until = tenant.files.now + expiresIn(call.body)
  const place = { id: params.id!, field: params.field!, n: placeOf(params.n) }
  return json(200, { url: linkTo(call, noun, place, asOf, until), expires: isoOf(until) })
}

/** The address that shows a file, which the caller has read, until a time. */
export function linkTo(
  { tenant, grant, read, address }: Call,
  noun: Noun,
  place: { readonly id: string; readonly field: string; readonly n: number | null },
  asOf: number | null,
  until: number,
): string {
  const link = tenant.files.link(grant, { type: noun.name, ...place, seq: asOf ?? read.head.seq }, until)
  return `${address}/files/${link}`
}

/** A link that has expired, one that was never made and one whose maker may not read the file have the same answer. */
function followLink(call: Call): Reply {
  const { tenant, params, context } = call
  const found = tenant.files.follow(params.link!)
  if (found === null) throw noLink()
  const { target, grant } = found
  const budget = call.newBudget()
  const read = tenant.read(grant, budget, context)
  try {
    const { id, field, n, seq } = target
    const file = openFile(call, read, read.noun(target.type), { id, field, n, asOf: seq })
    const reply = contentReply(call, file)
    return { ...reply, headers: { ...reply.headers, 'referrer-policy': 'no-referrer' } }
  } catch (reason) {
    if (reason instanceof Problem && ['not_found', 'forbidden', 'unknown_type'].includes(reason.code)) throw noLink()
    throw reason
  }
}

function noLink(): Problem {
  return new Problem('not_found', 'There is no such link, or it has expired.')
}

function expiresIn(body: unknown): number {
  const { expires = DEFAULT } = body === undefined || body === null ? {} : asObject(body)
  const [, amount, unit] = /^\s*(\d{1,9})\s*([smhd])\s*$/.exec(typeof expires === 'string' ? expires : '') ?? []
  const ms = amount === undefined ? 0 : Number(amount) * UNITS[unit!]!
  if (ms <= 0) throw invalid('link', [{ field: 'expires', message: 'must be a time such as 30s, 10m, 24h or 7d' }])
  if (ms > LONGEST) throw invalid('link', [{ field: 'expires', message: 'must be at most 7d' }])
  return ms
}

function asObject(body: unknown): { readonly expires?: unknown } {
  if (isPlainObject(body)) return body
  throw invalid('link', [{ field: '', message: 'the body must be a JSON object' }])
}
