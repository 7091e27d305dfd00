import { Problem } from '@tildebase/nouns'
import type { HttpRequest } from '../http.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Refuses MCP to pages of other sites, and under names that are not ours, as the protocol demands: a name that was made
 * to lead here would let its page speak to a server that only its reader can reach.
 */
export function refuseForeign({ host, headers }: HttpRequest, hostSuffix: string, others: readonly string[]): void {
  const isOurs = (name: string) =>
    LOOPBACK.has(name) || name === hostSuffix || name.endsWith(`.${hostSuffix}`) || others.includes(name)
  const name = hostname(`http://${host}`)
  // An address cannot be made to lead elsewhere.
  if (name === null || !(isOurs(name) || isAddress(name))) throw foreign('Host', host)
  const { origin } = headers
  if (origin === undefined || others.includes('*')) return
  const page = hostname(origin)
  if (page === null || !(isOurs(page) || page === name)) throw foreign('Origin', origin)
}

function hostname(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : null
}

function isAddress(name: string): boolean {
  return name.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(name)
}

function foreign(header: 'Host' | 'Origin', value: string): Problem {
  const setting = header === 'Host' ? 'TILDE_BASE_URL or TILDE_HOST_SUFFIX' : 'TILDE_MCP_ORIGINS'
  return new Problem(
    'forbidden',
    `MCP is not allowed for the ${header} ${value.slice(0, 100)}. The operator can allow it with ${setting}.`,
    {
      field: header,
    },
  )
}
