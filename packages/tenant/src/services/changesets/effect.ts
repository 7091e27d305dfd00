import type { Json, JsonObject, Noun } from '@tildebase/nouns'
import { builtInValues } from '../../business/metrics/builtin.ts'
import { rounded } from '../../business/view.ts'
import type { Steps } from '../../engine/turns.ts'
import { may } from '../../grant/grant.ts'
import { aggregate } from '../../query/answer/aggregate.ts'
import { readContextOf } from '../../query/read-context.ts'
import type { ReadContext } from '../../query/reader.ts'
import type { LogRow } from '../../store/log/log.ts'
import type { Write } from '../../write/write.ts'
import { openChangeset } from './changeset.ts'
import { operationsOf } from './operations.ts'
import { tryOut } from './review.ts'

/** A number that a changeset would change. */
interface Change {
  readonly from: number | null
  readonly to: number | null
}

interface MetricChange extends Change {
  readonly name: string
  readonly unit: string
}

/** How many entities of a type there are, or the sum of a field; of all of them, or of a group such as `{stage: 'Won'}`. */
interface AggregateChange extends Change {
  readonly type: string
  readonly measure: 'count' | 'sum'
  readonly field?: string
  readonly group?: JsonObject
}

/** What a changeset would change in numbers. */
export interface Effect {
  readonly metrics: readonly MetricChange[]
  readonly aggregates: readonly AggregateChange[]
}

/** A number under a key that is the same before and after, with what it is about. */
type Measured = ReadonlyMap<string, { readonly about: object; readonly value: number | null }>

/** The types that a trial changed, each with the fields of numbers that it changed. */
type Touched = ReadonlyMap<Noun, ReadonlySet<string>>

/** As many sums as one aggregation takes. */
const MOST_SUMS = 10

/** Measures an open changeset: the metrics, counts and sums that it would change, as the grant sees them. */
export function* effect(write: Write, id: string): Steps<Effect> {
  const { engine, grant, transaction } = write
  const operations = operationsOf(engine, openChangeset(engine, grant, id, 'effect'))
  const begin = transaction.events.length
  const { result } = yield* transaction.dryRunInSteps(function* () {
    yield* tryOut(write, operations)
    const touched = touchedBy(write, transaction.events.slice(begin))
    const metrics = metricsOf(write, touched)
    yield
    return { touched, metrics, aggregates: aggregatesOf(write, touched) }
  })
  const { touched, metrics, aggregates } = result
  return {
    metrics: changes(metricsOf(write, touched), metrics, null) as MetricChange[],
    // A group that only one side has is empty on the other.
    aggregates: changes(aggregatesOf(write, touched), aggregates, 0) as AggregateChange[],
  }
}

function changes(before: Measured, after: Measured, absent: number | null): object[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])]
  return keys.flatMap((key) => {
    const [old, next] = [before.get(key), after.get(key)]
    const [from, to] = [old ? old.value : absent, next ? next.value : absent]
    return from === to ? [] : [{ ...(next ?? old)!.about, from, to }]
  })
}

function touchedBy({ engine, grant }: Write, events: readonly LogRow[]): Touched {
  const touched = new Map<Noun, Set<string>>()
  for (const { type, data, previous } of events) {
    const noun = engine.nouns.get(type)
    if (noun?.name !== type || !may(grant, 'read', noun)) continue
    const fields = touched.get(noun) ?? new Set()
    touched.set(noun, fields)
    const given = Object.keys(JSON.parse(previous ?? data ?? '{}'))
    for (const field of given.filter((name) => isNumber(noun, name))) fields.add(field)
  }
  return touched
}

function isNumber({ fields }: Noun, name: string): boolean {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  return field?.kind === 'number' && !field.list
}

function metricsOf({ engine, grant, context }: Write, touched: Touched): Measured {
  const types = new Set([...touched.keys()].map(({ name }) => name))
  const values = builtInValues(engine, grant, readContextOf(engine, grant, context.budget), types)
  return new Map(values.map(({ name, unit, value }) => [name, { about: { name, unit }, value }]))
}

function aggregatesOf({ engine, grant, context }: Write, touched: Touched): Measured {
  const reader = readContextOf(engine, grant, context.budget)
  return new Map([...touched].flatMap(([noun, fields]) => [...counts(reader, noun), ...sums(reader, noun, fields)]))
}

type Entry = readonly [key: string, { readonly about: object; readonly value: number }]

/** How many entities there are, and in which states. */
function counts(reader: ReadContext, noun: Noun): Entry[] {
  const { name: type, stateField } = noun
  const { results, total } = aggregate(reader, noun, { group: stateField === null ? [] : [stateField] })
  const about = { type, measure: 'count' }
  const states = stateField === null ? [] : results
  return [
    entry(about, total),
    ...states.map((row) => entry({ ...about, group: { [stateField!]: row[stateField!]! } }, row.count as number)),
  ]
}

/** The sums of the fields, in each currency where the type has one. */
function sums(reader: ReadContext, noun: Noun, fields: ReadonlySet<string>): Entry[] {
  const chosen = [...fields].sort().slice(0, MOST_SUMS)
  if (chosen.length === 0) return []
  const group = 'currency' in noun.fields ? ['currency'] : []
  const { results } = aggregate(reader, noun, { group, sum: chosen })
  return results.flatMap((row) =>
    chosen.map((field) => {
      const about = { type: noun.name, measure: 'sum', field }
      const within: Json = row.currency ?? null
      const sum = (row.sum as JsonObject)[field] as number | null
      return entry(within === null ? about : { ...about, group: { currency: within } }, rounded(sum ?? 0, 6))
    }),
  )
}

function entry(about: object, value: number): Entry {
  return [JSON.stringify(about), { about, value }]
}
