import { type ListQuery, type Page, pageOf, type Shown, type State } from './list-query.ts'
import type { Anomaly, Outcome } from './transaction.ts'

/** One event of the log, with the entity after it. */
export interface LoggedEvent {
  readonly seq: number
  readonly type: string
  readonly entity: string
  readonly verb: string
  readonly correlation: string | null
  readonly data: Shown
}

/** What one part of a request showed, in the order of the parts. */
export type Part =
  /** The entity after the write; null for a deletion. */
  | { readonly kind: 'write'; readonly id: string; readonly shown: Shown | null }
  /** The entity, or null if it was not found. */
  | { readonly kind: 'read'; readonly id: string; readonly shown: Shown | null }
  | { readonly kind: 'list'; readonly query: ListQuery; readonly page: Page; readonly asOf: number | null }
  /** The number of the newest event, as the answer names it. */
  | { readonly kind: 'moment'; readonly seq: number }

/** A request whose events have its name as their correlation. */
export interface Request {
  readonly name: string
  readonly outcome: Outcome
  readonly began: number
  readonly ended: number
  readonly parts: readonly Part[]
}

/** The place of a request in the log: between which events it happened. */
interface Place {
  readonly first: number
  readonly last: number
}

/**
 * Compares every answer with a replay of the log. The log has all writes in one order, so a writing request is at its
 * events, and a reading one must fit between two transactions, not before what had ended when it began.
 */
export function judgeReplay(log: readonly LoggedEvent[], requests: readonly Request[]): Anomaly[] {
  const replay = new Replay(log)
  const places = new Map<Request, Place>()
  return [
    ...replay.faults,
    ...requests.flatMap((request) => judgeWrites(replay, request, places)),
    ...judgeTimes(places),
    ...judgeReads(replay, requests, places),
  ]
}

class Replay {
  readonly log: readonly LoggedEvent[]
  readonly faults: Anomaly[] = []
  readonly places = new Map<string, Place>()
  readonly #versions = new Map<string, LoggedEvent[]>()
  readonly #texts = new Map<LoggedEvent, string>()

  constructor(log: readonly LoggedEvent[]) {
    this.log = log
    for (const [index, event] of log.entries()) {
      if (event.seq !== index + 1)
        this.faults.push({ kind: 'log', message: `event ${event.seq} is at place ${index + 1}` })
      const versions = this.#versions.get(event.entity)
      if (versions === undefined) this.#versions.set(event.entity, [event])
      else versions.push(event)
      if (event.correlation !== null) this.#extend(event.correlation, event.seq)
    }
  }

  #extend(name: string, seq: number): void {
    const place = this.places.get(name)
    if (place !== undefined && place.last !== seq - 1)
      this.faults.push({ kind: 'interleaved', message: `${name} has the events ${place.last} and ${seq}` })
    this.places.set(name, { first: place?.first ?? seq, last: seq })
  }

  /** Whether no transaction is in the middle after an event. */
  isWhole(seq: number): boolean {
    const [event, next] = [this.log[seq - 1], this.log[seq]]
    return event === undefined || event.correlation === null || event.correlation !== next?.correlation
  }

  eventOf(id: string, seq: number): LoggedEvent | undefined {
    return this.#versions.get(id)?.findLast((event) => event.seq <= seq)
  }

  textOf(event: LoggedEvent): string {
    const text = this.#texts.get(event) ?? textOf(event.data)
    this.#texts.set(event, text)
    return text
  }

  /** Whether an answer about an entity is right after an event. */
  isRight(id: string, shown: Shown | null, seq: number): boolean {
    const event = this.eventOf(id, seq)
    if (event === undefined || event.verb === 'delete') return shown === null
    return shown !== null && this.textOf(event) === textOf(shown)
  }

  stateAt(seq: number): State {
    const get = (id: string) => {
      const event = this.eventOf(id, seq)
      return event === undefined || event.verb === 'delete' ? null : event.data
    }
    return {
      get,
      ordinal: (id) => this.#versions.get(id)![0]!.seq,
      all: (type) =>
        [...this.#versions].flatMap(([id, [first]]) => {
          const entity = first!.type === type ? get(id) : null
          return entity === null ? [] : [entity]
        }),
    }
  }

  /** Whether all parts of an answer are right after an event. */
  holds(parts: readonly Part[], seq: number): boolean {
    return parts.every((part) => this.#isPartRight(part, seq))
  }

  #isPartRight(part: Part, seq: number): boolean {
    switch (part.kind) {
      case 'read':
        return this.isRight(part.id, part.shown, seq)
      case 'moment':
        return part.seq === seq
      case 'list':
        return samePage(pageOf(part.query, this.stateAt(part.asOf ?? seq)), part.page)
      case 'write':
        return true
    }
  }
}

