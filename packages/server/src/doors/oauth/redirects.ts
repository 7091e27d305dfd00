const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])
/** Schemes that run in a browser or read files of its machine. */
const FORBIDDEN = new Set([
  'javascript:',
  'data:',
  'file:',
  'blob:',
  'about:',
  'vbscript:',
  'view-source:',
  'ws:',
  'wss:',
])
const LONGEST = 2_000

/** Why a redirect URI cannot be registered, or null. */
export function redirectFault(uri: unknown): string | null {
  if (typeof uri !== 'string' || uri.length > LONGEST || !URL.canParse(uri)) return 'is not a URI'
  const { protocol, hostname, hash, username, password } = new URL(uri)
  // A host may contain letters that end a directive of the Content-Security-Policy.
  if (/[^\w.:[\]-]/.test(hostname)) return 'has a host with letters that are not allowed'
  if (hash !== '' || uri.includes('#')) return 'has a fragment'
  if (username !== '' || password !== '') return 'has a user name or a password'
  if (FORBIDDEN.has(protocol)) return `has the scheme ${protocol}`
  if (protocol === 'http:' && !LOOPBACK.has(hostname)) return 'is http, which is allowed for loopback addresses only'
  return null
}

/** Whether a client registered a redirect URI. On a machine's own address the port is the program's choice of the moment. */
export function isRegistered(uris: readonly string[], asked: string): boolean {
  return redirectFault(asked) === null && uris.some((one) => one === asked || withoutPort(one) === withoutPort(asked))
}

/** The source that a page may send its form on to, for the Content-Security-Policy. */
export function formTarget(uri: string): string {
  const { protocol, host } = new URL(uri)
  return protocol === 'http:' || protocol === 'https:' ? `${protocol}//${host}` : protocol
}

/** The redirect URI with parameters behind its own. */
export function redirectTo(uri: string, parameters: { readonly [name: string]: string | null | undefined }): string {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(parameters)) if (value) url.searchParams.append(name, value)
  return url.href
}

function withoutPort(uri: string): string | symbol {
  const url = new URL(uri)
  if (url.protocol !== 'http:' || !LOOPBACK.has(url.hostname)) return Symbol(uri)
  url.port = ''
  return url.href
}
