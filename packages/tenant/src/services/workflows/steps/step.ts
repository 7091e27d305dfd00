import type { Json, JsonObject } from '@tildebase/nouns'

/** What every step may have in addition. */
interface Common {
  readonly name?: string
  readonly fallback?: boolean
  /** A filter over `{event, steps}`: the step is skipped where it does not match. */
  readonly if?: JsonObject
  /** Runs if a later step fails permanently. */
  readonly undo?: Step
}

/** A step that runs a verb. */
export interface VerbStep extends Common {
  readonly verb: string
  readonly type: string
  readonly id?: string
  readonly args?: JsonObject
}

/** A step that runs code: `(event, $, steps) => …`. */
interface CodeStep extends Common {
  readonly code: string
}

/** A request to another service. */
export interface RequestStep extends Common {
  readonly request: {
    readonly method: string
    readonly url: string
    readonly headers?: { readonly [name: string]: string }
    readonly body?: Json
  }
  /** Statuses from 400 on that are not a failure. */
  readonly accept?: readonly number[]
  /** How long the answer may take; of calls of agents only. */
  readonly waitMs?: number
  /** Whether the body is the call of an MCP tool, `{name, arguments}`; of calls of agents only. */
  readonly isMcp?: boolean
}

/** A step that waits for so long. */
interface WaitStep extends Common {
  readonly wait: string | number
}

/** A step that waits until a time: an ISO time or a reference, with `+ 2d` or `- 2d`. */
interface UntilStep extends Common {
  readonly until: string
}

/** A step that waits for an event. */
export interface WaitForStep extends Common {
  readonly waitFor: string
  readonly filter?: JsonObject
  readonly timeout?: string | number
}

/** A question to a person. */
export interface AskStep extends Common {
  readonly ask: {
    readonly of: string
    readonly title: string
    readonly fields?: JsonObject
    readonly timeout?: string | number
  }
}

/** A step that creates a Message and sends it. */
interface SendStep extends Common {
  readonly send: JsonObject
}

export type Step = VerbStep | CodeStep | RequestStep | WaitStep | UntilStep | WaitForStep | AskStep | SendStep

/** The kinds of steps, each with the parts that it has besides those of every step. */
export const STEP_KINDS = {
  verb: ['verb', 'type', 'id', 'args'],
  code: ['code'],
  request: ['request', 'accept'],
  wait: ['wait'],
  until: ['until'],
  waitFor: ['waitFor', 'filter', 'timeout'],
  ask: ['ask'],
  send: ['send'],
} as const

export type StepKind = keyof typeof STEP_KINDS

/** The parts that every step may have. */
export const COMMON_PARTS = ['if', 'undo', 'fallback', 'name'] as const

/** The kind of a step by its parts; a verb where no other part says so. */
export function kindOf(step: object): StepKind {
  const kinds = Object.keys(STEP_KINDS) as StepKind[]
  return kinds.find((kind) => Object.hasOwn(step, kind)) ?? 'verb'
}

/** Whether a step waits for time, for an event or for a person. Such time does not count in the timeout of a run. */
export function isWaiting(step: Step): boolean {
  return 'wait' in step || 'until' in step || 'waitFor' in step || 'ask' in step
}

/** A step in a few words. */
export function titleOf(step: Step): string {
  if ('request' in step) return `request to ${originOf(step.request.url)}`
  if ('waitFor' in step) return `waiting for ${step.waitFor}`
  if ('send' in step) return 'Message.send'
  return 'verb' in step ? `${step.type}.${step.verb}` : kindOf(step)
}

/** The parts of a step that say what it does, for people who look at a run. */
export function aboutStep(step: Step): JsonObject {
  if ('verb' in step) return { type: step.type, verb: step.verb }
  const parts = STEP_KINDS[kindOf(step)] as readonly string[]
  return Object.fromEntries(Object.entries(step).filter(([part]) => parts.includes(part)))
}

function originOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#@$]+/i.exec(url)?.[0] ?? 'another service'
}

/** The undo of a step has a place of its own in a run, after those of all steps. */
const UNDO_PLACES = 1_000

export function undoPlace(step: number): number {
  return UNDO_PLACES + step
}

/** The step that a place is the undo of; null for the place of a step itself. */
export function undoneStep(place: number): number | null {
  return place < UNDO_PLACES ? null : place - UNDO_PLACES
}

/** The step at a place of a run. */
export function stepAt(steps: readonly Step[], place: number): Step {
  const undone = undoneStep(place)
  return undone === null ? steps[place]! : steps[undone]!.undo!
}
