import type { Call } from '../call.ts'
import { OAuthError } from './error.ts'

const LONGEST = 65_536

/** The fields of a form, each once. A field that comes twice could mean one thing here and another elsewhere. */
export function formOf({ request }: Call): ReadonlyMap<string, string> {
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array()
  if (body.length > LONGEST) throw new OAuthError('invalid_request', 'The form is too long.')
  return fieldsOf(new TextDecoder().decode(body))
}

/** The parameters of a query, likewise. */
export function fieldsOf(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw new OAuthError('invalid_request', `${name.slice(0, 40)} occurs twice.`)
    fields.set(name, value)
  }
  return fields
}

/** A field that must be there. */
export function needed(fields: ReadonlyMap<string, string>, name: string): string {
  const value = fields.get(name)
  if (value) return value
  throw new OAuthError('invalid_request', `${name} is required.`)
}
