import type { Call, HostFeature, Route } from '../call.ts'
import { answer } from '../describe/description.ts'
import { ANY_OBJECT } from '../describe/schema.ts'
import { openapi } from '../openapi/document.ts'
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

function describe(call: Call): Reply {
  const { read, lens, address } = call
  // Lenses can be combined in many ways; those of one dimension are few enough to be kept.
  const text =
    lens.names.length <= 1 ? read.cached([], `openapi ${lens.names[0] ?? ''}`, () => textOf(call)) : textOf(call)
  const shown = text.replace(JSON.stringify(ANYWHERE), JSON.stringify(address))
  return contentReply(200, { value: () => JSON.parse(shown), text: () => shown })
}

/** The text for whichever host is asked. */
function textOf({ tenant, identity, read, routes, lens: { domains } }: Call): string {
  const offers: { readonly [feature in HostFeature]: boolean } = {
    code: tenant.runsCode,
    passwords: identity.passwords !== undefined,
    oidc: identity.oidc !== undefined,
    files: tenant.keepsFiles,
  }
  const offered = routes.all.filter(({ uses }) => uses === undefined || offers[uses])
  const nouns = read.nouns.all.filter(({ domain }) => domains === null || domains.has(domain) || domain === 'custom')
  return JSON.stringify(openapi({ routes: offered, nouns, url: ANYWHERE, version: VERSION }))
}
