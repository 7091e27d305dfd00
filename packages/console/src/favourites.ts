import { signal } from '@preact/signals'
import { place } from './place.ts'

/** A place that a person keeps in the sidebar: a list as it looks, an entity, or a page. */
export interface Favourite {
  readonly label: string
  readonly path: readonly string[]
  readonly query: { readonly [name: string]: string }
}

const STORE = 'tildebase.favourites'
/** Parts of the address that are about one visit. */
const PASSING = new Set(['asOf', 'page', 'new', 'compare'])

const all = signal<{ readonly [tenant: string]: readonly Favourite[] }>(stored())

/** The favourites of this browser in this tenant, in the order in which they were added. */
export function favourites(): readonly Favourite[] {
  return all.value[place.value.tenant ?? ''] ?? []
}

/** Whether the place that is shown is a favourite. */
export function isFavourite(): boolean {
  const here = keyOf(current(''))
  return favourites().some((one) => keyOf(one) === here)
}

/** Keeps the place that is shown under a label, or lets it go. */
export function toggleFavourite(label: string): void {
  const here = current(label)
  const others = favourites().filter((one) => keyOf(one) !== keyOf(here))
  const next = others.length < favourites().length ? others : [...others, here]
  all.value = { ...all.value, [place.value.tenant ?? '']: next }
  localStorage.setItem(STORE, JSON.stringify(all.value))
}

function current(label: string): Favourite {
  const { path, query } = place.value
  return { label, path, query: Object.fromEntries([...query].filter(([name]) => !PASSING.has(name))) }
}

function keyOf({ path, query }: Favourite): string {
  return JSON.stringify([path, Object.entries(query).sort()])
}

function stored(): { readonly [tenant: string]: readonly Favourite[] } {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? '{}')
  } catch {
    return {}
  }
}
