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

/** One request of an operation, as the load generator sends it. `{i}` is replaced by a number that never repeats. */
export interface Shot {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** One path is drawn for each request. */
  readonly paths: readonly string[]
  readonly body?: string
  readonly headers: { readonly [name: string]: string }
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
  /** Starts it on loopback and loads that many persons; throws when it cannot run here, and says why. */
  start(rows: number): Promise<Running>
}

/** The values of `source`, by which lists are filtered. */
export const SOURCES: readonly string[] = Array.from({ length: 100 }, (_, i) => `source-${i}`)

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

/** What every product can do with a person, by its addresses: of all persons, of each, and of a list by source. */
export function shotsAt(
  items: string,
  paths: readonly string[],
  list: (source: string) => string,
  headers: Shot['headers'],
): Running['shots'] {
  const body = JSON.stringify({ ...person(1), email: 'n{i}@example.org' })
  return {
    create: { method: 'POST', paths: [items], body, headers },
    get: { method: 'GET', paths, headers },
    list: { method: 'GET', paths: SOURCES.map(list), headers },
    update: { method: 'PATCH', paths, body: '{"score":{i}}', headers },
  }
}
