import { type Issue, invalid, type JsonObject } from '@tildebase/nouns'
import { changes } from '../../authorship/reach.ts'
import { type Authored, authored, store, type Thing } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import { demandArea } from '../../grant/grant.ts'
import type { Write } from '../../write/write.ts'
import type { Definition } from '../workflows/definition.ts'
import { requestFaults } from '../workflows/steps/request.ts'
import type { RequestStep } from '../workflows/steps/step.ts'
import { secretsIn } from '../workflows/values.ts'

/** The fields of an agent that decide where its calls go. */
const FORM = ['endpoint', 'protocol', 'tool', 'headers'] as const
const SILENT = ['Paused', 'Stopped', 'Retired', 'Archived']
/** A call that fails is tried again after 30 s, 1, 2, 4 and 8 minutes. */
const RETRIES = 5
const BACKOFF_MS = 30_000
/** How long an agent may think. */
const ANSWER_MS = 60_000

function thingOf(id: string): Thing {
  return { kind: 'agent', id, actor: `agent:${id}` }
}

/** The part of an agent that its author stores. */
export function endpointOf(data: JsonObject): JsonObject {
  return Object.fromEntries(FORM.flatMap((field) => (data[field] == null ? [] : [[field, data[field]]])))
}

export function hasEndpoint({ endpoint }: JsonObject): boolean {
  return typeof endpoint === 'string' && endpoint !== ''
}

/** Whether an agent is in a state in which it is not called. */
export function isSilent({ status }: JsonObject): boolean {
  return SILENT.includes(String(status))
}

/** Refuses an endpoint that cannot be called. */
export function checkEndpoint(engine: Engine, data: JsonObject): void {
  if (!hasEndpoint(data)) return
  const faults = requestFaults(engine, { ...requestOf(data) }, 0)
  const issues = faults.map((fault): Issue => {
    const field = fault.startsWith('request.headers') ? 'headers' : 'endpoint'
    return { field, message: fault.replace(/^request\.(?:url|headers):? ?/, '') }
  })
  if (issues.length > 0) throw invalid('Agent', issues)
}

/** Makes the caller the author of an endpoint. One with a secret could send it anywhere: that is for administrators. */
export function storeEndpoint(write: Write, id: string, data: JsonObject): void {
  const form = endpointOf(data)
  if (secretsIn(form).length > 0) demandArea(write.grant, 'admin', 'platform')
  const noun = write.engine.noun('Agent')
  store(write, thingOf(id), form, [{ action: 'read', noun }, changes(noun)])
}

/** A call of an agent, with the author who stored its endpoint; null when no caller stored it as it is now. */
export function authoredCall(engine: Engine, id: string, data: JsonObject): Authored<Definition> | null {
  return hasEndpoint(data) ? authored(engine, thingOf(id), callOf(data), endpointOf(data)) : null
}

/** A call as the steps of a run. */
export function callOf(data: JsonObject): Definition {
  return {
    pattern: null,
    filter: null,
    schedule: null,
    steps: [requestOf(data)],
    errorHandling: 'Stop',
    retries: RETRIES,
    backoffMs: BACKOFF_MS,
    timeoutMs: null,
  }
}

/** The request to an endpoint: a message about the verb, or the call of a tool. */
function requestOf({ endpoint, protocol, tool, headers }: JsonObject): RequestStep {
  const isMcp = protocol === 'MCP'
  const body = isMcp
    ? { name: typeof tool === 'string' && tool !== '' ? tool : '$event.verb', arguments: '$event.args' }
    : {
        id: '$event.id',
        verb: '$event.verb',
        agent: '$event.entityId',
        args: '$event.args',
        actor: '$event.actor',
        onBehalfOf: '$event.onBehalfOf',
        tenant: '$event.tenant',
      }
  return {
    request: {
      method: 'POST',
      url: String(endpoint),
      ...(headers !== undefined && headers !== null && { headers: headers as { readonly [name: string]: string } }),
      body,
    },
    waitMs: ANSWER_MS,
    ...(isMcp && { isMcp }),
  }
}
