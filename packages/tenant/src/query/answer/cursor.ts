import { Problem } from '@tildebase/nouns'
import type { CursorPosition } from '../plan/order.ts'

/** A cursor: a position in the result of one query, which its digest names, opaque to clients. */
export function writeCursor(question: string, place: CursorPosition): string {
  const json = JSON.stringify([question, ...place]).replace(/[^ -~]/g, escaped)
  return btoa(json).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The place that a cursor names. One of another question, or no cursor at all, is a Problem. */
export function readCursor(question: string, cursor: string, values: number): CursorPosition {
  const [asked, ...place] = decoded(cursor)
  if (asked !== undefined && asked !== question) {
    throw new Problem(
      'invalid_cursor',
      'This cursor belongs to another filter or sort. Start again without a cursor.',
      { field: 'cursor' },
    )
  }
  if (!isPlace(place) || place.length !== values + 1) {
    throw new Problem('invalid_cursor', 'cursor must be the cursor of the previous page, unchanged.', {
      field: 'cursor',
    })
  }
  return place
}

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function decoded(cursor: string): readonly unknown[] {
  try {
    const text = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0))
    const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return Array.isArray(json) ? json : []
  } catch {
    return []
  }
}

function isPlace(place: readonly unknown[]): place is CursorPosition {
  return (
    Number.isSafeInteger(place[0]) &&
    place
      .slice(1)
      .every(
        (value) => value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)),
      )
  )
}

/** A short digest (FNV-1a, twice 32 bits): tells questions apart, and protects nothing. */
export function digest(text: string): string {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193)
    b = Math.imul(b ^ text.charCodeAt(i), 0x85ebca6b)
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36)
}
