import { isPlainObject, type Json, type JsonObject } from '@tildebase/nouns'
import type { Entity } from '../values/entity.ts'

/** An argument of a step, as people write it. */
export interface ArgRow {
  readonly name: string
  readonly text: string
}

/** A step of a workflow, as the editor shows it. */
export interface StepRow {
  readonly isCode: boolean
  readonly type: string
  readonly verb: string
  readonly id: string
  readonly args: readonly ArgRow[]
  readonly code: string
  /** Whether it runs in place of the rest, after a failure. */
  readonly fallback: boolean
  readonly name: string
}

/** A workflow, as the editor shows it. */
export interface WorkflowDraft {
  readonly event: string
  readonly filter: JsonObject
  readonly schedule: string
  readonly steps: readonly StepRow[]
  readonly errorHandling: string
  readonly retries: string
  readonly backoff: string
  readonly timeout: string
}

export const VERB_STEP: StepRow = {
  isCode: false,
  type: '',
  verb: '',
  id: '',
  args: [],
  code: '',
  fallback: false,
  name: '',
}

export const CODE_STEP: StepRow = {
  ...VERB_STEP,
  isCode: true,
  code: `async (event, $, steps) => {\n  // $ reads and writes. What you return is $steps.<n> for later steps.\n}`,
}

/** The draft of a stored workflow. */
export function draftOf(workflow: Entity): WorkflowDraft {
  const policy = objectIn(workflow.retryPolicy)
  return {
    event: textIn(workflow.triggerEvent),
    filter: objectIn(workflow.filter),
    schedule: textIn(workflow.schedule),
    steps: (Array.isArray(workflow.steps) ? workflow.steps : []).map((step) => stepRow(objectIn(step))),
    errorHandling: textIn(workflow.errorHandling) || 'Stop',
    retries: textIn(policy.retries),
    backoff: textIn(policy.backoff),
    timeout: textIn(workflow.timeout),
  }
}

/** The fields of a workflow that a draft represents. Empty ones are null: the service clears them. */
export function fieldsOf(draft: WorkflowDraft): { readonly [field: string]: Json } {
  const policy = {
    ...(draft.retries !== '' && { retries: Number(draft.retries) }),
    ...(draft.backoff !== '' && { backoff: draft.backoff }),
  }
  return {
    triggerEvent: draft.event.trim() || null,
    filter: Object.keys(draft.filter).length === 0 ? null : draft.filter,
    schedule: draft.schedule.trim() || null,
    steps: draft.steps.map(stepOf),
    errorHandling: draft.errorHandling,
    retryPolicy: Object.keys(policy).length === 0 ? null : policy,
    timeout: draft.timeout === '' ? null : Number(draft.timeout),
  }
}

function stepRow(step: JsonObject): StepRow {
  const args = objectIn(step.args)
  return {
    isCode: 'code' in step,
    type: textIn(step.type),
    verb: textIn(step.verb),
    id: textIn(step.id),
    args: Object.entries(args).map(([name, value]) => ({ name, text: textOf(value) })),
    code: textIn(step.code),
    fallback: step.fallback === true,
    name: textIn(step.name),
  }
}

function stepOf(row: StepRow): JsonObject {
  const more = { ...(row.fallback && { fallback: true }), ...(row.name !== '' && { name: row.name }) }
  if (row.isCode) return { code: row.code, ...more }
  const args = row.args.filter(({ name }) => name !== '').map(({ name, text }) => [name, valueIn(text)] as const)
  return {
    verb: row.verb,
    type: row.type,
    ...(row.verb !== 'create' && { id: row.id.trim() }),
    ...(args.length > 0 && { args: Object.fromEntries(args) }),
    ...more,
  }
}

/** A value as people write it: a string as it is, unless it would be taken for something else. */
export function textOf(value: Json): string {
  return typeof value === 'string' && jsonIn(value) === undefined ? value : JSON.stringify(value)
}

/** What people mean by a string: a number, true, a list or an object where it is one; else the text itself. */
export function valueIn(text: string): Json {
  const value = jsonIn(text)
  return value === undefined ? text : value
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function textIn(value: Json | undefined): string {
  return value === undefined || value === null ? '' : String(value)
}

function objectIn(value: Json | undefined): JsonObject {
  return isPlainObject(value) ? (value as JsonObject) : {}
}
