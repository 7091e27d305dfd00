import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../../chance.ts'
import { type Recorder, successOf } from './recorder.ts'
import { insist, type Reply, request } from './request.ts'

/** Creates in one atomic batch. */
const BATCH = 100
/** Milliseconds, at most, between two requests of one client. */
const PACE = 30
const BATCH_PACE = 100
const CALM_PACE = 1_000

/** How often a batch without an answer is sent again after the end of a round. */
const LAST_TRIES = 20

/** An entity that all clients of a tenant read and write. */
export interface Target {
  readonly id: string
  readonly value: string
}

export interface ClientOptions {
  readonly name: string
  readonly tenant: string
  readonly recorder: Recorder
  readonly chance: Chance
  /** Multiplies the pauses between two requests. */
  readonly pace: number
  /** Whether the round is over. */
  readonly isOver: () => boolean
  /** Whether machines are being repaired: a node starts slowly next to clients that take all of the processor. */
  readonly isCalm: () => boolean
  /** Aborted when it is over. */
  readonly end: AbortSignal
}

/** Creates the entities of a round. */
export async function createTargets(
  urls: readonly string[],
  { name, tenant, recorder }: Pick<ClientOptions, 'name' | 'tenant' | 'recorder'>,
  count: number,
): Promise<Target[]> {
  const create = async (i: number) => {
    const value = `${name}-target-${i}`
    const began = performance.now()
    const body = await insist(urls, 'POST', `/~${tenant}/Contact`, { name: value, value }, { 'idempotency-key': value })
    const answer = { version: body.$version, value }
    const ended = performance.now()
    recorder.operations.push({
      client: name,
      entity: body.$id,
      action: { kind: 'create', value },
      outcome: 'ok',
      began,
      ended,
      ...answer,
    })
    return { id: body.$id, value }
  }
  return Promise.all(Array.from({ length: count }, (_, i) => create(i)))
}

/** Reads the targets through one node, and optionally writes and swaps them. */
export async function runEditor(
  url: string,
  targets: readonly Target[],
  writes: boolean,
  options: ClientOptions,
): Promise<void> {
  const { name, tenant, recorder, chance, pace, isOver } = options
  const seen = new Map(targets.map(({ id }) => [id, 1]))
  for (let number = 0; !isOver(); number++) {
    const { id } = chance.pick(targets)
    const path = `/~${tenant}/Contact/${id}`
    const value = `${name}-${number}`
    const kind = writes ? chance.next() : 0
    const expected = seen.get(id)!
    const state =
      kind < 0.4
        ? await recorder.operate(name, id, { kind: 'read' }, () => request(url, 'GET', path))
        : kind < 0.6
          ? await recorder.operate(name, id, { kind: 'write', value }, () => request(url, 'PUT', path, { value }))
          : await recorder.operate(name, id, { kind: 'swap', value, expected }, () =>
              request(url, 'PUT', path, { value }, { 'if-match': `"${expected}"` }),
            )
    if (state !== null) seen.set(id, state.version)
    await pause(PACE * pace * chance.next())
  }
}

/** Creates entities in atomic batches. A batch without an answer is sent again under its key, through another node. */
export async function runCreator(urls: readonly string[], options: ClientOptions): Promise<void> {
  const { name, tenant, recorder, chance, pace, isOver, isCalm } = options
  for (let number = 0; !isOver(); number++) {
    const values = Array.from({ length: BATCH }, (_, i) => `${name}-${number}-${i}`)
    const operations = values.map((value) => ({
      id: value,
      method: 'POST',
      path: '/Contact',
      body: { name: value, value },
    }))
    const headers = { 'idempotency-key': `${name}-${number}` }
    const began = performance.now()
    let success: Reply | null = null
    let ended = Number.POSITIVE_INFINITY
    for (let last = 0; success === null && last < LAST_TRIES; last += isOver() ? 1 : 0) {
      const answer = await request(
        chance.pick(urls),
        'POST',
        `/~${tenant}/batch`,
        { atomic: true, operations },
        headers,
      )
      recorder.notice(answer)
      success = successOf(answer)
      if (success !== null) ended = performance.now()
      await pause(Math.max(isCalm() ? CALM_PACE : 0, BATCH_PACE * pace) * chance.next())
    }
    const isKnown = success !== null
    for (const [index, value] of values.entries()) {
      const made = success?.body.results[index].body
      recorder.operations.push({
        client: name,
        entity: made?.$id ?? '',
        action: { kind: 'create', value },
        outcome: isKnown ? 'ok' : 'unknown',
        began,
        ended,
        version: made?.$version ?? null,
        value: isKnown ? value : null,
      })
      if (isKnown) recorder.acknowledged.push(ended)
    }
  }
}

/** Follows the change stream of a tenant, each page through another node. */
export async function runFollower(urls: readonly string[], from: number, options: ClientOptions): Promise<void> {
  const { name, tenant, recorder, chance, isOver, end } = options
  let cursor = from
  while (!isOver()) {
    const path = `/~${tenant}/events?cursor=${cursor}&wait=1&limit=500&total=false`
    const answer = await request(chance.pick(urls), 'GET', path, undefined, {}, undefined, end)
    recorder.notice(answer)
    const page = successOf(answer)?.body
    if (page === undefined) await pause(PACE * 10)
    else {
      for (const { seq, id } of page.results) recorder.observations.push({ follower: name, seq, id })
      cursor = Number(page.cursor)
    }
  }
}
