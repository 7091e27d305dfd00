import { isPlainObject, type Json, type JsonObject } from '@tildebase/nouns'
import type { Entity } from '../values/entity.ts'
import { STEP_KINDS, type StepKind } from './step-kinds.ts'

/** An argument of a step, as people write it. */
export interface ArgRow {
  readonly name: string
  readonly text: string
}

/** A step of a workflow, as the editor shows it. */
export interface StepRow {
  readonly kind: StepKind
  /** The parts of a request, a wait or a question by their names, as people write them. */
  readonly parts: { readonly [name: string]: string }
  /** Parts that the editor does not show: they are kept as they are. */
  readonly kept: JsonObject
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

const EMPTY_STEP: StepRow = {
  kind: 'verb',
  parts: {},
  kept: {},
  type: '',
  verb: '',
  id: '',
  args: [],
  code: '',
  fallback: false,
  name: '',
}

const CODE = `async (event, $, steps) => {\n  // $ reads and writes. What you return is $steps.<n> for later steps.\n}`

/** A new step of a kind. */
export function newStep(kind: StepKind): StepRow {
  const parts = kind === 'request' ? { method: 'POST' } : kind === 'wait' ? { wait: '1d' } : {}
  const args = kind === 'send' ? ['to', 'subject', 'body'].map((name) => ({ name, text: '' })) : []
  return { ...EMPTY_STEP, kind, parts, args, id: '$event.data.$id', code: kind === 'code' ? CODE : '' }
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

/** The parts of a step that the editor shows, by its kind. */
const SHOWN: { readonly [kind in StepKind]: readonly string[] } = {
  verb: ['verb', 'type', 'id', 'args'],
  code: ['code'],
  request: ['request'],
  wait: ['wait'],
  until: ['until'],
  waitFor: ['waitFor', 'timeout'],
  ask: ['ask'],
  send: ['send'],
}
const COMMON = ['fallback', 'name']

function stepRow(step: JsonObject): StepRow {
  const kind = (Object.keys(STEP_KINDS) as StepKind[]).find((one) => one !== 'verb' && one in step) ?? 'verb'
  const shown = [...SHOWN[kind], ...COMMON]
  const { parts, rows } = partsOf(kind, step)
  return {
    kind,
    parts,
    kept: Object.fromEntries(Object.entries(step).filter(([name]) => !shown.includes(name))),
    type: textIn(step.type),
    verb: textIn(step.verb),
    id: textIn(step.id),
    args: Object.entries(rows).map(([name, value]) => ({ name, text: textOf(value) })),
    code: textIn(step.code),
    fallback: step.fallback === true,
    name: textIn(step.name),
  }
}

/** The texts of a step, and its named values: arguments, headers, fields of a question or of a message. */
function partsOf(kind: StepKind, step: JsonObject): { parts: { [name: string]: string }; rows: JsonObject } {
  const texts = (names: readonly string[], from: JsonObject) =>
    Object.fromEntries(names.map((name) => [name, from[name] === undefined ? '' : textOf(from[name])]))
  const inner = objectIn(step[kind])
  switch (kind) {
    case 'request':
      return { parts: texts(['method', 'url', 'body'], inner), rows: objectIn(inner.headers) }
    case 'ask':
      return { parts: texts(['of', 'title', 'timeout'], inner), rows: objectIn(inner.fields) }
    case 'send':
      return { parts: {}, rows: inner }
    case 'verb':
    case 'code':
      return { parts: {}, rows: objectIn(step.args) }
    default:
      return { parts: texts(SHOWN[kind], step), rows: {} }
  }
}

function stepOf(row: StepRow): JsonObject {
  const more = { ...row.kept, ...(row.fallback && { fallback: true }), ...(row.name !== '' && { name: row.name }) }
  return { ...bodyOf(row), ...more }
}

function bodyOf(row: StepRow): JsonObject {
  const rows = row.args.filter(({ name }) => name !== '').map(({ name, text }) => [name, valueIn(text)] as const)
  const named = Object.fromEntries(rows)
  const part = (name: string): Json => valueIn((row.parts[name] ?? '').trim())
  const optional = (name: string) => (part(name) === '' ? {} : { [name]: part(name) })
  switch (row.kind) {
    case 'code':
      return { code: row.code }
    case 'request': {
      const headers = rows.length > 0 && { headers: named }
      return { request: { method: part('method'), url: part('url'), ...headers, ...optional('body') } }
    }
    case 'wait':
      return { wait: part('wait') }
    case 'until':
      return { until: part('until') }
    case 'waitFor':
      return { waitFor: part('waitFor'), ...optional('timeout') }
    case 'ask': {
      const fields = rows.length > 0 && { fields: named }
      return { ask: { of: part('of'), title: part('title'), ...fields, ...optional('timeout') } }
    }
    case 'send':
      return { send: Object.fromEntries(rows.filter(([, value]) => value !== '')) }
    default:
      return {
        verb: row.verb,
        type: row.type,
        ...(row.verb !== 'create' && { id: row.id.trim() }),
        ...(rows.length > 0 && { args: named }),
      }
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
