import type { Json, JsonObject } from '@tildebase/nouns'

/**
 * Reads some fields of a state from its stored text, as `JSON.stringify` wrote it. Texts are cut out, since parsing takes most of
 * the time of a scan. Where that is not certain, the whole state is parsed.
 */
export function fieldReader(names: readonly string[]): (stored: string) => JsonObject {
  const keys = names.map((name) => [name, `${JSON.stringify(name)}:`] as const)
  return (stored) => {
    // With an object inside, a key may be one of that object.
    if (stored.indexOf('{', 1) !== -1) return JSON.parse(stored)
    const found: { [name: string]: Json } = {}
    for (const [name, key] of keys) {
      const at = stored.indexOf(key)
      if (at === -1) continue
      const text = textAfter(stored, at, key.length)
      if (text === null) return JSON.parse(stored)
      found[name] = text
    }
    return found
  }
}

/** The text that follows a key; null if it is not a text, has escapes, or the key is the end of a longer one. */
function textAfter(stored: string, at: number, length: number): string | null {
  const before = stored[at - 1]
  const start = at + length + 1
  if ((before !== '{' && before !== ',') || stored[start - 1] !== '"') return null
  const text = stored.slice(start, stored.indexOf('"', start))
  return text.includes('\\') ? null : text
}
