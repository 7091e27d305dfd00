import type { HttpRequest } from '../http.ts'

const NAME = 'tilde_session'
const MOST_SECONDS = 30 * 86_400

/** The value of a cookie, or null. */
export function cookieOf(header: string | undefined, name: string): string | null {
  for (const part of (header ?? '').split(';')) {
    const [key, value = ''] = part.trim().split('=')
    if (key === name && /^[\w~-]{1,200}$/.test(value)) return value
  }
  return null
}

/** The header that gives a browser a cookie for one path. */
export function pathCookie(request: HttpRequest, name: string, value: string, path: string, seconds: number): string {
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure(request)}`
}

/** The session in a Cookie header, or null. */
export function sessionCookie(header: string | undefined): string | null {
  return header?.includes(NAME) ? cookieOf(header, NAME) : null
}

/** The header that gives a browser its session for one tenant. */
export function setCookie(request: HttpRequest, slug: string, secret: string): string {
  return pathCookie(request, NAME, secret, `/~${slug}`, MOST_SECONDS)
}

export function clearCookie(request: HttpRequest, slug: string): string {
  return pathCookie(request, NAME, '', `/~${slug}`, 0)
}

/** Browsers refuse secure cookies from a plain http address; only a machine's own is allowed to be one. */
function secure({ scheme, host }: HttpRequest): string {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  const isLocal = name === 'localhost' || name.endsWith('.localhost') || name === '127.0.0.1' || name === '[::1]'
  return isLocal && scheme === 'http' ? '' : '; Secure'
}
