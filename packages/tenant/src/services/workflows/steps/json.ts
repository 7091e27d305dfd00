import { type Json, MAX_DEPTH } from '@tildebase/nouns'

/** The value of a JSON text of another service; undefined when it is none, or is nested more deeply than an entity may be. */
export function jsonIn(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json
    return isWithin(value, MAX_DEPTH) ? value : undefined
  } catch {
    return undefined
  }
}

function isWithin(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((one) => isWithin(one as Json, levels - 1))
}
