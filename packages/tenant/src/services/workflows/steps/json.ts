import { type Json, tooMuch } from '@tildebase/nouns'

/** The value of a JSON text of another service; undefined when it is none, or is nested too deeply or too long. */
export function jsonIn(text: string): Json | undefined {
  try {
    return tooMuch(text) === null ? (JSON.parse(text) as Json) : undefined
  } catch {
    return undefined
  }
}
