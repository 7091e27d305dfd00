import type { Chance } from '../chance.ts'
import { Client, type Done, listOf, type Operation } from './client.ts'
import type { ListQuery, Shown } from './list-query.ts'
import type { Request } from './replay.ts'
import { insist, type Service } from './service.ts'
import type { Transaction } from './transaction.ts'

/** How many lists are in use at a time, and how long one becomes before another takes its place. */
const LISTS = 5
const LONGEST = 24
const WEIGHTS = 20

/**
 * Clients that read and append to lists of several entities in one transaction, in every way that the service has: copies
 * within a batch, updates of a version, and a verb with a hook. Others ask for lists with conditions on several fields.
 */
export class Workload {
  readonly tenant: string
  readonly #service: Service
  readonly #clients: Client[] = []
  readonly #lists: string[] = []
  readonly #all: string[] = []
  /** Entities that are created and deleted. */
  readonly #passing: string[] = []
  #shelves: readonly string[] = []
  #lengths = new Map<string, number>()
  #value = 0
  /** The newest event that an answer named. */
  #seq = 0

  constructor(service: Service, tenant: string) {
    this.#service = service
    this.tenant = tenant
  }

  get transactions(): readonly Transaction[] {
    return this.#clients.flatMap(({ transactions }) => transactions)
  }

  get requests(): readonly Request[] {
    return this.#clients.flatMap(({ requests }) => requests)
  }

