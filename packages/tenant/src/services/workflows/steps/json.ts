import { isDeeper, type Json } from '@tildebase/nouns'

/** The value of a JSON text of another service; undefined when it is none, or is nested more deeply than an entity may be. */
export function jsonIn(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json
    return isDeeper(value) ? undefined : value
  } catch {
    return undefined
  }
}
