import type { HttpRequest } from '../http.ts'
import { cookieOf } from '../identity/cookie.ts'
import { Html, html, type Language } from './html.ts'
import { GERMAN, HEBREW, type Texts } from './texts.ts'

/** The cookie in which the console keeps the language that a reader chose. */
const COOKIE = 'tilde_language'

const LANGUAGES = {
  en: languageFrom('en', 'ltr', {}),
  de: languageFrom('de', 'ltr', GERMAN),
  he: languageFrom('he', 'rtl', HEBREW),
}

/** The language that a reader chose in the console, or else the first of the browser's that there is. */
export function languageOf({ headers }: Pick<HttpRequest, 'headers'>): Language {
  const chosen = cookieOf(headers.cookie, COOKIE)
  const wanted = (headers['accept-language'] ?? '').split(',').map((one) => one.trim().slice(0, 2).toLowerCase())
  const code = [chosen ?? '', ...wanted].find((one) => Object.hasOwn(LANGUAGES, one)) ?? 'en'
  return LANGUAGES[code as keyof typeof LANGUAGES]
}

function languageFrom(code: string, dir: 'ltr' | 'rtl', texts: Texts): Language {
  const say: Language['say'] = (english, ...values) => {
    const parts = (Object.hasOwn(texts, english) ? texts[english]! : english).split('{}')
    return new Html(parts.map((part, at) => html`${at > 0 && values[at - 1]}${part}`.text).join(''))
  }
  return { code, dir, texts, say }
}
