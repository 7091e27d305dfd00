import { didYouMean } from '../nearest.ts'
import type { JsonObject } from '../noun.ts'
import { listed, pluralPath } from './english.ts'
import type { Tell } from './parse-field.ts'

/** The `$` names of a notation, which describe the whole type. */
const ABOUT = ['$domain', '$path', '$strict', '$timers', '$unique', '$guarded', '$start']
const DOMAIN = /^[a-z][a-z0-9-]{0,63}$/
const RESERVED_DOMAINS = ['all']
const RESERVED_PATHS = [
  'events',
  'batch',
  'metrics',
  'mcp',
  'schema',
  'import',
  'export',
  'sync',
  'manifest',
  'checkpoint',
  'proof',
  'consistency',
  'secrets',
  'asks',
  'tasks',
  'files',
  'uploads',
  'inbox',
]

/** Reads the domain, the path and the strictness of a type. Reports every error, and every unknown `$` name. */
export function parseAbout(name: string, notation: JsonObject, tellOf: (field: string) => Tell) {
  for (const key of Object.keys(notation)) {
    if (key.startsWith('$') && !ABOUT.includes(key))
      tellOf(key)(`is unknown; the known names are ${listed(ABOUT, 'and')}${didYouMean(key, ABOUT)}`)
  }
  const { $domain: domain = 'custom', $path: path = pluralPath(name), $strict: strict = false } = notation
  if (typeof domain !== 'string' || !DOMAIN.test(domain) || RESERVED_DOMAINS.includes(domain)) {
    tellOf('$domain')('must have only lower-case letters, digits and -, such as crm, and must not be all')
  }
  if (typeof path !== 'string' || !DOMAIN.test(path))
    tellOf('$path')('must have only lower-case letters, digits and -, such as api-keys')
  else if (RESERVED_PATHS.includes(path) && path !== pluralPath(name))
    tellOf('$path')(`cannot be ${path}, which is a path of the service`)
  if (typeof strict !== 'boolean') tellOf('$strict')('must be true or false')
  return { domain: String(domain), path: String(path), strict: strict === true }
}
