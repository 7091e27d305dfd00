import { Problem } from '@tildebase/nouns'

/** Where a request is addressed to, before anything is opened. */
export interface RequestTarget {
  /** The tenant of `/~{tenant}`, or null on the paths outside tenants. */
  readonly tenant: string | null
  /** The subdomain's labels and the path segments before the tenant, in that order. */
  readonly dimensions: readonly string[]
  /** The decoded segments after the tenant, or the whole path when there is none. */
  readonly segments: readonly string[]
  /** {base_url}: the scheme and the host without its lens. */
  readonly baseUrl: string
}

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const NEUTRAL = new Set(['db', 'api', 'www'])
const HOST = /^(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/
const TILDE = /^(?:~|%7e)/i
const MAX_PATH = 4_096

/** Finds tenant, lens and path of a request. Nothing that is not a slug goes further than this. */
export function targetOf(scheme: string, host: string, path: string, hostSuffix: string): RequestTarget {
  if (path.length > MAX_PATH)
    throw new Problem('invalid_path', `The path is longer than ${MAX_PATH} characters.`, { limit: MAX_PATH })
  const { labels, baseUrl } = doorOf(scheme, host, hostSuffix)
  const dimensions = [...labels]
  let segments: string[] = []
  let tenant: string | null = null
  const raw = path.split('/')
  const end = raw.at(-1) === '' ? raw.length - 1 : raw.length
  for (let i = 1; i < end; i++) {
    const segment = raw[i]!
    if (tenant === null && TILDE.test(segment)) {
      tenant = slugOf(segment.slice(segment.startsWith('~') ? 1 : 3))
      dimensions.push(...segments)
      segments = []
    } else if (segment === '') throw new Problem('invalid_path', 'The path has an empty segment: two slashes in a row.')
    else segments.push(decode(segment))
  }
  return { tenant, dimensions, segments, baseUrl }
}

/** What the host of a request says. Most requests come to the host of the one before. */
function doorOf(scheme: string, host: string, suffix: string): Door {
  if (host !== last.host || scheme !== last.scheme || suffix !== last.suffix) {
    const { labels, base } = splitHost(host, suffix)
    last = { scheme, host, suffix, labels, baseUrl: `${scheme}://${base}` }
  }
  return last
}

interface Door {
  readonly scheme: string
  readonly host: string
  readonly suffix: string
  readonly labels: readonly string[]
  readonly baseUrl: string
}

let last: Door = { scheme: '', host: '', suffix: '', labels: [], baseUrl: '' }

export function isSlug(text: string): boolean {
  return SLUG.test(text)
}

/** The slug, or a problem: it must not reach a file name otherwise. */
export function slugOf(text: string): string {
  if (isSlug(text)) return text
  throw new Problem(
    'invalid_tenant',
    'A tenant name has 1 to 63 lower-case letters, digits and hyphens, and begins and ends with a letter or digit.',
    { field: 'tenant' },
  )
}

/** The lens labels of a host, and the host without them. */
function splitHost(host: string, suffix: string): { labels: string[]; base: string } {
  if (host.length > 255 || !HOST.test(host)) throw notAHost()
  const [, name = '', port = ''] = /^(.*?)(:\d+)?$/.exec(host.toLowerCase()) ?? []
  // A name that ends with a dot is the same name, written in full.
  const full = name.replace(/\.$/, '')
  if (!full.endsWith(`.${suffix}`)) return { labels: [], base: host || suffix }
  const labels = full
    .slice(0, -suffix.length - 1)
    .split('.')
    .filter((label) => !NEUTRAL.has(label))
  return { labels, base: `${suffix}${port}` }
}

/** The problem of a Host header that is not a host name. */
export function notAHost(): Problem {
  return new Problem('invalid_path', 'The Host header is not a host name.', { field: 'Host' })
}

/** A path segment without its escapes. */
export function decode(segment: string): string {
  const text = segment.includes('%') ? unescaped(segment) : segment
  if (text.includes('/') || text.includes('\0')) {
    throw new Problem('invalid_path', 'A path segment must not contain a slash or a null character.')
  }
  return text
}

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Problem('invalid_path', `The path has an invalid escape sequence: ${segment.slice(0, 60)}.`)
  }
}

/** Whether a path is a link to the content of a file. */
export function isLinkPath(segments: readonly string[]): boolean {
  return segments[0] === 'files' && segments.length === 2
}

/** Paths below a tenant that a sender without a key may ask for: to sign in, or to connect an agent. */
const OPEN = new Set(['session', 'invitation', 'oauth', '.well-known', 'decide'])

/**
 * Whether a path may be open to requests without a key. The route decides; this is a check before the tenant is opened.
 */
export function isOpenPath(segments: readonly string[]): boolean {
  return segments[0] !== undefined && (OPEN.has(segments[0]) || isLinkPath(segments))
}
