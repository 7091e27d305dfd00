import type { LoggedEvent, Observation, Operation, Violation } from './history.ts'

/** What the log of one tenant contradicts: acknowledged writes, the order of events, and what followers saw. */
export function judgeLog(
  log: readonly LoggedEvent[],
  operations: readonly Operation[],
  observations: readonly Observation[],
  /** The number of the event before the run. */
  after = 0,
): Violation[] {
  const places = placesOf(log)
  return [
    ...judgeNumbers(log, after),
    ...judgeAcknowledged(places, operations),
    ...judgeValues(places, operations),
    ...judgeOrder(places, operations),
    ...judgeObservations(log, observations, after),
  ]
}

/** How many writes without an answer are in the log all the same. */
export function countUnacknowledged(log: readonly LoggedEvent[], operations: readonly Operation[]): number {
  const places = placesOf(log)
  return operations.filter((one) => one.outcome === 'unknown' && places.has(writtenBy(one) ?? '')).length
}

type Places = ReadonlyMap<string, readonly LoggedEvent[]>

/** Every write has its own value, so the value names the write. */
function placesOf(log: readonly LoggedEvent[]): Places {
  const places = new Map<string, LoggedEvent[]>()
  for (const event of log) {
    if (event.value === null) continue
    const found = places.get(event.value)
    if (found === undefined) places.set(event.value, [event])
    else found.push(event)
  }
  return places
}

function writtenBy({ action }: Operation): string | null {
  return action.kind === 'read' ? null : action.value
}

function judgeNumbers(log: readonly LoggedEvent[], after: number): Violation[] {
  const violations: Violation[] = []
  const versions = new Map<string, number>()
  for (const [index, event] of log.entries()) {
    const before = log[index - 1]?.seq ?? after
    if (event.seq !== before + 1) {
      const kind = event.seq > before ? 'lost' : event.seq === before ? 'duplicated' : 'reordered'
      violations.push({ kind, message: `event ${event.seq} follows event ${before}` })
    }
    const version = versions.get(event.entity)
    if (version !== undefined && event.version !== version + 1)
      violations.push({
        kind: event.version > version ? 'lost' : 'duplicated',
        message: `${event.entity} has version ${event.version} after ${version} at event ${event.seq}`,
      })
    versions.set(event.entity, event.version)
  }
  return violations
}

function judgeAcknowledged(places: Places, operations: readonly Operation[]): Violation[] {
  return operations.flatMap((operation): Violation[] => {
    const value = writtenBy(operation)
    if (operation.outcome !== 'ok' || value === null) return []
    const [event] = places.get(value) ?? []
    const asked = `${operation.action.kind} of ${value} by ${operation.client}`
    if (event === undefined) return [{ kind: 'lost', message: `${asked} was acknowledged and is not in the log` }]
    if (event.entity !== operation.entity || event.version !== operation.version) {
      const told = `${operation.entity} version ${operation.version}`
      return [
        { kind: 'lost', message: `${asked} was told ${told}; the log has ${event.entity} version ${event.version}` },
      ]
    }
    return []
  })
}

function judgeValues(places: Places, operations: readonly Operation[]): Violation[] {
  const asked = new Map(operations.map((operation) => [writtenBy(operation), operation]))
  const violations: Violation[] = []
  for (const [value, events] of places) {
    const numbers = events.map(({ seq }) => seq).join(', ')
    if (events.length > 1) violations.push({ kind: 'duplicated', message: `${value} is in the log at ${numbers}` })
    const operation = asked.get(value)
    if (operation === undefined)
      violations.push({ kind: 'phantom', message: `${value} at event ${numbers} was never sent` })
    else if (operation.outcome === 'fail')
      violations.push({ kind: 'phantom', message: `${value} at event ${numbers} was answered as refused` })
  }
  return violations
}

/** A write that was acknowledged before another began comes before it in the log. */
function judgeOrder(places: Places, operations: readonly Operation[]): Violation[] {
  const placed = operations.flatMap((operation) => {
    const event = operation.outcome === 'ok' ? places.get(writtenBy(operation) ?? '')?.[0] : undefined
    return event === undefined ? [] : [{ operation, seq: event.seq }]
  })
  const byBegin = placed.toSorted((a, b) => a.operation.began - b.operation.began)
  const byEnd = placed.toSorted((a, b) => a.operation.ended - b.operation.ended)
  const violations: Violation[] = []
  let next = 0
  let latest: (typeof placed)[number] | null = null
  for (const one of byBegin) {
    while (next < byEnd.length && byEnd[next]!.operation.ended < one.operation.began) {
      const ended = byEnd[next++]!
      if (latest === null || ended.seq > latest.seq) latest = ended
    }
    if (latest !== null && latest.seq > one.seq)
      violations.push({
        kind: 'reordered',
        message: `${writtenBy(one.operation)} is event ${one.seq}, and ${writtenBy(latest.operation)}, acknowledged before it began, is event ${latest.seq}`,
      })
  }
  return violations
}

/** Events that a follower received must stay in the log, and come once and in order. */
function judgeObservations(
  log: readonly LoggedEvent[],
  observations: readonly Observation[],
  after: number,
): Violation[] {
  const ids = new Map(log.map(({ seq, id }) => [seq, id]))
  const last = new Map<string, number>()
  const violations: Violation[] = []
  for (const { follower, seq, id } of observations) {
    const before = last.get(follower) ?? after
    if (seq !== before + 1)
      violations.push({
        kind: seq > before ? 'lost' : 'duplicated',
        message: `${follower} saw event ${seq} after event ${before}`,
      })
    last.set(follower, seq)
    const found = ids.get(seq)
    if (found !== id)
      violations.push({
        kind: 'lost',
        message: `${follower} saw ${id} as event ${seq}; the log has ${found ?? 'none'}`,
      })
  }
  return violations
}
