import type { Steps } from '@tildebase/tenant'
import { done } from '@tildebase/tenant/internal'
import type { Call, HostFeature, Route } from '../call.ts'
import { answer } from '../describe/description.ts'
import { ANY_OBJECT } from '../describe/schema.ts'
import type { MaybePromise } from '../http.ts'
import { openapiText } from '../openapi/document.ts'
import { contentReply, type Reply } from '../reply.ts'
import { readRoute } from '../route.ts'

/** The version of the service. */
export const VERSION = '0.1.0'
const ANYWHERE = 'https://tenant.invalid'

/** The tenant's endpoints, as data for tools. */
export const openapiRoutes: readonly Route[] = [
  readRoute('GET /openapi.json', {
    summary: 'Describe the endpoints of the lens',
    needs: 'any valid key',
    answers: { 200: answer(ANY_OBJECT) },
    handle: describe,
  }),
]

function describe(call: Call): MaybePromise<Reply> {
  const { read } = call
  // A commit cannot wait.
  return read.mayYield ? known(call).then((text) => replyOf(call, text)) : replyOf(call, done(textOf(call)))
}

async function known(call: Call): Promise<string> {
  const { read, lens } = call
  const work = () => read.inTurns(textOf(call))
  // Lenses can be combined in many ways; those of one dimension are few enough to be kept.
  if (lens.names.length > 1) return work()
  try {
    return await read.cached([], `openapi ${lens.names[0] ?? ''}`, work)
  } catch (reason) {
    read.forget('Schema')
    throw reason
  }
}

function replyOf({ address }: Call, text: string): Reply {
  const shown = text.replace(JSON.stringify(ANYWHERE), JSON.stringify(address))
  return contentReply(200, { value: () => JSON.parse(shown), text: () => shown })
}

/** The text for whichever host is asked. */
function textOf({ tenant, identity, read, routes, lens: { domains } }: Call): Steps<string> {
  const offers: { readonly [feature in HostFeature]: boolean } = {
    code: tenant.runsCode,
    passwords: identity.passwords !== undefined,
    oidc: identity.oidc !== undefined,
    files: tenant.keepsFiles,
  }
  const offered = routes.all.filter(({ uses }) => uses === undefined || offers[uses])
  const nouns = read.nouns.all.filter(({ domain }) => domains === null || domains.has(domain) || domain === 'custom')
  return openapiText({ routes: offered, nouns, url: ANYWHERE, version: VERSION })
}
