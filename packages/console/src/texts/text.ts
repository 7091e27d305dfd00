import type { Json } from '@tildebase/nouns'
import { preferences } from '../preferences.ts'
import { LANGUAGES, type Language } from './languages.ts'

type Value = Json | undefined

// Everything that draws imports this file, so the texts are there before the first of them is asked for.
const language = typeof document === 'undefined' ? 'en' : preferences.value.language
const loaded = await loadTexts(language).catch(() => null)
const texts = loaded?.default ?? null

/** A sentence of the service in the reader's language; null if the console does not have it. */
export const answer = loaded?.answer

if (texts !== null) {
  document.documentElement.lang = language
  document.documentElement.dir = LANGUAGES[language].dir
}

/**
 * A text of the console in the reader's language: `t('New {}', name)`. Each `{}` is one of the values; a translation
 * with another order of words numbers them: `{1} {0}`.
 */
export function t(english: string, ...values: readonly Value[]): string {
  return filled(texts?.[english] ?? english, values)
}

/** A word that a type, a field or a choice is called by, in the reader's language if it is one of the product's own. */
export function word(english: string): string {
  return texts !== null && Object.hasOwn(texts, english) ? texts[english]! : english
}

/** Whether the texts are not the English ones of the program. */
export const isTranslated = texts !== null

/** Whether words inside a sentence are written as in English: with small letters. */
export const hasSmallNouns = language !== 'de'

/** A text with its values in their places. */
export function filled(text: string, values: readonly Value[]): string {
  let at = 0
  return text.replace(/\{(\d?)\}/g, (_, number: string) => String(values[number === '' ? at++ : Number(number)] ?? ''))
}

async function loadTexts(name: Language) {
  if (name === 'de') return import('./de/index.ts')
  return name === 'he' ? import('./he/index.ts') : null
}
