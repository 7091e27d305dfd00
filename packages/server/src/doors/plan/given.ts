import { DECLARED, type Declaration, didYouMean, type Issue, isPlainObject, Problem } from '@tildebase/nouns'

/** What a plan is asked for: a declaration, and whether things that it does not have are deleted. */
export interface Given extends Declaration {
  readonly prune?: boolean
}

const KEYS: readonly string[] = [...DECLARED, 'renamed', 'prune']
const MOST_PARTS = 1_000

/** Reads the declaration of a request, or refuses it with all its faults. */
export function givenDeclaration(body: unknown): Given {
  if (!isPlainObject(body)) throw invalid([{ field: '', message: 'must be an object such as {"types": {…}}' }])
  const parts = Object.values(body).reduce<number>((sum, kind) => sum + (isPlainObject(kind) ? size(kind) : 1), 0)
  if (parts > MOST_PARTS)
    throw invalid([{ field: '', message: `has ${parts} parts; at most ${MOST_PARTS} are allowed` }])
  const issues = Object.entries(body).flatMap(([key, value]) => issuesOf(key, value))
  if (issues.length > 0) throw invalid(issues)
  return body as Given
}

function issuesOf(key: string, value: unknown): Issue[] {
  if (!KEYS.includes(key))
    return [{ field: key, message: `is unknown${didYouMean(key, KEYS) || `; known are ${KEYS.join(', ')}`}` }]
  if (key === 'prune') return typeof value === 'boolean' ? [] : [{ field: key, message: 'must be true or false' }]
  if (!isPlainObject(value)) return [{ field: key, message: 'must be an object by name' }]
  return Object.entries(value).flatMap(([name, one]) => {
    const field = `${key}.${name}`
    if (!isPlainObject(one)) return [{ field, message: 'must be an object' }]
    return partIssues(key, one).map(([part, message]) => ({ field: `${field}.${part}`, message }))
  })
}

/** What is wrong inside one declared thing, beyond what the route that stores it says. */
function partIssues(key: string, one: { readonly [part: string]: unknown }): [string, string][] {
  const text = (part: string): [string, string][] =>
    typeof one[part] === 'string' && one[part] !== '' ? [] : [[part, 'must be a string']]
  if (key === 'hooks' || key === 'renamed') return Object.keys(one).flatMap(text)
  if (key === 'roles') return text('scopes')
  if (key === 'views') return text('type')
  if (key === 'webhooks')
    return [...text('url'), ...(Array.isArray(one.events) ? [] : [['events', 'must be a list'] as [string, string]])]
  if (key === 'workflows') return Array.isArray(one.steps) ? [] : [['steps', 'must be a list of steps']]
  return []
}

function size(kind: { readonly [name: string]: unknown }): number {
  return Object.values(kind).reduce<number>((sum, one) => sum + (isPlainObject(one) ? Object.keys(one).length : 1), 0)
}

function invalid(details: readonly Issue[]): Problem {
  const list = details.map(({ field, message }) => `${field || 'The declaration'} ${message}`).join('; ')
  return new Problem('invalid_schema', `The declaration is not valid. ${list}.`, { details })
}
