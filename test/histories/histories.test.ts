import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Chance } from '../chance.ts'
import { testHost } from '../host.ts'
import { HOSTS, type TestedHost } from './hosts.ts'
import { judgeReplay, type Part, type Request } from './replay.ts'
import { counts, judge, type Played, play } from './round.ts'

/** Hosts that start quickly. `npm run histories` plays on all of them, and kills all of them. */
const QUICK: { readonly [name: string]: () => Promise<TestedHost> } = {
  'one thread': () => inThisProcess('0'),
  'two worker threads': () => inThisProcess('2'),
  'workerd that is killed': HOSTS.workerd!,
}

async function inThisProcess(workers: string): Promise<TestedHost> {
  const host = await testHost({}, { workers })
  return { service: { urls: () => [host.url] }, disturb: async () => undefined, stop: () => host.stop() }
}

describe.each(Object.entries(QUICK))('on %s', (name, start) => {
  let host: TestedHost
  beforeAll(async () => {
    host = await start()
  })
  afterAll(() => host.stop())

  test('transactions and lists of concurrent clients are strictly serializable', async () => {
    const disturb = () => host.disturb(new Chance(1), 'acme')

    const played = await play(host.service, 'acme', new Chance(7), { clients: 5, requests: 70, disturb })

    expect(judge(played)).toEqual([])
    expect(counts(played).lists).toBeGreaterThan(0)
    if (name === 'one thread') expectFaultsFound(played)
  })
})

type Plant = (played: Played) => Pick<Played, 'log' | 'requests'>

/** Faults that are planted in what was recorded, and how the replay names them. */
const FAULTS: readonly (readonly [string, string, Plant])[] = [
  [
    'an acknowledged write is not in the log',
    'lost',
    ({ log, requests }) => {
      const { name } = requests.find((one) => one.outcome === 'ok' && one.parts.some(({ kind }) => kind === 'write'))!
      return {
        requests,
        log: log.map((event) => (event.correlation === name ? { ...event, correlation: null } : event)),
      }
    },
  ],
  [
    'a refused write is in the log',
    'phantom',
    changeRequest(
      (one) => hasWrite(one),
      (one) => ({ ...one, outcome: 'fail' }),
    ),
  ],
  [
    'a transaction has another one in its middle',
    'interleaved',
    ({ log, requests }) => {
      const at = log.findIndex((event, index) => event.correlation && log[index + 2]?.correlation === event.correlation)
      return { requests, log: log.with(at + 1, { ...log[at + 1]!, correlation: 'another' }) }
    },
  ],
  ['a read shows an old version', 'read', changePart('read', older)],
  ['a write answers with another state', 'write', changePart('write', older)],
  ['a list lacks an entity', 'read', changePart('list', (part) => withPage(part, ({ results }) => results.slice(1)))],
  ['a list is not sorted', 'read', changePart('list', (part) => withPage(part, ({ results }) => results.toReversed()))],
  [
    'the newest event is not the one that an answer names',
    'read',
    changePart('moment', (part) => ({ ...part, seq: part.seq - 1 })),
  ],
  [
    'writes are in another order than that of time',
    'reordered',
    ({ log, requests }) => {
      const first = requests.findIndex(hasWrite)
      return { log, requests: requests.with(first, { ...requests[first]!, began: 1e12, ended: 1e12 + 1 }) }
    },
  ],
]

/** The faults are planted in the history of a real service. */
function expectFaultsFound(played: Played): void {
  for (const [what, kind, plant] of FAULTS) {
    const { log, requests } = plant(played)
    const found = judgeReplay(log, requests).map((anomaly) => anomaly.kind)
    expect(found, what).toContain(kind)
  }
}

function hasWrite({ outcome, parts }: Request): boolean {
  return outcome === 'ok' && parts.some(({ kind }) => kind === 'write')
}

function changeRequest(is: (request: Request) => boolean, change: (request: Request) => Request): Plant {
  return ({ log, requests }) => {
    const at = requests.findIndex(is)
    return { log, requests: requests.with(at, change(requests[at]!)) }
  }
}

/** Changes the first part of a kind that can be changed. */
function changePart<K extends Part['kind']>(kind: K, change: (part: Extract<Part, { kind: K }>) => Part | null): Plant {
  return ({ log, requests }) => {
    for (const [at, request] of requests.entries()) {
      for (const [index, part] of request.parts.entries()) {
        const other = part.kind === kind ? change(part as Extract<Part, { kind: K }>) : null
        if (other === null) continue
        const parts = request.parts.with(index, other)
        return { log, requests: requests.with(at, { ...request, parts }) }
      }
    }
    throw new Error(`No answer has a ${kind} to change.`)
  }
}

function older(part: Extract<Part, { kind: 'read' | 'write' }>): Part | null {
  return part.shown === null ? null : { ...part, shown: { ...part.shown, $version: part.shown.$version - 1 } }
}

function withPage(
  part: Extract<Part, { kind: 'list' }>,
  change: (page: (typeof part)['page']) => (typeof part)['page']['results'],
): Part | null {
  const results = change(part.page)
  return part.page.results.length < 2 ? null : { ...part, page: { ...part.page, results } }
}
