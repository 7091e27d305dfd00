import type { Field, JsonObject } from '@tildebase/nouns'
import { loadNouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { setting } from '../service/settings.ts'
import { saveSetting } from '../settings/save-setting.ts'
import { t } from '../texts/text.ts'
import { type Noun, wordsOf } from '../values/noun.ts'
import type { Tone } from '../values/tones.ts'

/** The fields of a type whose words people choose from. */
export function choiceFields(noun: Noun): Field[] {
  return Object.values(noun.fields).filter((field) => field.kind === 'enum' && !field.service)
}

/** The verbs that need a word of a field: it stays as long as they are there. */
export function verbsWith(noun: Noun, field: string, word: string): string[] {
  if (field !== noun.stateField) return []
  const uses = Object.values(noun.verbs).filter(
    ({ set, from, order }) => set?.[field] === word || from?.includes(word) || order?.includes(word),
  )
  return uses.map(({ name }) => name)
}

/** Declares the words of a field in a new order, with new ones and without some. */
export async function saveWords(noun: Noun, field: Field, words: readonly string[]): Promise<void> {
  if (words.join() === wordsOf(field).join()) return
  const { own } = await request<{ own: JsonObject }>('GET', `/schema/${noun.name}`)
  const notation = `${words.join(' | ')}${marksOf(String(noun.notation[field.name] ?? ''))}`
  await request('PUT', `/schema/${noun.name}`, { body: { ...own, [field.name]: notation } })
  await loadNouns()
}

/** Gives words their colours, in the whole tenant. */
export async function saveTones(tones: { readonly [word: string]: Tone }): Promise<void> {
  const known = setting('colours')
  const next = { ...(typeof known === 'object' && known !== null && !Array.isArray(known) ? known : {}), ...tones }
  if (JSON.stringify(next) !== JSON.stringify(known ?? {}))
    await saveSetting('colours', next, t('The colours are saved.'))
}

/** What follows the words in the notation of a field: several, required, indexed, the default. */
function marksOf(notation: string): string {
  return /(?:\[\])?[!#]*(?:\s*=.*)?$/.exec(notation)?.[0] ?? ''
}
