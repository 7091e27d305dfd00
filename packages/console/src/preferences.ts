import { signal } from '@preact/signals'

/** How the console looks for a person. This browser keeps it, for all tenants. */
export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'normal' | 'dense'
  /** How many rows a page of a list has. */
  readonly pageSize: number
}

export const PAGE_SIZES = [25, 50, 100]

const STORE = 'tildebase.preferences'
const DEFAULTS: Preferences = { theme: 'system', density: 'normal', pageSize: 25 }

export const preferences = signal<Preferences>(stored())

export function prefer(patch: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...patch }
  localStorage.setItem(STORE, JSON.stringify(preferences.value))
}

preferences.subscribe(({ theme, density }) => {
  const { dataset } = document.documentElement
  dataset.theme = theme
  dataset.density = density
})

function stored(): Preferences {
  let kept: Partial<Preferences>
  try {
    kept = JSON.parse(localStorage.getItem(STORE) ?? '{}')
  } catch {
    kept = {}
  }
  const pageSize = PAGE_SIZES.includes(kept.pageSize ?? 0) ? kept.pageSize! : DEFAULTS.pageSize
  return { ...DEFAULTS, ...kept, pageSize }
}
