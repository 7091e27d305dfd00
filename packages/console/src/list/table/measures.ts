import { signal } from '@preact/signals'
import { place } from '../../place.ts'
import type { Noun } from '../../values/noun.ts'

/** How wide the columns of a list are, and how many of them stay in sight when it scrolls to the side. */
export interface Measures {
  readonly widths: { readonly [column: string]: number }
  readonly frozen: number
}

const STORE = 'tildebase.widths'
const LEAST = 64
const MOST = 800
const NONE: Measures = { widths: {}, frozen: 1 }

const all = signal<{ readonly [list: string]: Measures }>(stored())

/** The measures of a type's list in this browser. */
export function measuresOf(noun: Noun): Measures {
  return all.value[keyOf(noun)] ?? NONE
}

/** Makes a column as wide as this; null gives it the width of its content. */
export function setWidth(noun: Noun, column: string, width: number | null): void {
  const { [column]: _, ...others } = measuresOf(noun).widths
  const bounded = width === null ? null : Math.round(Math.min(Math.max(width, LEAST), MOST))
  keep(noun, { ...measuresOf(noun), widths: bounded === null ? others : { ...others, [column]: bounded } })
}

/** Keeps the first columns in sight. */
export function setFrozen(noun: Noun, frozen: number): void {
  keep(noun, { ...measuresOf(noun), frozen })
}

export function resetMeasures(noun: Noun): void {
  keep(noun, NONE)
}

function keep(noun: Noun, measures: Measures): void {
  all.value = { ...all.value, [keyOf(noun)]: measures }
  localStorage.setItem(STORE, JSON.stringify(all.value))
}

function keyOf(noun: Noun): string {
  return `${place.value.tenant}/${noun.name}`
}

function stored(): { readonly [list: string]: Measures } {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? '{}')
  } catch {
    return {}
  }
}
