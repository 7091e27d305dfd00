import type { Json, JsonObject } from '../noun.ts'
import { type Issue, MOST_ISSUES } from '../problem.ts'

/** The maximum nesting, including the entity itself. */
export const MAX_DEPTH = 64

/** Names that no field may have, because they access the prototype of objects. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** `\\ud83d` as JSON.stringify writes half of a surrogate pair, after an even number of backslashes. */
const LONE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/

/** Whether a JSON text has half of a surrogate pair in a string or a name: no UTF-8 text can hold it. */
export function hasLoneSurrogate(text: string, value: unknown): boolean {
  return /\\ud[89a-f]/i.test(text) && LONE.test(JSON.stringify(value))
}

/** Whether a value is an object of fields, not a list, a class or null. */
export function isPlainObject(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

/** An external value as JSON that can be stored; errors are added to `issues`, each with its path. */
export function storable(value: unknown, field: string, issues: Issue[]): Json {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (typeof value !== 'object' || value === null) {
    if (!isJsonLeaf(value)) issues.push({ field, message: 'is not a JSON value' })
    return value as Json
  }
  const before = issues.length
  const wellFormed = walk(value, field, issues)
  return wellFormed || issues.length > before ? (value as Json) : repaired(value as Json)
}

/** Visits every nested value with an explicit stack, because input may be nested a million levels deep. */
function walk(root: object, field: string, issues: Issue[]): boolean {
  let wellFormed = true
  const stack: { readonly value: object; readonly path: string; readonly depth: number }[] = []
  stack.push({ value: root, path: field, depth: 2 })
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, path, depth } = next
    if (depth > MAX_DEPTH) {
      issues.push({ field, message: `is nested too deeply: at most ${MAX_DEPTH} levels are allowed` })
      return wellFormed
    }
    const list = Array.isArray(value)
    if (!list && !isPlainObject(value)) issues.push({ field: path, message: 'is not a JSON value' })
    // The places of a list need no look, and may be a million.
    const names = list ? null : Object.keys(value)
    const count = names?.length ?? (value as readonly unknown[]).length
    for (let i = 0; i < count; i++) {
      if (issues.length > MOST_ISSUES) return wellFormed
      const key = names === null ? i : names[i]!
      const one = (value as { readonly [key: string | number]: unknown })[key]
      if (typeof key === 'string') {
        if (FORBIDDEN_NAMES.has(key)) issues.push({ field: `${path}.${key}`, message: notAllowed(key) })
        wellFormed &&= key.isWellFormed()
      }
      if (typeof one === 'string') wellFormed &&= one.isWellFormed()
      else if (typeof one === 'object' && one !== null)
        stack.push({ value: one, path: `${path}.${key}`, depth: depth + 1 })
      else if (!isJsonLeaf(one)) issues.push({ field: `${path}.${key}`, message: 'is not a JSON value' })
    }
  }
  return wellFormed
}

/** Whether a value is nested more deeply than so many levels: without a number, than an entity may be. */
export function isDeeper(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1))
}

/** Why a field of this name is refused. */
export function notAllowed(name: string): string {
  return `${name} is not allowed as a field name`
}

function isJsonLeaf(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || value === undefined || typeof value === 'boolean' || typeof value === 'string'
}

/** The same value with lone surrogates replaced; only for values known to be shallow. */
function repaired(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(repaired)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, one]) => [key.toWellFormed(), repaired(one)]),
  )
}
