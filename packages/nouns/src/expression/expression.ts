import { compareText } from '../filter/compare.ts'
import type { Arithmetic, Expression, Json, Measure } from '../noun.ts'

export const MEASURES: readonly Measure[] = ['sum', 'count', 'min', 'max', 'avg']

/** The values at a path, in the order of their entities; without those that are null or missing. */
export type ValuesAt = (path: string) => readonly Json[]

/** Evaluates an expression; null if a part of it is null. */
export function evaluate(expression: Expression, valuesAt: ValuesAt): Json {
  const value = resultOf(expression, valuesAt)
  // Fifteen digits are exact in a double: 0.1 + 0.2 is 0.3.
  if (typeof value === 'number') return Number.isFinite(value) ? Number(value.toPrecision(15)) : null
  return value
}

/** The paths that an expression reads, each once. `many` are those inside aggregate functions. */
export function pathsOf(expression: Expression): {
  readonly single: readonly string[]
  readonly many: readonly string[]
} {
  const single = new Set<string>()
  const many = new Set<string>()
  const visit = (part: Expression): void => {
    if (part.op === 'number') return
    if (part.op === 'path') single.add(part.path)
    else if (part.op === 'negate') visit(part.of)
    else if ('left' in part) {
      visit(part.left)
      visit(part.right)
    } else many.add(part.path)
  }
  visit(expression)
  return { single: [...single], many: [...many] }
}

function resultOf(expression: Expression, valuesAt: ValuesAt): Json {
  switch (expression.op) {
    case 'number':
      return expression.value
    case 'path':
      return valuesAt(expression.path)[0] ?? null
    case 'negate': {
      const value = resultOf(expression.of, valuesAt)
      return typeof value === 'number' ? -value : null
    }
    case 'sum':
    case 'count':
    case 'min':
    case 'max':
    case 'avg':
      return MEASURE[expression.op](valuesAt(expression.path))
    default: {
      const left = resultOf(expression.left, valuesAt)
      const right = resultOf(expression.right, valuesAt)
      return typeof left === 'number' && typeof right === 'number' ? ARITHMETIC[expression.op](left, right) : null
    }
  }
}

const ARITHMETIC: { readonly [op in Arithmetic]: (left: number, right: number) => number | null } = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => (right === 0 ? null : left / right),
}

const MEASURE: { readonly [op in Measure]: (values: readonly Json[]) => Json } = {
  count: (values) => values.length,
  sum: (values) => total(numbersIn(values)),
  avg: (values) => {
    const numbers = numbersIn(values)
    return numbers.length === 0 ? null : total(numbers) / numbers.length
  },
  min: (values) => extreme(values, -1),
  max: (values) => extreme(values, 1),
}

function numbersIn(values: readonly Json[]): number[] {
  return values.filter((value) => typeof value === 'number')
}

/** A sum whose error does not grow with the number of values. */
function total(numbers: readonly number[]): number {
  let sum = 0
  let lost = 0
  for (const number of numbers) {
    const next = sum + number
    lost += Math.abs(sum) >= Math.abs(number) ? sum - next + number : number - next + sum
    sum = next
  }
  return sum + lost
}

function extreme(values: readonly Json[], sign: 1 | -1): Json {
  const numbers = numbersIn(values)
  if (numbers.length > 0) return numbers.reduce((best, one) => ((one - best) * sign > 0 ? one : best))
  const texts = values.filter((value) => typeof value === 'string')
  if (texts.length === 0) return null
  return texts.reduce((best, one) => (compareText(one, best) * sign > 0 ? one : best))
}
