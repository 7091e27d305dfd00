import type { Texts } from './translate.ts'

/** The languages of the console. English is in the program itself. */
export const LANGUAGES = {
  en: { name: 'English', dir: 'ltr' },
  de: { name: 'Deutsch', dir: 'ltr' },
  he: { name: 'עברית', dir: 'rtl' },
} as const

export type Language = keyof typeof LANGUAGES

/** The texts of a language; null for English. */
export async function loadTexts(language: Language): Promise<Texts | null> {
  if (language === 'de') return (await import('./de.ts')).default
  return language === 'he' ? (await import('./he.ts')).default : null
}
