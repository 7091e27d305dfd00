import { Problem } from '@tildebase/nouns'
import { type Call, invalidEscape } from '../call.ts'
import { OAuthError } from './error.ts'

const LONGEST = 65_536
const FORM = 'application/x-www-form-urlencoded'
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** The fields of a form, each once. A field that comes twice could mean one thing here and another elsewhere. */
export function formOf({ request }: Call): ReadonlyMap<string, string> {
  const type = (request.headers['content-type'] ?? FORM).split(';', 1)[0]!.trim().toLowerCase()
  if (type !== FORM)
    throw new Problem('unsupported_media_type', `Send the body as a form, with Content-Type: ${FORM}.`, {
      field: 'Content-Type',
    })
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array()
  if (body.length > LONGEST) throw new OAuthError('invalid_request', 'The form is too long.')
  return fieldsOf(textOf(body))
}

function textOf(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new OAuthError('invalid_request', 'The form is not UTF-8 text.')
  }
}

/** The parameters of a query, likewise. */
export function fieldsOf(text: string): ReadonlyMap<string, string> {
  if (invalidEscape(text) !== null) throw new OAuthError('invalid_request', 'The form is not UTF-8 text.')
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
