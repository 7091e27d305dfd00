/** The languages of the console. English is in the program itself. */
export const LANGUAGES = {
  en: { name: 'English', dir: 'ltr' },
  de: { name: 'Deutsch', dir: 'ltr' },
  he: { name: 'עברית', dir: 'rtl' },
} as const

export type Language = keyof typeof LANGUAGES

/** The texts of a language, by the English ones. */
export type Texts = { readonly [english: string]: string }
