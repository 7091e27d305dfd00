import { UsageError } from '../parse/usage-error.ts'

/** The tokens of a program that a person has connected. */
export interface Tokens {
  readonly key: string
  readonly refresh: string
  /** When the access token expires, in milliseconds since 1970. */
  readonly until: number
}

export const CLIENT = 'tilde-cli'
const TIMEOUT = 30_000

/** Sends a form to an OAuth endpoint of a tenant. Errors are returned as the service sends them. */
export async function oauthForm(
  url: string,
  tenant: string,
  endpoint: string,
  fields: { readonly [name: string]: string },
): Promise<{ readonly [name: string]: unknown }> {
  const response = await fetch(`${url}/~${tenant}/oauth/${endpoint}`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: CLIENT, ...fields }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT),
  }).catch((reason) => {
    throw new UsageError(`${url} cannot be reached: ${(reason as Error).message}`)
  })
  const answer = (await response.json().catch(() => ({}))) as { readonly [name: string]: unknown }
  if (response.status !== 401 || answer.error !== 'unauthorized') return answer
  throw new UsageError(`People cannot sign in to ~${tenant} at ${url}. Use a key: tilde login --key tb_…~${tenant}`)
}

/** The tokens of an answer, or its error. */
export function tokensOf(answer: { readonly [name: string]: unknown }): Tokens {
  const { access_token: key, refresh_token: refresh, expires_in: lasts } = answer
  if (typeof key === 'string' && typeof refresh === 'string')
    return { key, refresh, until: Date.now() + Number(lasts ?? 0) * 1_000 }
  throw new UsageError(String(answer.error_description ?? answer.message ?? 'The service returned no token.'))
}
