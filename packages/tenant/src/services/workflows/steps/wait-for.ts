import { type Filter, type Json, type JsonObject, type Look, matchesEvent, type Noun, Problem } from '@tildebase/nouns'
import { type Reach, reachOfFilter, storedFilter } from '../../../authorship/reach.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Grant } from '../../../grant/grant.ts'
import type { SharedElements } from '../../../query/answer/elements.ts'
import { rowTest } from '../../../query/answer/memory.ts'
import { stateOnce } from '../../../query/answer/tested-view.ts'
import { filterOf } from '../../../query/parameters/filter.ts'
import { readContextOf } from '../../../query/read-context.ts'
import { viewKey, visibilityOf } from '../../../query/rights/visibility.ts'
import { orHidden } from '../../../query/words/regex.ts'
import { addWait, countOpenWaits, endWait, type WaitRow, waitedFor, waitsFor } from '../../../store/automation/waits.ts'
import { holdRun } from '../../../store/automation/workflow-runs.ts'
import type { LogRow } from '../../../store/log/log.ts'
import type { Write } from '../../../write/write.ts'
import { neverEmitted } from '../../events/emitted.ts'
import { faultsIn, resolve, type Sources } from '../values.ts'
import type { WaitForStep } from './step.ts'

/** Runs that may wait for one pattern without an equality in their filter: each event is compared with all of them. */
const MOST_OPEN = 1_000
const CACHED = 'Waits'

/** What is wrong with the event that a step waits for, and with its filter. */
export function waitForFaults(engine: Engine, pattern: string, filter: unknown, index: number): string[] {
  const fault = neverEmitted(engine.nouns, pattern)
  if (fault !== null) return [`waitFor: ${fault}`]
  if (filter === undefined) return []
  try {
    draftFilter(engine, pattern, filter)
    return faultsIn(filter as JsonObject, index)
  } catch (reason) {
    if (reason instanceof Problem) return [`filter: ${reason.message}`]
    throw reason
  }
}

/** What the filter of a step that waits for an event reads. */
export function waitForReach(engine: Engine, { waitFor: pattern, filter }: WaitForStep): Reach[] {
  return filter === undefined ? [] : reachOfFilter(engine, draftFilter(engine, pattern, filter))
}

/** A filter before its references have values: null fits every field. */
function draftFilter(engine: Engine, pattern: string, filter: unknown): Filter {
  return filterOf(engine, nounOf(engine, pattern), JSON.parse(JSON.stringify(filter), withoutReferences))
}

/** Notes the event that a run waits for. */
export function waitForEvent(
  write: Write,
  run: number,
  place: number,
  step: WaitForStep,
  sources: Sources,
): JsonObject {
  const { engine, sql, grant } = write
  const { waitFor: pattern } = step
  const filter = (resolve(step.filter ?? {}, sources) ?? {}) as JsonObject
  const noun = nounOf(engine, pattern)
  storedFilter(engine, grant, noun, filter)
  const { field, value } = equalityIn(noun, filter)
  if (field === '' && countOpenWaits(sql, pattern) >= MOST_OPEN) {
    const message = `${MOST_OPEN} runs already wait for ${pattern}. Add an equality to the filter, such as {"$id": "$event.data.$id"}.`
    throw new Problem('too_many', message, { field: 'filter', limit: MOST_OPEN })
  }
  addWait(sql, { run, step: place, pattern, field, value, filter: JSON.stringify(filter) })
  if (!pairs(engine).some((pair) => pair.pattern === pattern && pair.field === field)) engine.cache.forget(CACHED)
  return { waitFor: pattern, filter }
}

/** Lets the runs continue that waited for an event, in its transaction. `grantOf` gives the rights of a run's author. */
export function endWaits(
  write: Write,
  event: LogRow,
  grantOf: (run: number) => Grant | null,
  elements: SharedElements,
): void {
  const { engine, sql, context } = write
  const waited = pairs(engine).filter(({ pattern }) => matchesEvent(pattern, event.type, event.event))
  if (waited.length === 0) return
  const data = event.data === null ? {} : (JSON.parse(event.data) as JsonObject)
  // The runs of a workflow mostly ask the same: each question is answered once.
  const answers = new Map<string, boolean>()
  const isEnd = (grant: Grant, wait: WaitRow): boolean => {
    const question = JSON.stringify([wait.pattern, wait.filter, viewKey(grant)])
    const known = answers.get(question) ?? isAwaited(engine, grant, wait, event, elements.one())
    answers.set(question, known)
    return known
  }
  for (const { pattern, field } of waited) {
    const value = field === '' ? '' : field === '$id' ? event.entity : data[field]
    if (typeof value !== 'string') continue
    for (const wait of waitsFor(sql, pattern, field, value)) {
      const grant = grantOf(wait.run)
      if (grant === null || !isEnd(grant, wait)) continue
      endWait(sql, wait.run, event.seq)
      holdRun(sql, wait.run, context.clock.now())
      write.wakeAt(context.clock.now())
    }
  }
}

/** Whether an event is the one that a run waits for, as its author sees it. */
function isAwaited(engine: Engine, grant: Grant, { pattern, filter }: WaitRow, event: LogRow, look: Look): boolean {
  if (orHidden(() => visibilityOf(engine, grant, [pattern]).show(event, look)) === null) return false
  if (filter === '{}') return true
  const noun = engine.nouns.get(event.type)
  if (noun?.name !== event.type || event.data === null) return false
  try {
    const asked = storedFilter(engine, grant, noun, JSON.parse(filter))
    const test = rowTest(readContextOf(engine, grant), noun.name, asked)
    return test(stateOnce(event, event.data), look)
  } catch (reason) {
    if (reason instanceof Problem) return false
    throw reason
  }
}

/** What runs wait for is read again. */
export function forgetWaits(engine: Engine): void {
  engine.cache.forget(CACHED)
}

function pairs(engine: Engine) {
  return engine.cache.get([CACHED], 'waits', () => waitedFor(engine.sql))
}

/** A top-level equality of a text or a reference, by which the wait is found; empty when the filter has none. */
function equalityIn(noun: Noun, filter: JsonObject): { readonly field: string; readonly value: string } {
  for (const [field, value] of Object.entries(filter)) {
    if (typeof value === 'string' && (field === '$id' || isPlainText(noun, field))) return { field, value }
  }
  return { field: '', value: '' }
}

/** Whether a field holds one text, as it was written: a string, or a reference. */
function isPlainText(noun: Noun, name: string): boolean {
  const field = Object.hasOwn(noun.fields, name) ? noun.fields[name]! : null
  return field !== null && !field.list && (field.kind === 'string' || field.kind === 'forward')
}

/** The type of an event pattern; any type where the pattern names none. */
function nounOf(engine: Engine, pattern: string): Noun {
  return engine.nouns.named(pattern.split('.')[0]!) ?? engine.noun('Workflow')
}

function withoutReferences(_: string, value: Json): Json {
  return typeof value === 'string' && /^\$(?:event|steps)\b/.test(value) ? null : value
}
