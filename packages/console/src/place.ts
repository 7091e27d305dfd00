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

/** Asks before the path is left, when something would be lost by it. */
interface Guard {
  isNeeded(): boolean
  ask(): Promise<boolean>
}

let guard: Guard | null = null

/** Sets what is asked before another path is shown. */
export function guardPlace(next: Guard): void {
  guard = next
}

let shown = location.hash
/** The number of the shown entry in the browser's history, so that a step in it can be taken back. */
let entry = entryNumber() ?? 0
history.replaceState({ entry }, '')

const show = () => {
  if (location.hash === shown) return
  entry = entryNumber() ?? entry + 1
  history.replaceState({ entry }, '')
  shown = location.hash
  place.value = parse(shown)
}

window.addEventListener('hashchange', () => {
  if (location.hash === shown) return
  if (!guard?.isNeeded() || !leaves(location.hash)) return show()
  // A link or the back button: the browser is there already, and goes back until people have decided.
  const step = (entryNumber() ?? entry + 1) - entry
  history.go(-step)
  void guard.ask().then((isLeft) => isLeft && history.go(step))
})

function entryNumber(): number | null {
  const state = history.state as { readonly entry?: number } | null
  return state?.entry ?? null
}

/** Whether an address leads to another path than the one that is shown. */
function leaves(address: string): boolean {
  const { tenant, path } = parse(address)
  return tenant !== place.value.tenant || path.join('/') !== place.value.path.join('/')
}

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
  if (guard?.isNeeded() && leaves(address)) return void guard.ask().then((isLeft) => isLeft && goTo(address))
  location.hash = address
  show()
}

/** Changes how the place is looked at, without leaving it and without a step in the browser's history. */
export function look(patch: { readonly [name: string]: string | null }): void {
  const { path, query } = place.value
  history.replaceState({ entry }, '', href(path, { ...Object.fromEntries(query), ...patch }))
  show()
}

/** Moves the whole page to a time; null is the present. */
export function travel(time: string | null): void {
  look({ asOf: time })
}

/** Moves to another tenant, at its front page and in the present. */
export function enter(tenant: string): void {
  if (place.value.tenant === tenant) return
  history.replaceState({ entry }, '', `#/~${tenant}`)
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
