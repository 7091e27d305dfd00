import type { ChildProcess } from 'node:child_process'

/** The operations that are compared. Not every contender has each of them. */
export const OPERATIONS = ['get', 'list', 'create', 'update', 'verb', 'asOf', 'text', 'batch'] as const
export type Operation = (typeof OPERATIONS)[number]

/** A person, as every contender stores one. */
export interface Person {
  readonly name: string
  readonly email: string
  readonly source: string
  readonly score: number
  readonly notes: string
}

/**
 * One request of an operation, as the load generator sends it. `{i}` is replaced by a number that never repeats, `{t}` by
 * the number of a tenant.
 */
export interface Shot {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** One path is drawn for each request. */
  readonly paths: readonly string[]
  readonly body?: string
  /** The body of each path, in place of one for all. */
  readonly bodies?: readonly string[]
  readonly headers: { readonly [name: string]: string }
  /** How many persons the answer contains. The answer to a write also contains the number that was sent. */
  readonly persons?: number
}

/** A contender that is running and holds the data. */
export interface Running {
  readonly url: string
  readonly process: ChildProcess
  /** Other processes that work for it: the database. */
  readonly pids?: () => number[]
  readonly shots: { readonly [operation in Operation]?: Shot }
  stop(): Promise<void>
}

/** Something that users could choose instead. */
export interface Contender {
  readonly name: string
  /** What a power cut may take after an answer. */
  readonly durability: string
  /**
   * Starts it on loopback and loads that many persons; throws when it cannot run here, and says why. With tenants, each
   * person belongs to one of them, and lists and creates are for one tenant.
   */
  start(rows: number, tenants?: number): Promise<Running>
}

/** The values of `source`, by which lists are filtered. */
export const SOURCES: readonly string[] = Array.from({ length: 100 }, (_, i) => `source-${i}`)

/** The number of tenants of the mixed workload. */
export const TENANTS = 200

/** With so many rows, each list of a source or of a tenant has 25 persons. */
export const LEAST_ROWS = 25 * TENANTS

const WORDS = ['ada', 'grace', 'alan', 'edsger', 'barbara', 'donald', 'margaret', 'linus', 'radia', 'tim']

/** The same person for the same number, in every product. */
export function person(i: number): Person {
  const first = WORDS[i % 10]!
  const last = WORDS[Math.floor(i / 10) % 10]!
  return {
    name: `${first} ${last} ${i}`,
    email: `p${i}@example.org`,
    source: `source-${i % 100}`,
    score: i % 1_000,
    notes: `${first} met ${last} at conference ${i % 37} and asked about plan ${i % 7}`,
  }
}

/** A person of a product that has no tenants: a field contains the name of the tenant. */
export function personOf(i: number, tenants?: number): Person & { readonly tenant?: string } {
  return tenants === undefined ? person(i) : { ...person(i), tenant: `t${i % tenants}` }
}

/** Where and how a product accepts requests about persons. */
interface Door {
  /** The address of all persons, to which a create is sent. */
  readonly items: string
  /** The addresses of single persons. */
  readonly paths: readonly string[]
  readonly headers: Shot['headers']
  readonly update: 'PUT' | 'PATCH'
  /** The address of 25 persons with this value of a field, and how many there are. */
  list(field: 'source' | 'tenant', value: string): string
  /** The body of a request, made of the fields. */
  body?(fields: object): object
}

/** The requests that every product can answer. */
export function shotsAt(door: Door, tenants?: number): Running['shots'] {
  const { items, paths, headers, update, list, body = (fields) => fields } = door
  const created = { ...person(1), email: 'n{i}@example.org', ...(tenants !== undefined && { tenant: 't{t}' }) }
  const updated = JSON.stringify(body({ score: 0 })).replace('0', '{i}')
  const lists =
    tenants === undefined
      ? SOURCES.map((source) => list('source', source))
      : Array.from({ length: tenants }, (_, tenant) => list('tenant', `t${tenant}`))
  return {
    create: { method: 'POST', paths: [items], body: JSON.stringify(body(created)), headers, persons: 1 },
    get: { method: 'GET', paths, headers, persons: 1 },
    list: { method: 'GET', paths: lists, headers, persons: 25 },
    update: { method: update, paths, body: updated, headers, persons: 1 },
  }
}
