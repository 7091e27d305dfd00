import type { Route } from '../call.ts'
import type { Description } from '../describe/description.ts'
import { PARAMETERS } from '../describe/parameters.ts'
import type { Schema } from '../describe/schema.ts'
import { addOperation, type Paths, sorted } from './operation.ts'
import { errorResponses, SCHEMAS } from './responses.ts'

/** An endpoint of the operator, as it describes itself. */
export interface OperatorEndpoint extends Description, Pick<Route, 'method' | 'path'> {
  /** The group of endpoints that it belongs to. */
  readonly tag: 'tenants' | 'service' | 'cluster'
}

/** The statuses of the errors of every endpoint of the operator. */
const ERRORS = [400, 401, 403, 404, 405, 409, 413, 422, 500, 501, 503]

const TAGS = {
  tenants: 'Tenants as a whole.',
  service: 'The service.',
  cluster: 'Nodes, and where tenants are.',
}

/** The OpenAPI document of the endpoints below `/operator`. */
export function operatorDocument(routes: readonly OperatorEndpoint[], version: string): Schema {
  const paths: Paths = new Map()
  for (const route of routes)
    addOperation(paths, { route: { errors: ERRORS, ...route }, path: route.path, tag: route.tag })
  const tags = new Set(routes.map(({ tag }) => tag))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tildebase operator',
      version,
      description: 'The endpoints of the operator. They need the operator key.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ operator: [] }],
    tags: [...tags].map((name) => ({ name, description: TAGS[name] })),
    paths: Object.fromEntries(sorted(paths)),
    components: {
      securitySchemes: { operator: { type: 'http', scheme: 'bearer', description: 'The operator key.' } },
      schemas: { Error: SCHEMAS.Error },
      parameters: { offset: PARAMETERS.offset, cursor: PARAMETERS.cursor },
      responses: errorResponses((status) => ERRORS.includes(status)),
    },
  }
}
