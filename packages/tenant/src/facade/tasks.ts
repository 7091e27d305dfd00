import { isoOf, type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Grant } from '../grant/grant.ts'
import { isNarrowed } from '../grant/grant.ts'
import { reaches } from '../grant/scopes.ts'
import { type KeptTask, keptTasks } from '../store/tasks.ts'
import type { TenantServices } from './create-services.ts'
import type { LongWrites } from './long-writes.ts'

/** The tasks of a tenant, as a grant sees them: its own, or all for an administrator of everything. */
export class TenantTasks {
  readonly #services: TenantServices
  readonly #writes: LongWrites

  constructor(services: TenantServices, writes: LongWrites) {
    this.#services = services
    this.#writes = writes
  }

  /** The tasks that have not ended. */
  get running(): readonly KeptTask[] {
    return this.#writes.running
  }

  /** The tasks of late, newest first. */
  list(grant: Grant): readonly JsonObject[] {
    return this.#seenBy(grant).map(viewOf)
  }

  has(id: string): boolean {
    return this.#all().some((task) => task.id === id)
  }

  get(grant: Grant, id: string): JsonObject {
    return viewOf(this.#find(grant, id))
  }

  /** Ends a task that has not ended. Nothing of it is kept. */
  async cancel(grant: Grant, id: string): Promise<JsonObject> {
    const { state } = this.#find(grant, id)
    if (state !== 'running') throw new Problem('conflict', `The task ${id} has ended: it is ${state}.`, { id })
    await this.#writes.cancel(id)
    return this.get(grant, id)
  }

  #find(grant: Grant, id: string): KeptTask {
    const found = this.#seenBy(grant).find((task) => task.id === id)
    if (found) return found
    throw new Problem('not_found', `There is no task ${id.slice(0, 100)}.`, { id: id.slice(0, 100) })
  }

  #seenBy(grant: Grant): KeptTask[] {
    const seesAll = reaches(grant.scopes, 'admin', ['all']) && !isNarrowed(grant)
    const isOwn = ({ actor, onBehalfOf }: KeptTask) =>
      actor === grant.actor && onBehalfOf === (grant.onBehalfOf ?? null)
    return this.#all().filter((task) => seesAll || isOwn(task))
  }

  /** What is kept, and what runs now. */
  #all(): KeptTask[] {
    const kept = keptTasks(this.#services.transactor.engine.sql)
    const running = this.#writes.running
    const waiting = running.filter(({ id }) => !kept.some((task) => task.id === id))
    return [...waiting.toReversed(), ...kept.map((task) => this.#now(task, running))]
  }

  #now(task: KeptTask, running: readonly KeptTask[]): KeptTask {
    if (task.state !== 'running') return task
    return running.find(({ id }) => id === task.id) ?? { ...task, state: 'failed', error: INTERRUPTED }
  }
}

const INTERRUPTED = {
  code: 'unavailable',
  message: 'The service stopped while this task was running. Nothing was changed: send the request again.',
}

function viewOf(task: KeptTask): JsonObject {
  const { id, title, state, actor, onBehalfOf, startedAt, endedAt, done, total, result, error } = task
  return {
    id,
    title,
    state,
    actor,
    ...(onBehalfOf !== null && { onBehalfOf }),
    startedAt: isoOf(startedAt),
    endedAt: endedAt === null ? null : isoOf(endedAt),
    progress: done,
    total,
    result,
    error: error as Json,
  }
}
