import type { Noun } from '@tildebase/nouns'
import { type Call, listParam } from '../call.ts'
import { answer } from '../describe/description.ts'
import { resultsOf, WHOLE, whole } from '../describe/schema.ts'
import { type MaybePromise, whenReady } from '../http.ts'
import { json, type Reply } from '../reply.ts'
import { readRoute } from '../route.ts'
import { asOfParam, filterParam } from './params.ts'

const WORDS = ['group', 'sum', 'avg', 'min', 'max'] as const
const GROUPS = resultsOf({ ...whole({ count: WHOLE }), additionalProperties: true })

/** Groups and measures, for those who would otherwise page through everything. */
export const AGGREGATE = readRoute('GET /:type/aggregate', {
  summary: 'Count, sum and average entities by group',
  description: ({ name }) =>
    `Counts ${name} entities in groups, and adds up or averages their fields. At most 1,000 groups, largest first.`,
  needs: 'read on the type',
  params: [...WORDS, 'filter', 'asOf'],
  answers: { 200: answer(GROUPS, { description: 'The groups, largest first.' }) },
  handle: measure,
})

/** Groups and measures the entities of a type. */
export function measure(call: Call): MaybePromise<Reply> {
  const noun = call.read.noun(call.params.type!)
  return whenReady(call.read.aggregate(noun, askedIn(call, noun)), (groups) => json(200, groups))
}

function askedIn(call: Call, noun: Noun) {
  const asked = Object.fromEntries(WORDS.map((word) => [word, listParam(call.query, word)]))
  const others = new Map([...call.query].filter(([name]) => !(WORDS as readonly string[]).includes(name)))
  return { ...asked, filter: filterParam({ ...call, query: others }, noun), asOf: asOfParam(call, noun) }
}
