import { isPattern, isPlainObject, type Json, type JsonObject, Problem, parseNoun } from '@tildebase/nouns'
import type { Engine } from '../../../engine/engine.ts'
import { MOST_CODE } from '../../scripts/limits.ts'
import { faultsIn, faultsInTexts } from '../values.ts'
import { checkCondition } from './condition.ts'
import { durationOf, LONGEST_STEP } from './duration.ts'
import { requestFaults } from './request.ts'
import { COMMON_PARTS, isWaiting, kindOf, STEP_KINDS, type Step, type StepKind } from './step.ts'
import { momentFault } from './until.ts'
import { waitForFaults } from './wait-for.ts'

type Given = { readonly [part: string]: unknown }
type Check = (engine: Engine, step: Given, index: number) => string[]

const CHECKS: { readonly [kind in StepKind]: Check } = {
  verb: verbFaults,
  code: (_, { code }) => codeFaults(code),
  request: requestFaults,
  wait: (_, { wait }) => durationFaults('wait', wait),
  until: (_, { until }, index) => [momentFault(until) ?? [], ...faultsIn(firstWord(until), index)].flat(),
  waitFor: (engine, { waitFor, filter, timeout }, index) => [
    ...(typeof waitFor === 'string' && isPattern(waitFor)
      ? waitForFaults(engine, waitFor, filter, index)
      : ['waitFor must be an event such as Invoice.paid, Invoice.*, *.created or *']),
    ...(timeout === undefined ? [] : durationFaults('timeout', timeout)),
  ],
  ask: (_, { ask }, index) => askFaults(ask, index),
  send: (_, { send }, index) =>
    isPlainObject(send) ? textFaults(send, index) : ['send must be an object with the fields of a Message'],
}

/** What is wrong with a step. */
export function stepFaults(engine: Engine, step: unknown, index: number): string[] {
  if (!isPlainObject(step)) return [`must be an object with one of ${Object.keys(STEP_KINDS).join(', ')}`]
  const kind = kindOf(step)
  const known: readonly string[] = [...STEP_KINDS[kind], ...COMMON_PARTS]
  const unknown = Object.keys(step).filter((part) => !known.includes(part))
  return [
    ...(unknown.length > 0 ? [`has ${unknown.join(', ')}; it takes ${known.join(', ')}`] : []),
    ...(step.fallback !== undefined && typeof step.fallback !== 'boolean' ? ['fallback must be true or false'] : []),
    ...(step.name !== undefined && typeof step.name !== 'string' ? ['name must be a string'] : []),
    ...(step.if === undefined ? [] : conditionFaults(engine, step.if, index)),
    ...(step.undo === undefined ? [] : undoFaults(engine, step.undo, index)),
    ...CHECKS[kind](engine, step, index),
  ]
}

function conditionFaults(engine: Engine, condition: unknown, index: number): string[] {
  try {
    checkCondition(condition, engine.nextTime())
    return faultsIn(condition as JsonObject, index)
  } catch (reason) {
    if (reason instanceof Problem) return [`if: ${reason.message}`]
    throw reason
  }
}

/** The undo of a step runs at once, and can use the result of its step. */
function undoFaults(engine: Engine, undo: unknown, index: number): string[] {
  const faults = stepFaults(engine, undo, index + 1).map((fault) => `undo: ${fault}`)
  if (faults.length > 0) return faults
  const { undo: inner, fallback } = undo as Step
  if (inner !== undefined || fallback !== undefined) return ['undo: must not have undo or fallback itself']
  return isWaiting(undo as Step) ? ['undo: must not wait or ask'] : []
}

function codeFaults(code: unknown): string[] {
  if (typeof code !== 'string' || code.trim() === '') return ['code must be a function: (event, $, steps) => …']
  return code.length > MOST_CODE ? [`the code may have at most ${MOST_CODE} characters`] : []
}

function verbFaults(engine: Engine, step: Given, index: number): string[] {
  const { type, verb, id, args } = step
  const noun = typeof type === 'string' ? engine.nouns.get(type) : undefined
  if (!noun) return [`type must name a type${typeof type === 'string' ? `; ${type.slice(0, 60)} is none` : ''}`]
  if (typeof verb !== 'string' || !Object.hasOwn(noun.verbs, verb)) {
    return [`verb must be a verb of ${noun.name}: ${Object.keys(noun.verbs).join(', ')}`]
  }
  const faults: string[] = []
  if (verb === 'create' ? id !== undefined : typeof id !== 'string') {
    faults.push(verb === 'create' ? 'create must not have an id' : `${verb} needs an id, such as $event.data.$id`)
  }
  if (args !== undefined && !isPlainObject(args)) faults.push('args must be an object')
  return [...faults, ...textFaults({ id, args }, index)]
}

/** What is wrong with the references in values, inside longer texts too. */
function textFaults(value: object, index: number): string[] {
  return [...new Set([...faultsIn(value as JsonObject, index), ...faultsInTexts(value, index)])]
}

function askFaults(ask: unknown, index: number): string[] {
  if (!isPlainObject(ask)) return ['ask must be an object: {of, title, fields, timeout}']
  const { of, title, fields, timeout, ...rest } = ask
  const unknown = Object.keys(rest)
  return [
    ...(unknown.length > 0 ? [`ask has ${unknown.join(', ')}; it takes of, title, fields, timeout`] : []),
    ...(typeof of === 'string' && /^(?:role:[A-Z][A-Za-z0-9]{0,39}|user_[A-Za-z0-9]+|\$(?:event|steps)\..+)$/.test(of)
      ? []
      : ['ask.of must be role:<name> or the id of a User']),
    ...(typeof title === 'string' && title.trim() !== '' && title.length <= 1_000
      ? []
      : ['ask.title must be a text of at most 1,000 characters']),
    ...(fields === undefined ? [] : fieldsFaults(fields)),
    ...(timeout === undefined ? [] : durationFaults('ask.timeout', timeout)),
    ...faultsIn({ of } as JsonObject, index),
    ...faultsInTexts(title, index),
  ]
}

function fieldsFaults(fields: unknown): string[] {
  try {
    const asked = Object.values(parseNoun('Ask', fields).fields)
    const taken = ['answer', 'by'].filter((name) => Object.hasOwn(fields as object, name))
    const secrets = asked.filter(({ kind }) => kind === 'secret')
    return [
      ...taken.map((name) => `ask.fields must not have ${name}: the result has it already`),
      ...secrets.map(({ name }) => `ask.fields.${name} must not be a secret: a run shows the answer`),
    ]
  } catch (reason) {
    if (reason instanceof Problem) return [`ask.fields: ${reason.message}`]
    throw reason
  }
}

function durationFaults(part: string, value: unknown): string[] {
  if (durationOf(value, LONGEST_STEP) !== null) return []
  return [`${part} must be a time such as 30s, 2h or 3d, at most ten years`]
}

function firstWord(text: unknown): Json | undefined {
  return typeof text === 'string' ? text.split(/\s/)[0] : undefined
}
