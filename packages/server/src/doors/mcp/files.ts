import { isFileValue, isoOf, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { Call } from '../call.ts'
import { linkTo } from '../files/links.ts'
import { asOfParam } from '../rest/params.ts'

/** A larger file is a link. */
const LARGEST_TEXT = 16_384
/** More text in one answer is links as well. */
const MOST_TEXT = 65_536
const MOST_FILES = 20
const LINK_MS = 600_000
const TEXTS = /^(?:text\/[a-z0-9.+-]+|application\/(?:(?:[a-z0-9.-]+\+)?(?:json|xml)|yaml|x-ndjson|sql|toml))$/

/** The content of a file as text, or a link to it. */
type Shown =
  | { readonly text: string }
  | { readonly url: string; readonly expires: string }
  | { readonly unavailable: string }

/** An entity with the content of its files in `$files`: that of small text files, and links to all others. */
export async function withFiles(call: Call, noun: Noun, id: string, entity: object): Promise<object> {
  const state = entity as JsonObject
  const found: { [field: string]: Shown | Shown[] } = {}
  let room = MOST_TEXT
  let files = MOST_FILES
  for (const field of Object.values(noun.fields)) {
    const { name, kind } = field
    if (kind !== 'file') continue
    const values = [state[name]].flat().filter(isFileValue)
    const shown: Shown[] = []
    for (const n of values.keys()) {
      if (files-- <= 0) break
      const one = await show(call, noun, { id, field: name, n: field.list ? n : null }, state, room)
      if ('text' in one) room -= one.text.length
      shown.push(one)
    }
    if (shown.length > 0) found[name] = field.list ? shown : shown[0]!
  }
  return Object.keys(found).length === 0 ? entity : { ...entity, $files: found }
}

interface Place {
  readonly id: string
  readonly field: string
  readonly n: number | null
}

async function show(call: Call, noun: Noun, place: Place, state: JsonObject, room: number): Promise<Shown> {
  const { files } = call.tenant
  try {
    const { value, read } = files.open(noun, place.id, state, place.field, place.n)
    const isSmall = TEXTS.test(value.type) && value.size <= Math.min(LARGEST_TEXT, room)
    const text = isSmall ? await textIn(read(0, value.size)) : null
    if (text !== null) return { text }
    const until = files.now + LINK_MS
    return { url: linkTo(call, noun, place, asOfParam(call, noun), until), expires: isoOf(until) }
  } catch (reason) {
    // The entity is still worth reading when a file cannot be.
    if (reason instanceof Problem) return { unavailable: reason.message }
    throw reason
  }
}

/** The text of bytes in UTF-8; null when they are something else. */
async function textIn(bytes: AsyncIterable<Uint8Array>): Promise<string | null> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  try {
    for await (const chunk of bytes) text += decoder.decode(chunk, { stream: true })
    return text + decoder.decode()
  } catch (reason) {
    if (reason instanceof TypeError) return null
    throw reason
  }
}
