import { allOf, invalid, isPlainObject, type JsonObject, Problem, parseInstant } from '@tildebase/nouns'
import type { Budget } from '../budget.ts'
import type { Engine } from '../engine/engine.ts'
import { type Steps, toEnd } from '../engine/turns.ts'
import { demand, type Grant } from '../grant/grant.ts'
import { findRows, type Page } from '../query/answer/find.ts'
import { filterOf } from '../query/parameters/filter.ts'
import { askedFilter } from '../query/parameters/parameters.ts'
import { readContextOf } from '../query/read-context.ts'
import { type Current, currentOf, type Stored } from '../store/entities.ts'
import { applyVerb, notFound } from '../write/verb.ts'
import type { CountedFunnel, FunnelStep as Step, VerbRequest, VerbResult } from '../write/verb-request.ts'
import type { Write } from '../write/write.ts'
import { ascending, deepest, type Visit } from './steps.ts'
import { rounded } from './view.ts'

const PAGE = 500
const MOST_EVENTS = 1_000_000
/** Each event is looked for among them, and each actor goes through them. */
const MOST_STEPS = 100
const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Analyses a Funnel: how many actors went through its steps in their order. The answer carries `analysis`. */
export function analyzeFunnel(write: Write, request: VerbRequest): VerbResult {
  const { engine, grant, context } = write
  const known = funnelOf(engine, request.id ?? '')
  const { counted } = request
  const isCounted = counted !== undefined && counted.question === JSON.stringify(questionOf(known, request.data))
  const { steps, counts } = isCounted ? counted : toEnd(countFunnel(engine, grant, context.budget, known, request.data))
  const analysis = {
    steps: steps.map(({ name }, index) => ({
      name,
      count: counts[index]!,
      conversion: ratio(counts[index]!, counts[0]!),
      dropOff: index === 0 ? 0 : counts[index - 1]! - counts[index]!,
    })),
    conversionRate: ratio(counts.at(-1)!, counts[0]!),
  }
  const result = applyVerb(write, { ...request, serviceFields: { conversionRate: analysis.conversionRate } })
  return { ...result, entity: { ...result.entity, extra: { analysis } } }
}

/** Counts the actors of a funnel, with what the request says instead of what is stored. */
export function* countFunnel(
  engine: Engine,
  grant: Grant,
  budget: Budget,
  funnel: Current,
  given: unknown,
): Steps<CountedFunnel> {
  const question = questionOf(funnel, given)
  const steps = stepsOf(question.steps)
  const windowMs = windowOf(question.window)
  const visits = yield* visitsOf(engine, grant, budget, steps, question.filter)
  const inOrder = visitsIn(visits, yield* ascending(visits.at))
  return { question: JSON.stringify(question), steps, counts: yield* deepest(inOrder, steps.length, windowMs) }
}

/** What decides the result: other changes of the funnel, such as its last result, do not. */
function questionOf({ data }: Current, given: unknown): JsonObject {
  const { steps, window, filter } = { ...JSON.parse(data), ...(isPlainObject(given) ? given : {}) }
  return { steps, window, filter }
}

export function funnelOf({ sql }: Engine, id: string): Current {
  const known = currentOf(sql, 'Funnel', id)
  if (!known || known.deleted) throw notFound('Funnel', id)
  return known
}

/** What actors did of the steps, newest first. There may be a million: numbers take little memory. */
interface Visits {
  readonly actor: number[]
  readonly at: number[]
  readonly name: number[]
  /** The steps of each name. */
  readonly steps: readonly (readonly number[])[]
}

function* visitsIn({ actor, at, name, steps }: Visits, order: Uint32Array): Generator<Visit> {
  for (const i of order) yield { actor: actor[i]!, at: at[i]!, steps: steps[name[i]!]! }
}

function* visitsOf(
  engine: Engine,
  grant: Grant,
  budget: Budget,
  steps: readonly Step[],
  filter: unknown,
): Steps<Visits> {
  const noun = engine.noun('Event')
  demand(grant, 'read', noun)
  const names = [...new Set(steps.map(({ event }) => event))]
  const asked = allOf([
    filterOf(engine, noun, { name: { $in: names } }),
    askedFilter(engine, grant, noun, filter ?? {}),
  ])
  const reader = readContextOf(engine, grant, budget)
  const found: Visits = {
    actor: [],
    at: [],
    name: [],
    steps: names.map((name) => steps.flatMap(({ event }, i) => (event === name ? [i] : []))),
  }
  const actors = new Map<string, number>()
  let cursor: string | null = null
  do {
    const page: Page = findRows(reader, { type: noun.name, filter: asked, limit: PAGE, cursor, total: false })
    for (const event of page.results) addVisit(found, actors, names, event)
    if (found.at.length > MOST_EVENTS) {
      throw new Problem('too_many', `More than ${MOST_EVENTS} events match. Narrow them with a filter.`, {
        type: 'Funnel',
        field: 'filter',
        limit: MOST_EVENTS,
      })
    }
    cursor = page.cursor
    yield
  } while (cursor !== null)
  return found
}

function addVisit(found: Visits, actors: Map<string, number>, names: readonly string[], event: Stored): void {
  const { name, userId, anonymousId, sessionId, timestamp } = JSON.parse(event.data) as { [key: string]: unknown }
  const actor = userId ?? anonymousId ?? sessionId
  const place = names.indexOf(String(name))
  if (typeof actor !== 'string' || place === -1) return
  const number = actors.get(actor) ?? actors.size
  actors.set(actor, number)
  found.actor.push(number)
  found.at.push((typeof timestamp === 'string' ? parseInstant(timestamp) : null) ?? event.createdAt)
  found.name.push(place)
}

function stepsOf(steps: unknown): Step[] {
  if (Array.isArray(steps) && steps.length > MOST_STEPS)
    throw invalid('Funnel', [{ field: 'steps', message: `may hold ${MOST_STEPS} steps` }])
  const parsed = Array.isArray(steps) ? steps.map(stepOf) : []
  if (parsed.length > 0 && parsed.every((step) => step !== null)) return parsed
  throw invalid('Funnel', [{ field: 'steps', message: 'must be a list of at least one event name or {name, event}' }])
}

function stepOf(step: unknown): Step | null {
  if (typeof step === 'string') return { name: step, event: step }
  if (!isPlainObject(step)) return null
  const { name, event } = step
  const matched = event ?? name
  if (typeof matched !== 'string') return null
  return { name: typeof name === 'string' ? name : matched, event: matched }
}

/** `7d` in milliseconds; no window is any time. */
function windowOf(window: unknown): number {
  if (window === undefined || window === null) return Number.POSITIVE_INFINITY
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(String(window)) ?? []
  if (count !== undefined) return Number(count) * UNITS[unit!]!
  throw invalid('Funnel', [{ field: 'window', message: 'must be a time such as 30m, 12h, 7d or 2w' }])
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : rounded(part / whole, 4)
}
