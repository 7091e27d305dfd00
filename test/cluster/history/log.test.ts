import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Chance } from '../../chance.ts'
import type { LoggedEvent, Observation, Operation } from './history.ts'
import { countUnacknowledged, judgeLog } from './log.ts'

interface Run {
  readonly log: readonly LoggedEvent[]
  readonly operations: readonly Operation[]
  readonly observations: readonly Observation[]
}

const seeds = fc.integer({ min: 1, max: 1_000_000 })

test('a correct run is accepted, and writes without an answer that happened are counted', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const run = correctRun(seed)
      const happened = run.operations.filter(
        ({ outcome, action }) =>
          outcome === 'unknown' && run.log.some(({ value }) => 'value' in action && value === action.value),
      )

      expect(judgeLog(run.log, run.operations, run.observations)).toEqual([])
      expect(countUnacknowledged(run.log, run.operations)).toBe(happened.length)
    }),
  )
})

test.each<[string, (run: Run, chance: Chance) => Run, RegExp]>([
  ['the last acknowledged write is lost', loseLast, /lost/],
  ['an acknowledged write is lost and later events take its numbers', loseAndRenumber, /lost/],
  ['an event is missing', ({ log, ...rest }, chance) => ({ ...rest, log: without(log, chance) }), /lost/],
  ['a write is applied twice', duplicate, /duplicated/],
  ['two events change places', reorder, /reordered/],
  ['a refused write is in the log', refuse, /phantom/],
  ['a follower saw an event that the log replaced', replaceSeen, /lost/],
  ['a follower received an event twice', repeatSeen, /duplicated/],
])('it is found that %s', (_, plant, expected) => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const { log, operations, observations } = plant(correctRun(seed), new Chance(seed))
      const found = judgeLog(log, operations, observations).map(({ kind }) => kind)

      expect(found.join(' ')).toMatch(expected)
    }),
  )
})

/** Five clients write to three entities of one log; some answers do not arrive; two followers read along. */
function correctRun(seed: number): Run {
  const chance = new Chance(seed)
  const log: LoggedEvent[] = []
  const operations: Operation[] = []
  const versions = new Map<string, number>()
  for (let at = 0; at < 40; at++) {
    const entity = `contact_${Math.floor(chance.next() * 3)}`
    const value = `w${at}`
    const isUnknown = at % 5 === 3
    const isApplied = !isUnknown || chance.next() < 0.5
    const version = (versions.get(entity) ?? 0) + 1
    if (isApplied) {
      versions.set(entity, version)
      log.push({ seq: log.length + 1, id: `event_${at}`, entity, version, verb: 'update', value })
    }
    operations.push({
      client: `c${at % 5}`,
      entity,
      action: { kind: 'write', value },
      outcome: isUnknown ? 'unknown' : 'ok',
      began: at * 10 - chance.next() * 5,
      ended: isUnknown ? Number.POSITIVE_INFINITY : at * 10 + chance.next() * 4,
      version: isUnknown ? null : version,
      value: isUnknown ? null : value,
    })
  }
  const observations = ['f1', 'f2'].flatMap((follower) => log.map(({ seq, id }) => ({ follower, seq, id })))
  return { log, operations, observations }
}

function loseLast({ log, operations }: Run): Run {
  const values = operations.flatMap((one) => (one.outcome === 'ok' && 'value' in one.action ? one.action.value : []))
  const last = log.findLastIndex(({ value }) => values.includes(value!))
  return { log: log.slice(0, last), operations, observations: [] }
}

function loseAndRenumber({ log, operations }: Run, chance: Chance): Run {
  const acknowledged = operations.filter(({ outcome }) => outcome === 'ok')
  const lost = chance.pick(acknowledged)
  const kept = log.filter(({ value }) => !('value' in lost.action) || value !== lost.action.value)
  const versions = new Map<string, number>()
  const renumbered = kept.map((event, index) => {
    const version = (versions.get(event.entity) ?? 0) + 1
    versions.set(event.entity, version)
    return { ...event, seq: index + 1, version }
  })
  return { log: renumbered, operations, observations: [] }
}

function without(log: readonly LoggedEvent[], chance: Chance): readonly LoggedEvent[] {
  return log.toSpliced(1 + Math.floor(chance.next() * (log.length - 2)), 1)
}

function duplicate({ log, ...rest }: Run, chance: Chance): Run {
  const again = chance.pick(log)
  const version = 1 + log.filter(({ entity }) => entity === again.entity).length
  return { ...rest, log: [...log, { ...again, seq: log.length + 1, id: 'event_again', version }] }
}

/** Two neighbours of different entities, so that no version tells. */
function reorder({ log, operations }: Run): Run {
  const acknowledged = new Set(
    operations.flatMap((one) => (one.outcome === 'ok' && 'value' in one.action ? one.action.value : [])),
  )
  const at = log.findIndex(
    (event, index) =>
      index > 0 &&
      event.entity !== log[index - 1]!.entity &&
      acknowledged.has(event.value!) &&
      acknowledged.has(log[index - 1]!.value!),
  )
  const [first, second] = [log[at - 1]!, log[at]!]
  const swapped = log.with(at - 1, { ...second, seq: first.seq }).with(at, { ...first, seq: second.seq })
  return { log: swapped, operations, observations: [] }
}

function refuse({ operations, ...rest }: Run, chance: Chance): Run {
  const lie = chance.pick(operations.filter(({ outcome }) => outcome === 'ok'))
  return { ...rest, operations: operations.map((one) => (one === lie ? { ...one, outcome: 'fail' } : one)) }
}

function replaceSeen({ observations, ...rest }: Run, chance: Chance): Run {
  const at = Math.floor(chance.next() * observations.length)
  return { ...rest, observations: observations.with(at, { ...observations[at]!, id: 'event_other' }) }
}

function repeatSeen({ observations, ...rest }: Run, chance: Chance): Run {
  const at = Math.floor(chance.next() * observations.length)
  return { ...rest, observations: observations.toSpliced(at, 0, observations[at]!) }
}
