import { signal } from '@preact/signals'
import { LANGUAGES, type Language } from './texts/languages.ts'

/** How the console looks for a person. This browser keeps it, for all tenants. */
export interface Preferences {
  readonly language: Language
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'normal' | 'dense'
  /** How many rows a page of a list has. */
  readonly pageSize: number
  /** Whether the reader has moved the page in time; the list of first steps asks for it. */
  readonly hasTravelled: boolean
}

export const PAGE_SIZES = [25, 50, 100]

const YEAR_SECONDS = 31_536_000
const STORE = 'tildebase.preferences'
const DEFAULTS: Preferences = { language: 'en', theme: 'system', density: 'normal', pageSize: 25, hasTravelled: false }

export const preferences = signal<Preferences>(typeof localStorage === 'undefined' ? DEFAULTS : stored())

export function prefer(patch: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...patch }
  localStorage.setItem(STORE, JSON.stringify(preferences.value))
  if (patch.language) tellPages(patch.language)
}

/** The server writes the pages for signing in: it learns the language from a cookie. */
function tellPages(language: Language): void {
  // biome-ignore lint/suspicious/noDocumentCookie: some browsers have no Cookie Store API
  document.cookie = `tilde_language=${language}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`
}

preferences.subscribe(({ theme, density }) => {
  if (typeof document === 'undefined') return
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
  const language = Object.hasOwn(LANGUAGES, kept.language ?? '') ? kept.language! : DEFAULTS.language
  return { ...DEFAULTS, ...kept, pageSize, language }
}
