import type { Call } from '../call.ts'
import type { HttpResponse } from '../http.ts'
import { jsonText } from '../http.ts'
import { openapi } from '../openapi/document.ts'
import type { Route } from '../routes.ts'

const VERSION = '0.1.0'
const ANYWHERE = 'https://tenant.invalid'

/** The tenant's endpoints, as data for tools. */
export const openapiRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/openapi.json',
    needs: 'key',
    mode: 'read',
    summary: 'Describe the endpoints that the lens surfaces',
    handle: describe,
  },
]

function describe(call: Call): HttpResponse {
  const { tenant, lens, context } = call
  // Lenses can be combined in many ways; those of one dimension are few enough to be kept.
  const text =
    lens.names.length <= 1
      ? tenant.cache.get(['Schema'], `openapi ${lens.names[0] ?? ''}`, () => textOf(call))
      : textOf(call)
  return jsonText(200, text.replace(JSON.stringify(ANYWHERE), JSON.stringify(context)))
}

/** The text for whichever host is asked. */
function textOf({ tenant, routes, lens: { domains } }: Call): string {
  const nouns = tenant.nouns.all.filter(({ domain }) => domains === null || domains.has(domain) || domain === 'custom')
  return JSON.stringify(openapi({ routes: routes.all, nouns, url: ANYWHERE, version: VERSION }))
}
