import { INVALID_PARAMS, ProtocolError } from '@modelcontextprotocol/server'
import { isPlainObject, type JsonObject, Problem } from '@tildebase/nouns'
import { type Engine, type Grant, may, runCode, summaryOf } from '@tildebase/tenant'
import { demandFor, findRoute } from '../app.ts'
import type { Call } from '../call.ts'
import { describe } from '../rest/schema.ts'
import { inFewWords, surfacedNouns } from './types-text.ts'

/** Runs a tool for the key of the call and gives what it answers. */
export async function runTool(call: Call, name: string, input: unknown): Promise<object> {
  const given = isPlainObject(input) ? input : {}
  switch (name) {
    case 'search':
      return search(call, given)
    case 'fetch':
      return fetchOne(call, given)
    case 'do':
      return runCode(call.tenant, call.commits, call.grant, given, call.correlation)
    default:
      throw new ProtocolError(INVALID_PARAMS, `There is no tool ${name.slice(0, 100)}. There are search, fetch and do.`)
  }
}

type Given = { readonly [name: string]: unknown }

function search(call: Call, given: Given): Promise<object> {
  const query = ['filter', 'sort', 'limit', 'cursor']
    .filter((name) => given[name] !== undefined && given[name] !== null)
    .map((name) => [name, given[name]] as const)
  return read(call, [call.tenant.noun(typeOf(given)).name], new Map(query))
}

async function fetchOne(call: Call, given: Given): Promise<object> {
  const type = typeOf(given)
  const id = given.id === undefined || given.id === null ? null : String(given.id)
  if (type === 'Schema') return schema(call, id)
  if (type === 'Status') return status(call)
  if (id === null) {
    throw new Problem('invalid_parameter', `Give the id of the ${type} to fetch; search finds ids.`, { field: 'id' })
  }
  const include = given.include === undefined ? [] : [['include', given.include] as const]
  return read(call, [call.tenant.noun(type).name, id], new Map(include))
}

function schema(call: Call, name: string | null): object {
  if (name !== null) return describe(call.tenant.noun(name))
  return { types: surfacedNouns(call).map(inFewWords) }
}

/** How the tenant stands, for an agent that has just arrived. */
export function status({ tenant, grant, lens }: Call): object {
  const { seq, at } = tenant.head
  const counts = Object.entries(summaryOf(tenant).entities).filter(([type]) => isCounted(tenant, grant, type))
  return {
    tenant: tenant.slug,
    key: { id: grant.actor, scopes: grant.scopes.map(({ action, area }) => `${action}:${area}`) },
    lens: lens.names,
    log: { seq, at: seq === 0 ? null : new Date(at).toISOString() },
    entities: Object.fromEntries(counts),
  }
}

/** Whether the number of a type's entities is the key's to know: it may read all of them. */
function isCounted(tenant: Engine, grant: Grant, type: string): boolean {
  const noun = tenant.nouns.get(type)
  return noun !== undefined && may(grant, 'read', noun) && !Object.hasOwn(grant.rows, type)
}

/** Reads what REST would answer on a path: one meaning for both. */
async function read(call: Call, segments: readonly string[], query: ReadonlyMap<string, unknown>): Promise<object> {
  const match = findRoute(call.routes, 'GET', segments)
  const [type, id] = segments
  // A word that means something else on that path, such as count, is the id of nothing.
  if (match.params.id !== id) throw new Problem('not_found', `There is no ${type} ${id}.`, { type, id })
  const inner: Call = { ...call, params: match.params, query, body: undefined, ask: { ...call.ask, headers: {} } }
  demandFor(match, inner)
  const { body } = await match.route.handle(inner)
  return JSON.parse(String(body)) as JsonObject
}

function typeOf(given: Given): string {
  if (typeof given.type === 'string' && given.type !== '') return given.type
  throw new Problem('invalid_parameter', 'Give the type, such as {"type": "Contact"}.', { field: 'type' })
}
