import type { Noun, Verb } from '@tildebase/nouns'
import type { Steps } from '@tildebase/tenant'
import type { Route } from '../call.ts'
import { HEADERS, PARAMETERS } from '../describe/parameters.ts'
import { RECORDS } from '../describe/records/records.ts'
import type { Schema } from '../describe/schema.ts'
import { nounSchemas } from '../describe/types.ts'
import { addOperation, type Paths, sorted } from './operation.ts'
import { errorResponses, SCHEMAS } from './responses.ts'

/** What a document is made of: the routes, the types that the lens surfaces, and where the tenant is found. */
export interface Subject {
  readonly routes: readonly Route[]
  readonly nouns: readonly Noun[]
  readonly url: string
  readonly version: string
}

/** The text of a tenant's OpenAPI document, in steps: a tenant may have many types. */
export function* openapiText(subject: Subject): Steps<string> {
  const { nouns } = subject
  const paths = yield* pathsOf(subject)
  const schemas = yield* membersOf(Object.entries({ ...SCHEMAS, ...RECORDS, ...(yield* nounSchemas(nouns)) }))
  const operations = yield* membersOf(sorted(paths))
  // Both are put into the text as text: to write them as a part of the whole would take as long once more.
  const [before, between, after] = JSON.stringify(frameOf(subject)).split(/"(?:PATHS|TYPES)"/)
  return `${before}{${operations}}${between}{${schemas}}${after}`
}

/** How many members of an object are written in a step. */
const MEMBERS = 20

/** The members of an object as JSON. */
function* membersOf(entries: readonly (readonly [string, unknown])[]): Steps<string> {
  const texts: string[] = []
  for (let at = 0; at < entries.length; at += MEMBERS) {
    texts.push(
      ...entries.slice(at, at + MEMBERS).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
    )
    yield
  }
  return texts.join(',')
}

/** The document without its operations and types. */
function frameOf({ nouns, url, version }: Subject): Schema {
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
    paths: 'PATHS',
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
      schemas: 'TYPES',
      parameters: PARAMETERS,
      // Routes that this host does not support are not described.
      responses: errorResponses((status) => status !== 501),
      headers: HEADERS,
    },
  }
}

/** The operations, those of single paths before those of every type: the first of a path is the one that answers. */
function* pathsOf({ routes, nouns }: Subject): Steps<Paths> {
  const types = nouns.map(({ name }) => name)
  const paths: Paths = new Map()
  for (const route of routes) {
    if (isOfEveryType(route)) continue
    const [, first = ''] = route.path.split('/')
    const noun = nouns.find(({ name }) => name === first)
    // A path that names a type is surfaced where the type is.
    if (noun || !/^[A-Z]/.test(first)) addOperation(paths, { route, path: route.path, noun, types })
  }
  for (const noun of nouns) {
    yield
    for (const route of routes.filter(isOfEveryType)) {
      const path = route.path.replace(':type', noun.name)
      if (route.has && !route.has(noun)) continue
      for (const verb of verbsOf(route, noun))
        for (const field of filesOf(route, noun))
          addOperation(paths, {
            route,
            path: path.replace(':verb', verb?.name ?? '').replace(':field', field),
            noun,
            verb,
            types,
          })
    }
  }
  return paths
}

function isOfEveryType({ path }: Route): boolean {
  return path.startsWith('/:type')
}

/** The file fields that a route is described for; lists have a place in the path. */
function filesOf({ path, method }: Route, { fields }: Noun): readonly string[] {
  if (!path.includes('/:field')) return ['']
  const isUpload = method === 'POST' && path.endsWith('/:field')
  const isList = path.includes('/:n')
  return Object.values(fields).flatMap((field) =>
    field.kind === 'file' && (isUpload || field.list === isList) ? field.name : [],
  )
}

/** The verbs that a route is described for, or one undefined if it is not about verbs. */
function verbsOf({ path }: Route, { verbs }: Noun): readonly (Verb | undefined)[] {
  return path.endsWith('/:verb') ? Object.values(verbs).filter(({ name }) => name !== 'create') : [undefined]
}