  /** Declares the types, and creates the first lists. */
  async prepare(chance: Chance): Promise<void> {
    const own = (method: string, path: string, body: unknown) =>
      insist(this.#service, method, `/~${this.tenant}/${path}`, body)
    const shelf = { name: 'string!', $path: 'shelves' }
    const series = { items: 'json', weight: 'number#', last: 'number', shelf: '-> Shelf.series' }
    await insist(this.#service, 'POST', '/operator/tenants', { tenant: this.tenant })
    await own('PUT', 'schema/Shelf', shelf)
    await own('PUT', 'schema/Series', { ...series, append: { args: ['last'] } })
    await own('PUT', 'schema/Shelf', { ...shelf, series: '<- Series.shelf[]', count: '= sum(series.weight)' })
    await own('PUT', 'schema/Series/hooks/appending', {
      code: '(series, $, args) => ({ items: [...series.items.flat(99), args.last] })',
    })
    this.#shelves = [await own('POST', 'Shelf', { name: 'upper' }), await own('POST', 'Shelf', { name: 'lower' })].map(
      ({ $id }) => $id,
    )
    for (let i = 0; i < LISTS; i++) this.#adopt((await own('POST', 'Series', this.#draft(chance))).$id)
    this.#seq = (await own('GET', 'status', undefined)).log.seq
  }

  /** Sends transactions one after the other until it is over. */
  async run(name: string, chance: Chance, isOver: () => boolean): Promise<void> {
    const client = new Client(this.#service, this.tenant, `${this.tenant}-${name}`, chance)
    this.#clients.push(client)
    while (!isOver()) await this.#one(client, chance)
  }

  /** Reads all lists, when all other transactions have ended. */
  async finish(chance: Chance): Promise<void> {
    const client = new Client(this.#service, this.tenant, `${this.tenant}-last`, chance)
    this.#clients.push(client)
    for (let at = 0; at < this.#all.length; ) {
      const some = this.#all.slice(at, at + 90)
      const { outcome } = await client.batch(some.map((id) => ({ kind: 'read', type: 'Series', id })))
      if (outcome === 'ok') at += some.length
    }
  }

  #one(client: Client, chance: Chance): Promise<unknown> {
    const draw = chance.next()
    if (draw < 0.24) return this.#copy(client, chance)
    if (draw < 0.42) return this.#swap(client, chance)
    if (draw < 0.58) return client.batch(this.#keys(chance, 3).flatMap((id) => this.#verb(id, chance)))
    if (draw < 0.64) return client.alone(this.#verb(chance.pick(this.#lists), chance)[0]!)
    if (draw < 0.7) return this.#read(client, chance)
    if (draw < 0.75) return this.#copy(client, chance, [{ kind: 'refused' }])
    if (draw < 0.85) return this.#pass(client, chance)
    if (draw < 0.94) return this.#pages(client, chance, null)
    return this.#pages(client, chance, this.#seq - Math.floor(chance.next() * 10))
  }

  /** Reads lists and writes them longer by references within the batch: no version is compared. */
  async #copy(client: Client, chance: Chance, more: readonly Operation[] = []): Promise<void> {
    const operations: Operation[] = []
    const latest = new Map<string, number>()
    for (const id of [...this.#keys(chance, 3), ...this.#keys(chance, 1)]) {
      if (!latest.has(id)) latest.set(id, operations.push({ kind: 'read', type: 'Series', id }) - 1)
      if (chance.next() < 0.3) continue
      const value = ++this.#value
      const items = [{ $ref: `o${latest.get(id)}`, path: 'items' }, value]
      const body = { items, weight: weightOf(chance) }
      latest.set(id, operations.push({ kind: 'append', how: 'put', id, value, body }) - 1)
    }
    const done = await client.batch([...operations, ...this.#view(chance), ...more])
    await this.#learn(client, chance, operations, done)
  }

  /** Reads lists first, and then writes those that have not changed. */
  async #swap(client: Client, chance: Chance): Promise<void> {
    const keys = this.#keys(chance, 3)
    const { outcome, results } = await client.batch(keys.map((id) => ({ kind: 'read', type: 'Series', id })))
    if (outcome !== 'ok') return
    const operations = keys.map((id, index): Operation => {
      if (index > 0 && chance.next() < 0.3) return { kind: 'read', type: 'Series', id }
      const from = { version: results[index].$version, list: listOf(results[index]) }
      const value = ++this.#value
      const body = { items: [...from.list, value], weight: weightOf(chance) }
      return { kind: 'append', how: 'put', id, value, body, from }
    })
    const done = operations.length === 1 ? await client.alone(operations[0]!) : await client.batch(operations)
    await this.#learn(client, chance, operations, done)
  }

  #verb(id: string, chance: Chance): Operation[] {
    const value = ++this.#value
    const append: Operation = {
      kind: 'append',
      how: 'verb',
      id,
      value,
      body: { last: value, weight: weightOf(chance) },
    }
    return chance.next() < 0.3 ? [append, { kind: 'read', type: 'Series', id }] : [append]
  }

  async #read(client: Client, chance: Chance): Promise<void> {
    if (chance.next() < 0.3 && this.#passing.length > 0)
      return void (await client.alone({ kind: 'read', type: 'Series', id: chance.pick(this.#passing) }))
    const reads = this.#keys(chance, 4).map((id): Operation => ({ kind: 'read', type: 'Series', id }))
    await client.batch([...reads, ...this.#view(chance)])
  }

  /** A list, a computed field and the newest event, in the middle of a transaction. */
  #view(chance: Chance): Operation[] {
    if (chance.next() < 0.5) return []
    return [
      { kind: 'list', query: this.#query(chance), cursor: null, asOf: null },
      { kind: 'read', type: 'Shelf', id: chance.pick(this.#shelves) },
      { kind: 'moment' },
    ]
  }

  /** Creates and deletes what only lists show. */
  async #pass(client: Client, chance: Chance): Promise<void> {
    const gone = chance.next() < 0.5 ? this.#passing.splice(0, 1) : []
    const create: Operation = { kind: 'create', body: this.#draft(chance) }
    const operations: Operation[] = [
      create,
      ...gone.map((id): Operation => ({ kind: 'delete', id })),
      { kind: 'moment' },
    ]
    const { outcome, results } = await client.batch(operations)
    if (outcome !== 'ok') return
    this.#passing.push(results[0].$id)
    this.#seq = Math.max(this.#seq, results.at(-1).log.seq)
  }

  /** All pages of a list, each with the moment that it shows, or all as of one moment. */
  async #pages(client: Client, chance: Chance, asOf: number | null): Promise<void> {
    let query = this.#query(chance)
    for (let cursor: string | null = null; ; ) {
      const list: Operation = { kind: 'list', query, cursor, asOf }
      const { outcome, results }: Done =
        chance.next() < 0.5 ? await client.alone(list) : await client.batch([list, { kind: 'moment' }])
      if (outcome !== 'ok' || !results[0].hasMore) return
      query = { ...query, after: results[0].results.at(-1) as Shown }
      cursor = results[0].cursor
    }
  }

  #query(chance: Chance): ListQuery {
    const from = Math.floor(chance.next() * WEIGHTS * 0.6)
    const [isDescending, more] = [chance.next() < 0.5, chance.next() < 0.5]
    const byWeight = { field: 'weight', isDescending }
    return {
      type: 'Series',
      shelf: chance.next() < 0.7 ? chance.pick(this.#shelves) : null,
      weight: { $gte: from, $lt: from + Math.ceil(chance.next() * WEIGHTS) },
      least: chance.next() < 0.3 ? Math.floor(chance.next() * 60) : null,
      sort: more ? [byWeight] : [{ field: 'shelf', isDescending: chance.next() < 0.5 }, byWeight],
      limit: 2 + Math.floor(chance.next() * 4),
      after: null,
    }
  }

  /** Replaces lists that have become long. */
  async #learn(client: Client, chance: Chance, operations: readonly Operation[], { outcome }: Done): Promise<void> {
    if (outcome === 'fail') return
    for (const one of operations) {
      if (one.kind !== 'append') continue
      const length = (this.#lengths.get(one.id) ?? 0) + 1
      this.#lengths.set(one.id, length)
      if (length !== LONGEST) continue
      const made = await client.batch([{ kind: 'create', body: this.#draft(chance) }])
      if (made.outcome === 'ok') this.#adopt(made.results[0].$id, one.id)
    }
  }

  #adopt(id: string, replaced?: string): void {
    this.#all.push(id)
    if (replaced === undefined) this.#lists.push(id)
    else this.#lists.splice(this.#lists.indexOf(replaced), 1, id)
  }

  #draft(chance: Chance): object {
    return { items: [], weight: weightOf(chance), shelf: chance.pick(this.#shelves) }
  }

  /** Some of the lists, at least one. */
  #keys(chance: Chance, most: number): string[] {
    return chance.shuffle(this.#lists).slice(0, 1 + Math.floor(chance.next() * most))
  }
}

function weightOf(chance: Chance): number {
  return Math.floor(chance.next() * WEIGHTS)
}
