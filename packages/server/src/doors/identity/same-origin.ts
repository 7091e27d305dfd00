import { Problem } from '@tildebase/nouns'
import type { Call } from '../call.ts'

/**
 * Refuses a request that a page of another origin makes a browser send. For what a browser sends without a session's own
 * token: signing in, and the forms of the pages of this service.
 */
export function demandSameOrigin({ request: { headers, host }, context }: Call): void {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none'
  const isKnown = origin === undefined || [host.toLowerCase(), new URL(context).host].includes(hostOf(origin))
  if (!isForeign && isKnown) return
  throw new Problem('forbidden', 'Only the pages of this service may do this in a browser.', { field: 'Origin' })
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : ''
}
