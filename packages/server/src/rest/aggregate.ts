import { type Noun, resolvePath } from '@tildebase/nouns'
import { aggregate, demand } from '@tildebase/tenant'
import { type Call, textParam } from '../call.ts'
import { type HttpResponse, json } from '../http.ts'
import type { Route } from '../routes.ts'
import { asOfParam, filterParam, readerFor } from './params.ts'

const WORDS = ['group', 'sum', 'avg', 'min', 'max'] as const

/** Groups and measures, for those who would otherwise page through everything. */
export const aggregateRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/:type/aggregate',
    needs: { action: 'read', on: 'type' },
    mode: 'read',
    summary: 'Count, sum and average entities in groups',
    handle: measure,
  },
]

function measure(call: Call): HttpResponse {
  const noun = call.tenant.noun(call.params.type!)
  const asked = Object.fromEntries(WORDS.map((word) => [word, names(call, noun, word)]))
  const others = new Map([...call.query].filter(([name]) => !(WORDS as readonly string[]).includes(name)))
  const filter = filterParam({ ...call, query: others }, noun)
  return json(200, aggregate(readerFor(call), noun, { ...asked, filter, asOf: asOfParam(call) }))
}

/** The fields that a parameter names, if the key may read every type on the way to them. */
function names(call: Call, noun: Noun, word: string): string[] {
  const list = (textParam(call.query, word) ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  for (const name of list) {
    const path = resolvePath(name, noun, call.tenant.nouns)
    if ('hops' in path) for (const { target } of path.hops) demand(call.grant, 'read', call.tenant.noun(target))
  }
  return list
}
