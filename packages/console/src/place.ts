import { computed, signal } from '@preact/signals'

/** Where the page is: a tenant, the path within it, and how it is looked at. All of it is in the address. */
export interface Place {
  readonly tenant: string | null
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

export const place = signal<Place>(parse(location.hash))

/** The time the page shows, or null for the present. */
export const asOf = computed(() => place.value.query.get('asOf'))

let shown = location.hash
const show = () => {
  if (location.hash === shown) return
  shown = location.hash
  place.value = parse(shown)
}
window.addEventListener('hashchange', show)

/** The address of a path in this tenant. The time travels along. */
export function href(
  path: readonly string[],
  query: { readonly [name: string]: string | null | undefined } = {},
): string {
  const { tenant } = place.value
  const given = Object.entries({ asOf: asOf.value, ...query }).filter((pair): pair is [string, string] => !!pair[1])
  const search = new URLSearchParams(given).toString()
  const segments = [`~${tenant ?? ''}`, ...path].map((segment) => encodeURIComponent(segment).replace(/^%7E/, '~'))
  return `#/${segments.join('/')}${search === '' ? '' : `?${search}`}`
}

export function go(path: readonly string[], query: { readonly [name: string]: string | null | undefined } = {}): void {
  goTo(href(path, query))
}

/** Goes to an address now. The browser reports it later, and the next key belongs to the new page already. */
export function goTo(address: string): void {
  location.hash = address
  show()
}

/** Changes how the place is looked at, without leaving it and without a step in the browser's history. */
export function look(patch: { readonly [name: string]: string | null }): void {
  const { path, query } = place.value
  history.replaceState(null, '', href(path, { ...Object.fromEntries(query), ...patch }))
  show()
}

/** Moves the whole page to a time; null is the present. */
export function travel(time: string | null): void {
  look({ asOf: time })
}

/** Moves to another tenant, at its front page and in the present. */
export function enter(tenant: string): void {
  if (place.value.tenant === tenant) return
  history.replaceState(null, '', `#/~${tenant}`)
  show()
}

function parse(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const segments = path.split('/').filter(Boolean).map(decode)
  const tenant = segments[0]?.startsWith('~') ? segments[0].slice(1) || null : null
  return { tenant, path: segments.slice(1), query: new URLSearchParams(search) }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
