import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../chance.ts'
import { type ListQuery, parametersOf, type Shown } from './list-query.ts'
import type { Part, Request } from './replay.ts'
import { type Reply, type Service, send } from './service.ts'
import type { Outcome, Step, Transaction } from './transaction.ts'

/** One operation, with what it means for a list. */
export type Operation =
  | { readonly kind: 'read'; readonly type: string; readonly id: string }
  | {
      readonly kind: 'append'
      readonly id: string
      readonly value: number
      /** PUT of the whole list, or the verb with its hook. */
      readonly how: 'put' | 'verb'
      readonly body: object
      /** The version that it must replace, and the list in it. */
      readonly from?: { readonly version: number; readonly list: readonly number[] }
    }
  | { readonly kind: 'create'; readonly body: object }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'list'; readonly query: ListQuery; readonly cursor: string | null; readonly asOf: number | null }
  | { readonly kind: 'moment' }
  /** An operation that is always refused, so that nothing of its transaction may remain. */
  | { readonly kind: 'refused' }

/** What a request did, and the answers to its operations if it was done. */
export interface Done {
  readonly outcome: Outcome
  readonly results: readonly any[]
}

/** Sends one transaction after the other, and records them. */
export class Client {
  readonly transactions: Transaction[] = []
  readonly requests: Request[] = []
  readonly #service: Service
  readonly #tenant: string
  readonly #name: string
  readonly #chance: Chance
  #count = 0

  constructor(service: Service, tenant: string, name: string, chance: Chance) {
    this.#service = service
    this.#tenant = tenant
    this.#name = name
    this.#chance = chance
  }

  /** Runs operations as one atomic batch. */
  async batch(operations: readonly Operation[]): Promise<Done> {
    const body = { atomic: true, operations: operations.map((one, index) => ({ id: `o${index}`, ...wireOf(one) })) }
    return this.#perform(operations, 'POST', 'batch', body, {}, (reply) => reply.results.map((one: any) => one.body))
  }

  /** Runs one operation as a request of its own. */
  async alone(operation: Operation): Promise<Done> {
    const { method = 'GET', path, body, query = {}, ifMatch } = wireOf(operation)
    const headers: Record<string, string> = ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }
    const search = new URLSearchParams(query).toString()
    return this.#perform([operation], method, search ? `${path}?${search}` : path, body, headers, (reply) => [reply])
  }

  async #perform(
    operations: readonly Operation[],
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
    resultsOf: (body: any) => readonly any[],
  ): Promise<Done> {
    const name = `${this.#name}-${++this.#count}`
    const isRepeatable = method === 'POST' && this.#chance.next() < 0.5
    const own = { ...headers, 'x-correlation-id': name, ...(isRepeatable && { 'idempotency-key': name }) }
    const ask = () => send(this.#chance.pick(this.#service.urls()), method, `/~${this.#tenant}/${path}`, body, own)
    const began = performance.now()
    let reply = await ask()
    // The same key again: it happens once, and the answer is that of the first time.
    while (isRepeatable && isUnclear(reply)) {
      await pause(50)
      reply = await ask()
    }
    const ended = isUnclear(reply) ? Number.POSITIVE_INFINITY : performance.now()
    if (isUnclear(reply)) await pause(50)
    const outcome = outcomeOf(reply, operations)
    const results = outcome === 'ok' ? resultsOf(reply!.body) : []
    const steps = operations.flatMap((one, index) => stepsOf(one, results[index]))
    const parts = outcome === 'ok' ? operations.flatMap((one, index) => partOf(one, results[index])) : []
    if (steps.length > 0) this.transactions.push({ name, steps, outcome, began, ended })
    this.requests.push({ name, outcome, began, ended, parts })
    return { outcome, results }
  }
}

/** Numbers of a list, which may be nested where it was copied. */
export function listOf(entity: any): readonly number[] {
  return entity.items.flat(Number.POSITIVE_INFINITY)
}

/** Whether it may have happened, or may happen later: there is no answer, an error of the service, or a task. */
function isUnclear(reply: Reply): boolean {
  if (reply === null || reply.status >= 500 || reply.status === 202) return true
  return reply.status === 409 && reply.body.error === 'in_flight'
}

function outcomeOf(reply: Reply, operations: readonly Operation[]): Outcome {
  if (reply === null || isUnclear(reply)) return 'unknown'
  const isRefused = reply.body?.correlation !== undefined && reply.body.results.some(({ status }: any) => status >= 400)
  const expected = [412, 422, ...(operations.some(({ kind }) => kind === 'read') ? [404] : [])]
  // An atomic batch with an operation that failed has not happened.
  if (reply.status < 300) return isRefused ? 'fail' : 'ok'
  if (!expected.includes(reply.status)) throw new Error(`An answer that is not expected: ${JSON.stringify(reply)}`)
  // A single read of what was deleted has found that it is not there.
  return reply.status === 404 ? 'ok' : 'fail'
}

interface Wire {
  readonly method?: string
  readonly path: string
  readonly body?: object
  readonly query?: Record<string, string>
  readonly ifMatch?: number
}

function wireOf(operation: Operation): Wire {
  switch (operation.kind) {
    case 'read':
      return { path: `${operation.type}/${operation.id}` }
    case 'append': {
      const { how, id, body, from } = operation
      if (how === 'verb') return { method: 'POST', path: `Series/${id}/append`, body }
      return { method: 'PUT', path: `Series/${id}`, body, ...(from && { ifMatch: from.version }) }
    }
    case 'create':
      return { method: 'POST', path: 'Series', body: operation.body }
    case 'delete':
      return { method: 'DELETE', path: `Series/${operation.id}` }
    case 'list': {
      const { query, cursor, asOf } = operation
      const more = { ...(cursor !== null && { cursor }), ...(asOf !== null && { asOf: String(asOf) }) }
      return { path: query.type, query: { ...parametersOf(query), ...more } }
    }
    case 'moment':
      return { path: 'status' }
    case 'refused':
      return { method: 'PUT', path: 'Series/series_0VbJ2VLy7hClK8e8j9uKqB', body: { weight: 1 } }
  }
}

/** What it did to a list; without an answer, what it tried to do. */
function stepsOf(operation: Operation, result: any): Step[] {
  if (operation.kind === 'read' && operation.type === 'Series' && result?.items)
    return [{ kind: 'read', key: operation.id, list: listOf(result) }]
  if (operation.kind !== 'append') return []
  const { id: key, value, from } = operation
  const append: Step = { kind: 'append', key, value }
  if (result === undefined) return [append]
  const before: Step[] = from === undefined ? [] : [{ kind: 'read', key, list: from.list }]
  return [...before, append, { kind: 'read', key, list: listOf(result) }]
}

function partOf(operation: Operation, result: any): Part[] {
  switch (operation.kind) {
    case 'read':
      return [{ kind: 'read', id: operation.id, shown: result.$id === undefined ? null : (result as Shown) }]
    case 'append':
      return [{ kind: 'write', id: operation.id, shown: result }]
    case 'create':
      return [{ kind: 'write', id: result.$id, shown: result }]
    case 'delete':
      return [{ kind: 'write', id: operation.id, shown: null }]
    case 'list':
      return [{ kind: 'list', query: operation.query, page: result, asOf: operation.asOf }]
    case 'moment':
      return [{ kind: 'moment', seq: result.log.seq }]
    case 'refused':
      return []
  }
}
