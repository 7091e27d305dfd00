import { type Field, hasLoneSurrogate, type Json } from '@tildebase/nouns'

/** A value as the text of a CSV cell: a string as itself, unless it is empty or would parse as JSON; all else as JSON. */
export function cellText(value: Json | undefined, safe: boolean): string {
  if (value === undefined) return ''
  if (typeof value !== 'string' || value === '' || asJson(value) !== undefined) return JSON.stringify(value)
  return safe ? guarded(value) : value
}

/** A string that no spreadsheet takes for a formula. */
export function guarded(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

/** A cell as it is in the file: quoted where it must be. */
export function quotedCell(text: string): string {
  const isBare = text.trim().length === text.length && !/[",\r\n]/.test(text)
  return isBare ? text : `"${text.replaceAll('"', '""')}"`
}

/** A name in the header: quoted also where it has what other files separate their cells by. */
export function quotedHeader(text: string): string {
  return /[;|\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : quotedCell(text)
}

/** The value of a cell: by the type of its field, or as JSON if it is JSON, or as the text it is. */
export function cellValue(text: string, field: Field | undefined): Json | undefined {
  if (text === '') return undefined
  const json = asJson(text)
  if (field === undefined || field.kind === 'back') return json === undefined ? text : json.value
  if (field.kind === 'json' || field.kind === 'file' || field.list) return json === undefined ? text : json.value
  if (field.kind === 'number') return typeof json?.value === 'number' ? json.value : text
  if (field.kind === 'boolean') return booleanOf(text) ?? text
  return typeof json?.value === 'string' ? json.value : text
}

/** Whether a cell is JSON with half of a surrogate pair, which is not text. */
export function isHalf(text: string): boolean {
  const json = text.includes('\\u') ? asJson(text) : undefined
  return json !== undefined && hasLoneSurrogate(text, json.value)
}

/** The name of a column. One that is empty, or looks like a JSON text, is written as a JSON text. */
export function headerText(name: string): string {
  return name === '' || typeof asJson(name)?.value === 'string' ? JSON.stringify(name) : name
}

export function headerName(text: string): string {
  const json = asJson(text)?.value
  return typeof json === 'string' ? json : text
}

function booleanOf(text: string): boolean | undefined {
  return { true: true, false: false }[text.trim().toLowerCase()]
}

function asJson(text: string): { readonly value: Json } | undefined {
  // Most texts are not JSON, and a thrown error is dear.
  if (!/^\s*[-0-9"[{tfn]/.test(text) || !/[0-9"\]}el]\s*$/.test(text)) return undefined
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
