import { type Issue, isPlainObject, Problem } from '@tildebase/nouns'

/** One operation of a batch, its form checked. */
export interface Operation {
  readonly id: string
  readonly method: string
  /** Below the tenant, with or without a leading slash; may hold `${op1.$id}`. */
  readonly path: string
  readonly query: { readonly [name: string]: unknown }
  readonly body: unknown
  readonly ifMatch?: string
}

export interface Batch {
  readonly atomic: boolean
  readonly operations: readonly Operation[]
}

const MOST = 100
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Reads the body of a batch, or tells everything that is wrong with its form. */
export function parseBatch(body: unknown): Batch {
  const { atomic = false, operations } = isPlainObject(body) ? body : {}
  if (!Array.isArray(operations)) {
    throw new Problem(
      'invalid_body',
      'Send {"operations": [{"id": "a", "method": "POST", "path": "/Contact", "body": {…}}]}.',
      { field: 'operations' },
    )
  }
  if (operations.length > MOST) {
    throw new Problem('too_many', `A batch may have at most ${MOST} operations; this one has ${operations.length}.`, {
      field: 'operations',
      limit: MOST,
    })
  }
  const issues: Issue[] = []
  if (typeof atomic !== 'boolean') issues.push({ field: 'atomic', message: 'must be true or false' })
  const parsed = operations.map((one, index) => parseOperation(one, index, issues))
  const ids = parsed.map(({ id }) => id)
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) < index) issues.push({ field: `operations.${index}.id`, message: `${id} is already used` })
  }
  if (issues.length === 0) return { atomic: atomic === true, operations: parsed }
  throw new Problem(
    'invalid_body',
    `The batch is not well-formed. ${issues.map(({ field, message }) => `${field}: ${message}`).join('; ')}`,
    { field: issues[0]!.field, details: issues },
  )
}

function parseOperation(given: unknown, index: number, issues: Issue[]): Operation {
  const at = `operations.${index}`
  if (!isPlainObject(given)) issues.push({ field: at, message: 'must be an object with id, method and path' })
  const { id = String(index), method = 'GET', path, query = {}, body, ifMatch } = isPlainObject(given) ? given : {}
  const verb = typeof method === 'string' ? method.toUpperCase() : ''
  if (typeof id !== 'string' || id === '') issues.push({ field: `${at}.id`, message: 'must be a string' })
  if (!METHODS.includes(verb)) issues.push({ field: `${at}.method`, message: `must be one of ${METHODS.join(', ')}` })
  if (typeof path !== 'string' || path === '') issues.push({ field: `${at}.path`, message: 'must be a path' })
  if (!isPlainObject(query)) issues.push({ field: `${at}.query`, message: 'must be an object of parameters' })
  return {
    id: String(id),
    method: verb,
    path: String(path),
    query: isPlainObject(query) ? query : {},
    body,
    ...(ifMatch !== undefined && { ifMatch: typeof ifMatch === 'number' ? `"${ifMatch}"` : String(ifMatch) }),
  }
}
