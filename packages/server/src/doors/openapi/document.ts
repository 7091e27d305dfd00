import type { Noun } from '@tildebase/nouns'
import type { Need, Route } from '../call.ts'
import { RESPONSES, SCHEMAS } from './common.ts'
import { type Description, describeFor, describeVerb } from './entity-paths.ts'
import { describeFixed } from './fixed-paths.ts'
import { HEADERS, PARAMETERS } from './parameters.ts'
import { RECORDS } from './records.ts'
import { nounSchemas, type Schema } from './schemas.ts'

/** What a document is made of: the routes, the types that the lens surfaces, and where the tenant is found. */
export interface Subject {
  readonly routes: readonly Route[]
  readonly nouns: readonly Noun[]
  readonly url: string
  readonly version: string
}

type Paths = Map<string, { [method: string]: Schema }>

/** The OpenAPI document of a tenant. */
export function openapi({ routes, nouns, url, version }: Subject): Schema {
  const paths: Paths = new Map()
  const own = new Set(nouns.map(({ name }) => name))
  const plural = new Set(nouns.map(({ path }) => path))
  for (const route of routes) {
    if (!route.path.startsWith('/:type')) addFixed(paths, route, nouns, own, plural)
  }
  for (const noun of nouns) for (const route of routes) addOf(paths, route, noun)
  const domains = [...new Set(nouns.map(({ domain }) => domain))].toSorted()
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tildebase',
      version,
      description: 'Typed business entities with full history. Every type is also available at its plural path.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    security: [{ key: [] }, { session: [] }],
    tags: [
      { name: 'tenant', description: 'Endpoints for the whole tenant.' },
      ...domains.map((name) => ({ name, description: `The types of ${name}.` })),
    ],
    paths: Object.fromEntries([...paths].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'The secret of an ApiKey, or the access token of an agent.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'tilde_session',
          description: 'The session of a person. Writes need its token in X-Tilde-CSRF.',
        },
      },
      schemas: { ...SCHEMAS, ...RECORDS, ...Object.assign({}, ...nouns.map((noun) => nounSchemas(noun, own))) },
      parameters: PARAMETERS,
      responses: RESPONSES,
      headers: HEADERS,
    },
  }
}

/** Adds a path that is not of every type. What is under a type's plural path is under its name too. */
function addFixed(
  paths: Paths,
  route: Route,
  nouns: readonly Noun[],
  own: ReadonlySet<string>,
  plural: ReadonlySet<string>,
): void {
  const [, first = ''] = route.path.split('/')
  if (plural.has(first) && route.path.includes(':id')) return
  // A changeset is described as every type is, with what it has beside.
  if ((first === 'Changeset' || first === 'changesets') && !route.path.endsWith('/effect')) return
  // A path that names a type is surfaced where the type is.
  const isType = /^[A-Z]/.test(first)
  if (isType && !own.has(first)) return
  const described = describeFixed(
    route,
    nouns.map(({ name }) => name),
  )
  const tag = nouns.find(({ name }) => name === first)?.domain ?? 'tenant'
  add(paths, route.path, route, described, tag, route.summary, idOf(route.method, route.path))
}

function addOf(paths: Paths, route: Route, noun: Noun): void {
  if (!route.path.startsWith('/:type')) return
  const at = route.path.replace(':type', noun.name)
  if (!route.path.endsWith('/:verb')) {
    const described = describeFor(noun, route)
    const summary = `${noun.name}: ${route.summary.charAt(0).toLowerCase()}${route.summary.slice(1)}`
    if (described) add(paths, at, route, described, noun.domain, summary, idOf(route.method, at))
    return
  }
  for (const verb of Object.values(noun.verbs)) {
    if (verb.name === 'create') continue
    const path = at.replace(':verb', verb.name)
    const summary = `${noun.name}: ${verb.name}`
    add(paths, path, route, describeVerb(noun, verb), noun.domain, summary, idOf(route.method, path))
  }
}

function add(
  paths: Paths,
  path: string,
  route: Route,
  { description, parameters, requestBody, responses }: Description,
  tag: string,
  summary: string,
  operationId: string,
): void {
  const at = path.replace(/:(\w+)/g, '{$1}') || '/'
  const item = paths.get(at) ?? {}
  paths.set(at, item)
  // Words beat parameters: what was added first is what answers.
  if (item[route.method.toLowerCase()]) return
  item[route.method.toLowerCase()] = {
    operationId,
    summary,
    description: `${description} Needs ${scopeOf(route.needs)}.`,
    tags: [tag],
    'x-scope': scopeOf(route.needs),
    ...(route.needs === 'public' && { security: [{}] }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses,
  }
}

function idOf(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter(Boolean)
  return [method.toLowerCase(), ...(words.length > 0 ? words : ['start'])].join('_')
}

function scopeOf(needs: Need): string {
  if (needs === 'key') return 'any valid key'
  if (needs === 'public') return 'no key'
  if (needs.on === 'type') return `${needs.action} on the type`
  return needs.on === 'area' ? `${needs.action}:${needs.area}` : `${needs.action} on the types involved`
}