/** Finds the events of a request, and compares what it showed with them. */
function judgeWrites(replay: Replay, request: Request, places: Map<Request, Place>): Anomaly[] {
  const { name, outcome, parts } = request
  const place = replay.places.get(name)
  const writes = parts.filter((part) => part.kind === 'write')
  if (place === undefined) {
    const isLost = outcome === 'ok' && writes.length > 0
    return isLost ? [{ kind: 'lost', message: `${name} was acknowledged and is not in the log` }] : []
  }
  if (outcome === 'fail') return [{ kind: 'phantom', message: `${name} was refused and is event ${place.first}` }]
  places.set(request, place)
  if (outcome === 'unknown') return []
  return judgeSteps(replay, request, place)
}

/** The parts of a writing request: each write is its next event, each read shows the events of the parts before it. */
function judgeSteps(replay: Replay, { name, parts }: Request, place: Place): Anomaly[] {
  const isOwn = (part: Part, seq: number) => part.kind === 'write' && replay.log[seq - 1]!.entity === part.id
  const anomalies: Anomaly[] = []
  let done = place.first - 1
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'write') {
      done++
      // Events of computed fields follow the write that they come from.
      while (done <= place.last && !isOwn(part, done)) done++
      if (done > place.last || !replay.isRight(part.id, part.shown, done))
        anomalies.push({ kind: 'write', message: `${name} showed ${textOf(part.shown)}, which is not its event` })
      continue
    }
    const next = parts.slice(index).find((later) => later.kind === 'write')
    let seen = done
    while (seen < place.last && !(next && isOwn(next, seen + 1))) seen++
    if (!replay.holds([part], seen))
      anomalies.push({ kind: 'read', message: `${name} showed ${shownBy(part)}, which is not the state after ${seen}` })
  }
  return anomalies
}

/** A request that had ended before another began is before it in the log. */
function judgeTimes(places: ReadonlyMap<Request, Place>): Anomaly[] {
  const byEnd = [...places].toSorted(([a], [b]) => a.ended - b.ended)
  const anomalies: Anomaly[] = []
  let next = 0
  let newest: [Request, Place] | null = null
  for (const [request, place] of [...places].toSorted(([a], [b]) => a.began - b.began)) {
    for (; next < byEnd.length && byEnd[next]![0].ended < request.began; next++) {
      if (newest === null || byEnd[next]![1].last > newest[1].last) newest = byEnd[next]!
    }
    if (newest !== null && newest[1].last > place.first)
      anomalies.push({
        kind: 'reordered',
        message: `${request.name} is event ${place.first}, and ${newest[0].name}, which had ended, is event ${newest[1].last}`,
      })
  }
  return anomalies
}

/** Each reading request gets the earliest place at which its answer is right, and which is not before what it follows. */
function judgeReads(replay: Replay, requests: readonly Request[], places: ReadonlyMap<Request, Place>): Anomaly[] {
  const reading = requests.filter((one) => one.outcome === 'ok' && !places.has(one) && one.parts.length > 0)
  const found = new Map([...places].map(([request, { last }]) => [request, last]))
  const begins = [...places].toSorted(([a], [b]) => a.began - b.began)
  const anomalies: Anomaly[] = []
  for (const request of reading.toSorted((a, b) => a.began - b.began)) {
    const least = Math.max(0, ...[...found].flatMap(([other, seq]) => (other.ended < request.began ? seq : [])))
    const later = begins.filter(([other]) => other.began > request.ended)
    const most = Math.min(replay.log.length, ...later.map(([, { first }]) => first - 1))
    let at = least
    while (at <= most && !(replay.isWhole(at) && replay.holds(request.parts, at))) at++
    found.set(request, Math.min(at, most))
    if (at > most)
      anomalies.push({
        kind: 'read',
        message: `${request.name} showed ${request.parts.map(shownBy).join(' and ')}, which is no state from ${least} to ${most}`,
      })
  }
  return anomalies
}

function samePage(expected: Page, page: Page): boolean {
  return (
    expected.total === page.total &&
    expected.hasMore === page.hasMore &&
    expected.results.length === page.results.length &&
    expected.results.every((entity, index) => textOf(entity) === textOf(page.results[index]!))
  )
}

function shownBy(part: Part): string {
  if (part.kind === 'moment') return `event ${part.seq}`
  if (part.kind !== 'list') return `${part.id} as ${textOf(part.shown)}`
  const { query, page, asOf } = part
  const rows = page.results.map(({ $id, $version, weight }) => `${$id} ${$version} ${weight}`)
  return `${JSON.stringify(query)} as of ${asOf ?? 'now'} as ${page.total}: ${rows.join(', ')}`
}

/** An entity as text: equal for equal entities. */
function textOf(shown: Shown | null): string {
  if (shown === null) return 'nothing'
  return JSON.stringify(
    Object.entries(shown)
      .filter(([name]) => name !== '$context')
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}
