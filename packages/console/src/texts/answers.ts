import type { Texts } from './languages.ts'

/** How the texts of a language are written: with values in their places, and with the labels of names. */
export interface Writing {
  readonly fill: (text: string, values: readonly string[]) => string
  readonly label: (name: string) => string
}

/**
 * A sentence of the service in the language of these templates; null if none fits. For a sentence without a template, the
 * code of the error says it. This file imports nothing of the console: `text.ts` waits for the languages, which import it.
 */
export function answerIn(templates: Texts, english: string, code: string, writing: Writing): string | null {
  for (const [template, other] of Object.entries(templates)) {
    const values = valuesIn(english, template)
    if (values === null) continue
    return writing.fill(
      other,
      values.map((value) => answerIn(templates, value, '', writing) ?? labelled(value, writing)),
    )
  }
  return templates[code] ?? null
}

/** The values of a sentence that was made of a template; null for any other sentence. */
function valuesIn(english: string, template: string): string[] | null {
  const parts = template.split('{}').map((part) => part.replace(/[^\w ]/g, '\\$&'))
  return new RegExp(`^${parts.join('(.+?)')}$`).exec(english)?.slice(1) ?? null
}

/** Names by their labels, also in a list: `a Contact or an Organization`. */
function labelled(value: string, { label }: Writing): string {
  const names = value.split(/, | or | and /)
  return names.map((name) => label(name.replace(/^an? /, ''))).join(', ')
}
