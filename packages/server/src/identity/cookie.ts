import type { HttpRequest } from '../http.ts'

const NAME = 'tilde_session'
const MOST_SECONDS = 30 * 86_400

/** The session in a Cookie header, or null. */
export function sessionCookie(header: string | undefined): string | null {
  if (header === undefined || !header.includes(NAME)) return null
  return /(?:^|; *)tilde_session=([\w~-]{1,200})(?:;|$)/.exec(header)?.[1] ?? null
}

/** The header that gives a browser its session for one tenant. */
export function setCookie(request: HttpRequest, slug: string, secret: string): string {
  return `${NAME}=${secret}; Path=/~${slug}; Max-Age=${MOST_SECONDS}; HttpOnly; SameSite=Lax${secure(request)}`
}

export function clearCookie(request: HttpRequest, slug: string): string {
  return `${NAME}=; Path=/~${slug}; Max-Age=0; HttpOnly; SameSite=Lax${secure(request)}`
}

/** Browsers refuse secure cookies from a plain http address; only a machine's own is allowed to be one. */
function secure({ scheme, host }: HttpRequest): string {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  const isLocal = name === 'localhost' || name.endsWith('.localhost') || name === '127.0.0.1' || name === '[::1]'
  return isLocal && scheme === 'http' ? '' : '; Secure'
}
