import { type Issue, invalid, isPattern, isPlainObject, type Json, type JsonObject, type Noun } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { filterOf } from '../../query/parameters/filter.ts'
import { neverEmitted } from '../events/emitted.ts'
import { noScript } from '../scripts/no-script.ts'
import { parseSchedule, type Schedule } from './schedule.ts'
import { stepFaults } from './steps/check.ts'
import { durationOf } from './steps/duration.ts'
import type { Step } from './steps/step.ts'

/** What a workflow does, read from its entity. */
export interface Definition {
  readonly pattern: string | null
  readonly filter: JsonObject | null
  readonly schedule: Schedule | null
  readonly steps: readonly Step[]
  readonly errorHandling: 'Stop' | 'Continue' | 'Fallback'
  readonly retries: number
  readonly backoffMs: number
  readonly timeoutMs: number | null
}

/** The fields that decide what a workflow does. */
export const BEHAVIOUR = [
  'triggerEvent',
  'filter',
  'schedule',
  'steps',
  'retryPolicy',
  'errorHandling',
  'timeout',
] as const

const MOST_STEPS = 50
const MOST_RETRIES = 20
const LONGEST = 30 * 86_400_000

/** The definition in a valid Workflow. */
export function definitionOf(data: JsonObject): Definition {
  const schedule = typeof data.schedule === 'string' ? parseSchedule(data.schedule) : null
  const policy = isPlainObject(data.retryPolicy) ? data.retryPolicy : {}
  return {
    pattern: typeof data.triggerEvent === 'string' ? data.triggerEvent : null,
    filter: isPlainObject(data.filter) ? (data.filter as JsonObject) : null,
    schedule: schedule === null || 'fault' in schedule ? null : schedule,
    steps: Array.isArray(data.steps) ? (data.steps as unknown as readonly Step[]) : [],
    errorHandling: (data.errorHandling as Definition['errorHandling'] | undefined) ?? 'Stop',
    retries: typeof policy.retries === 'number' ? policy.retries : 0,
    backoffMs: durationOf(policy.backoff, LONGEST) ?? 0,
    timeoutMs: typeof data.timeout === 'number' ? data.timeout * 1_000 : null,
  }
}

/** Refuses a Workflow that cannot run as it is. */
export function checkDefinition(engine: Engine, data: JsonObject): void {
  const issues = [
    ...triggerIssues(engine, data),
    ...stepsIssues(engine, data.steps),
    ...policyIssues(data.retryPolicy),
    ...timeoutIssues(data.timeout),
  ]
  if (issues.length > 0) throw invalid('Workflow', issues)
  const hasCode = definitionOf(data).steps.some((step) => 'code' in step)
  if (hasCode && !engine.ports.script) throw noScript()
}

function triggerIssues(engine: Engine, { triggerEvent, filter, schedule }: JsonObject): Issue[] {
  const issues: Issue[] = []
  if (typeof triggerEvent === 'string' && !isPattern(triggerEvent)) {
    issues.push({ field: 'triggerEvent', message: 'must be an event such as Deal.won, Deal.*, *.created or *' })
  }
  const fault = typeof triggerEvent === 'string' ? neverEmitted(engine.nouns, triggerEvent) : null
  if (fault !== null) issues.push({ field: 'triggerEvent', message: fault })
  if (filter !== undefined) {
    try {
      filterOf(engine, filteredNoun(engine, typeof triggerEvent === 'string' ? triggerEvent : null), filter)
    } catch (reason) {
      issues.push({ field: 'filter', message: (reason as Error).message })
    }
  }
  const parsed = typeof schedule === 'string' ? parseSchedule(schedule) : null
  if (parsed && 'fault' in parsed) issues.push({ field: 'schedule', message: parsed.fault })
  return issues
}

/** The type whose entities a filter is about: that of the event, where the pattern names one. */
export function filteredNoun(engine: Engine, pattern: string | null): Noun {
  return engine.nouns.named(pattern?.split('.')[0] ?? '') ?? engine.noun('Workflow')
}

function stepsIssues(engine: Engine, steps: Json | undefined): Issue[] {
  if (steps === undefined) return []
  if (!Array.isArray(steps)) return [{ field: 'steps', message: 'must be a list of steps' }]
  if (steps.length > MOST_STEPS) return [{ field: 'steps', message: `may have ${MOST_STEPS} steps` }]
  return steps.flatMap((step, i) => stepFaults(engine, step, i).map((message) => ({ field: `steps.${i}`, message })))
}

function policyIssues(policy: Json | undefined): Issue[] {
  if (policy === undefined) return []
  const example = 'must be an object such as {"retries": 3, "backoff": "30s"}'
  if (!isPlainObject(policy)) return [{ field: 'retryPolicy', message: example }]
  const { retries, backoff, ...rest } = policy
  const issues: Issue[] = []
  if (Object.keys(rest).length > 0) issues.push({ field: 'retryPolicy', message: example })
  const isCount = typeof retries === 'number' && Number.isInteger(retries) && retries >= 0 && retries <= MOST_RETRIES
  if (retries !== undefined && !isCount) {
    issues.push({ field: 'retryPolicy.retries', message: `must be a whole number from 0 to ${MOST_RETRIES}` })
  }
  if (backoff !== undefined && durationOf(backoff, LONGEST) === null) {
    issues.push({ field: 'retryPolicy.backoff', message: 'must be a time such as 500ms, 30s, 2m or 1h' })
  }
  return issues
}

function timeoutIssues(timeout: Json | undefined): Issue[] {
  if (timeout === undefined || (typeof timeout === 'number' && timeout > 0 && timeout * 1_000 <= LONGEST)) return []
  return [{ field: 'timeout', message: 'must be a number of seconds above 0, at most 30 days' }]
}
