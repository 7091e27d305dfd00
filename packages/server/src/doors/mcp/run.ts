import { INVALID_PARAMS, ProtocolError } from '@modelcontextprotocol/server'
import { didYouMean, isPlainObject, listed, Problem, quoted } from '@tildebase/nouns'
import { onlyProposes } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'
import { onBehalfOf } from '../caller.ts'
import { findRoute } from '../dispatch.ts'
import { WARNINGS } from '../reply.ts'
import { describe } from '../rest/schema.ts'
import { withFiles } from './files.ts'
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
      return onBehalfOf(call.request.signal, () => runCode(call, given))
    default:
      throw new ProtocolError(
        INVALID_PARAMS,
        `There is no tool ${name.slice(0, 100)}. The tools are search, fetch and do.`,
      )
  }
}

/** The title of what an agent proposes without one. */
const UNTITLED = 'Proposed by an agent'

/** Runs code. A grant that can only propose proposes, whether the agent says so or not. */
async function runCode(call: Call, given: Given): Promise<object> {
  queryOf('do', given, [], DO)
  const isProposal = given.propose === undefined && onlyProposes(call.grant)
  const body = isProposal ? { ...given, propose: UNTITLED } : given
  return call.tenant.runCode(call.grant, call.writes, call.budget, body)
}

type Given = { readonly [name: string]: unknown }

const SEARCH = ['filter', 'sort', 'limit', 'cursor', 'include', 'fields', 'asOf', 'strict']
const MOST_ASKS = 100
const FETCH = ['include', 'fields', 'asOf', 'strict']
const DO = ['code', 'dryRun', 'strict', 'propose', 'reason']

function search(call: Call, given: Given): Promise<object> {
  return read(call, [call.read.noun(typeOf(given)).name], queryOf('search', given, ['type'], SEARCH))
}

/**
 * The parameters of a tool. One that it does not know is refused: to drop asOf would show the present for the past, and to
 * drop a misspelled dryRun would write.
 */
function queryOf(tool: string, given: Given, own: readonly string[], names: readonly string[]): Map<string, unknown> {
  const there = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  const [unknown] = there.find(([name]) => !own.includes(name) && !names.includes(name)) ?? []
  if (unknown !== undefined) {
    const known = [...own, ...names]
    const hint = didYouMean(unknown, known) || '.'
    throw new Problem('invalid_parameter', `${tool} takes ${listed(known, 'and')}, not ${quoted(unknown)}${hint}`, {
      field: quoted(unknown),
      supported: known,
    })
  }
  return new Map(there.filter(([name]) => names.includes(name)))
}

async function fetchOne(call: Call, given: Given): Promise<object> {
  const type = typeOf(given)
  const id = idOf(given)
  const query = queryOf('fetch', given, ['type', 'id'], FETCH)
  if (type === 'Schema' || type === 'Status') {
    if (query.size > 0)
      throw new Problem(
        'invalid_parameter',
        `${type} can only be read in its current state: omit ${[...query.keys()].join(', ')}.`,
      )
    return type === 'Schema' ? schema(call, id) : { ...call.read.status(), lens: call.lens.names }
  }
  if (type === 'Ask') return asks(call, id, query)
  if (id === null) {
    throw new Problem('invalid_parameter', `Give the id of the ${type} to fetch; search finds ids.`, { field: 'id' })
  }
  const noun = call.read.noun(type)
  return withFiles({ ...call, query }, noun, id, await read(call, [noun.name, id], query))
}

/** Questions that wait for people. An agent reads them; only a person answers. */
function asks({ read }: Call, id: string | null, query: ReadonlyMap<string, unknown>): object {
  if (query.size > 0)
    throw new Problem('invalid_parameter', `An Ask is read as it is: omit ${[...query.keys()].join(', ')}.`)
  return id === null ? read.reactions.asks({ cursor: null, limit: MOST_ASKS }) : read.reactions.ask(id)
}

function schema(call: Call, name: string | null): object {
  if (name !== null) return describe(call.read.noun(name))
  return { types: surfacedNouns(call).map(inFewWords) }
}

/** Reads what REST would answer on a path: one meaning for both. */
async function read(call: Call, segments: readonly string[], query: ReadonlyMap<string, unknown>): Promise<object> {
  const { route, params } = findRoute(call.routes, 'GET', segments)
  const [type, id] = segments
  // A word that means something else on that path, such as count, is the id of nothing.
  if (params.id !== id || route.mode === 'stream') {
    throw new Problem('not_found', `There is no ${type} ${id}.`, { type: type!, id: id! })
  }
  const request = { ...call.request, method: 'GET', headers: {} }
  const inner: Call = { ...call, params, query, body: undefined, request }
  const { headers, content } =
    route.mode === 'read'
      ? await route.handle(inner)
      : await call.tenant.write(call.grant, call.writes, call.budget, (write) => route.handle(inner, write))
  const warnings = headers[WARNINGS]
  const answer = content!.value() as object
  return warnings === undefined ? answer : { ...answer, warnings: JSON.parse(warnings) }
}

function idOf({ id = null }: Given): string | null {
  if (id === null || typeof id === 'string') return id
  throw new Problem('invalid_parameter', 'id must be a string.', { field: 'id' })
}

function typeOf(given: Given): string {
  if (typeof given.type === 'string' && given.type !== '') return given.type
  throw new Problem('invalid_parameter', 'Give the type, such as {"type": "Contact"}.', { field: 'type' })
}
