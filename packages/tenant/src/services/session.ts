import { type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { demand, type Grant } from '../grant/grant.ts'
import { count, find, get } from '../query/find.ts'
import { queryOf, readContextOf } from '../query/parameters.ts'
import { entityView } from '../view/entity.ts'
import { runVerb } from './run-verb.ts'

/** A tenant's data as code sees it: `$.Contact.find({stage: 'Lead'})`, `$.Deal.win(id)`. */
export type Session = { readonly [type: string]: { readonly [operation: string]: (...args: any[]) => any } }

/** The session of a grant: every type a property, every operation and verb a function of it, which `run` runs. */
export function sessionOf(
  tenant: Engine,
  grant: Grant,
  correlation: string | null = null,
  run: (work: () => Json) => unknown = (work) => work(),
): Session {
  return new Proxy({} as Session, {
    get: (_, type) =>
      typeof type === 'symbol' || type === 'then'
        ? undefined
        : new Proxy({} as Session[string], {
            get: (_, operation) =>
              typeof operation === 'symbol' || operation === 'then'
                ? undefined
                : (...args: Json[]) => run(() => operate(tenant, grant, type, operation, args, correlation)),
          }),
  })
}

/** Runs one operation of a session. */
export function operate(
  tenant: Engine,
  grant: Grant,
  type: string,
  operation: string,
  args: readonly Json[],
  correlation: string | null = null,
): Json {
  const noun = tenant.noun(type)
  const view = (entity: Parameters<typeof entityView>[0]) => entityView(entity, tenant.context)
  switch (operation) {
    case 'find':
      demand(grant, 'read', noun)
      return find(readContextOf(tenant, grant), queryOf(tenant, grant, noun, args[0], args[1])).results.map(view)
    case 'findOne': {
      demand(grant, 'read', noun)
      const options = { ...(args[1] as JsonObject | undefined), limit: 1 }
      const [first] = find(readContextOf(tenant, grant), queryOf(tenant, grant, noun, args[0], options)).results
      return first ? view(first) : null
    }
    case 'count':
      demand(grant, 'read', noun)
      return count(readContextOf(tenant, grant), queryOf(tenant, grant, noun, args[0], {}))
    case 'get': {
      demand(grant, 'read', noun)
      const { include, asOf } = queryOf(tenant, grant, noun, {}, args[1])
      const entity = get(readContextOf(tenant, grant), noun.name, textOf(args[0], 'get', noun.name), { include, asOf })
      return entity ? view(entity) : null
    }
    case 'create': {
      const { entity, secret } = runVerb(tenant, grant, { type: noun.name, verb: 'create', data: args[0], correlation })
      return secret === undefined ? view(entity) : { ...view(entity), secret }
    }
    default: {
      // A verb that there is not is told of first, whatever it was called with.
      const id = Object.hasOwn(noun.verbs, operation) ? textOf(args[0], operation, noun.name) : ''
      const { entity } = runVerb(tenant, grant, {
        type: noun.name,
        verb: operation,
        id,
        data: args[1] ?? {},
        correlation,
      })
      return operation === 'delete' ? null : view(entity)
    }
  }
}

function textOf(id: Json | undefined, operation: string, type: string): string {
  if (typeof id === 'string') return id
  throw new Problem('invalid_parameter', `${type}.${operation} takes the id of an entity as its first argument.`, {
    type,
    field: 'id',
  })
}
