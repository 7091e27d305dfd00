import { listed } from '../notation/english.ts'
import type { Noun } from '../noun.ts'
import { Problem } from '../problem.ts'
import { isPlainObject } from '../value/json.ts'
import { allOf, EVERYTHING, type Filter, type Leaf, type Path } from './filter.ts'
import { meetsMissing } from './match.ts'
import { type CheckRegex, OPERATORS, operand } from './operand.ts'
import { declaredField, type NounLookup, quoted, resolvePaths } from './path.ts'
import { patternSize } from './pattern-size.ts'

const LOGICAL = ['$and', '$or', '$text']
export const MOST_NODES = 500
const DEEPEST = 32
const LONGEST_TEXT = 1_000
/** Words of a search, and those of one letter: the index reads all words that begin with it, and cannot be stopped. */
const MOST_WORDS = 50
const MOST_LETTERS = 4
/** Characters of all patterns of a filter, with repetitions written out: each takes time before the first row is read. */
const LARGEST_PATTERNS = 2_000

/** What parsing needs in addition to the noun: `regex` returns the error of a pattern, or null. */
export interface ParseOptions {
  readonly regex: CheckRegex
}

/** Parses a filter object against a noun. Every error is a Problem `invalid_filter` that says what is allowed. */
export function parseFilter(json: unknown, noun: Noun, nouns: NounLookup, now: number, options: ParseOptions): Filter {
  const parser: Parser = { noun, nouns, now, regex: bounded(options.regex), nodes: 0, words: new Set() }
  return parseObject(parser, json, 0, true)
}

/** Parses a filter given as JSON; an empty string matches everything. */
export function parseFilterText(
  text: string | null | undefined,
  noun: Noun,
  nouns: NounLookup,
  now: number,
  options: ParseOptions,
): Filter {
  if (text === undefined || text === null || text === '') return EVERYTHING
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw fault('The filter is not valid JSON. It must be an object, such as {"stage": "Lead"}.', 'filter')
  }
  return parseFilter(json, noun, nouns, now, options)
}

interface Parser {
  readonly noun: Noun
  readonly nouns: NounLookup
  readonly now: number
  readonly regex: CheckRegex
  /** The words of all `$text`. */
  readonly words: Set<string>
  nodes: number
}

/** `{stage: 'Lead', $or: […]}`: every entry must match. `whole` where $text is allowed. */
function parseObject(parser: Parser, json: unknown, depth: number, whole: boolean): Filter {
  if (!isPlainObject(json)) throw fault('A filter must be an object, such as {"stage": "Lead"}.', 'filter')
  if (depth > DEEPEST) throw fault(`The filter is nested too deeply: at most ${DEEPEST} levels.`, 'filter', [], DEEPEST)
  return allOf(Object.entries(json).map(([key, value]) => parseEntry(parser, key, value, depth, whole)))
}

function parseEntry(parser: Parser, key: string, value: unknown, depth: number, whole: boolean): Filter {
  if (LOGICAL.includes(key)) count(parser)
  if (key === '$and') return allOf(parseList(parser, key, value, depth, whole))
  if (key === '$or') return anyOf(parseList(parser, key, value, depth, false))
  if (key === '$text') return parseText(parser, value, whole)
  const paths = resolvePaths(key, parser.noun, parser.nouns)
  if ('fault' in paths) throw fault(paths.fault, key, key.startsWith('$') ? LOGICAL : Object.keys(OPERATORS))
  return parseField(parser, paths, value, depth)
}

function parseList(parser: Parser, key: string, value: unknown, depth: number, whole: boolean): Filter[] {
  if (!Array.isArray(value) || value.length === 0)
    throw fault(`${key} needs a list of at least one filter.`, key, LOGICAL)
  return value.map((part) => parseObject(parser, part, depth + 1, whole))
}

function anyOf(parts: readonly Filter[]): Filter {
  return parts.length === 1 ? parts[0]! : { op: 'or', of: parts }
}

function parseText(parser: Parser, value: unknown, whole: boolean): Filter {
  if (!whole) throw fault('$text is allowed only at the top level of a filter or inside $and.', '$text', LOGICAL)
  const search = isPlainObject(value) && Object.keys(value).length === 1 ? value.$search : value
  if (typeof search !== 'string' || search.trim() === '' || search.length > LONGEST_TEXT) {
    throw fault(
      `$text needs words, as a string of at most ${LONGEST_TEXT} characters, or {"$search": "words"}.`,
      '$text',
      LOGICAL,
    )
  }
  const words = [...new Set(search.trim().split(/\s+/u))]
  for (const word of words) parser.words.add(word)
  const letters = [...parser.words].filter((word) => /^[a-z0-9]$/i.test(word))
  if (parser.words.size > MOST_WORDS || letters.length > MOST_LETTERS) {
    const message = `$text takes at most ${MOST_WORDS} words, ${MOST_LETTERS} of them of one letter. Leave the shortest out.`
    throw fault(message, '$text', LOGICAL, parser.words.size > MOST_WORDS ? MOST_WORDS : MOST_LETTERS)
  }
  return { op: 'text', words }
}

/** The condition of one path: a literal, or operators that must all match. */
function parseField(parser: Parser, paths: readonly Path[], value: unknown, depth: number): Filter {
  const path = paths[0]!
  if (!isPlainObject(value)) return parseOperator(parser, paths, '$eq', value, {}, depth)
  const keys = Object.keys(value)
  const operators = keys.filter((key) => key.startsWith('$'))
  if (operators.length === 0) return parseOperator(parser, paths, '$eq', value, {}, depth)
  if (operators.length < keys.length) {
    throw fault(
      `${quoted(path.text)} mixes operators and fields. Use either an operator expression or a value.`,
      path.text,
    )
  }
  if ('$options' in value && !('$regex' in value)) throw fault('$options needs $regex.', path.text)
  return allOf(
    keys.filter((key) => key !== '$options').map((key) => parseOperator(parser, paths, key, value[key], value, depth)),
  )
}

function parseOperator(
  parser: Parser,
  paths: readonly Path[],
  name: string,
  value: unknown,
  beside: { readonly [name: string]: unknown },
  depth: number,
): Filter {
  const path = paths[0]!
  for (const _ of paths) count(parser)
  if (depth > DEEPEST)
    throw fault(`The filter is nested too deeply: at most ${DEEPEST} levels.`, path.text, [], DEEPEST)
  if (name === '$not') return { op: 'not', of: parseNegated(parser, paths, value, depth + 1) }
  const known = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined
  if (known === undefined) throw fault(`There is no operator ${quoted(name)}.`, path.text)
  const read = paths.map((one) => {
    const field = declaredField(one, parser.noun, parser.nouns)
    return { one, ...operand(name, value, beside.$options, { path: one, field, now: parser.now, regex: parser.regex }) }
  })
  // Of several types, those whose field cannot have such a value are left out.
  const fitting = read.flatMap(({ one, ...rest }): Leaf[] =>
    'fault' in rest ? [] : [{ op: known.op, path: one, ...rest }],
  )
  if (fitting.length === 0) throw fault((read[0] as { readonly fault: string }).fault, path.text)
  const leaf = acrossTypes(fitting)
  return known.negated ? { op: 'not', of: leaf } : leaf
}

/** One condition on a relation to several types. One that a missing value meets must hold behind each of them. */
export function acrossTypes(leaves: readonly Leaf[]): Filter {
  const [leaf, ...others] = leaves
  if (others.length === 0) return leaf!
  const isMissing = meetsMissing(leaf!) || (leaf!.op === 'exists' && leaf!.value === false)
  return isMissing ? allOf(leaves) : anyOf(leaves)
}

function parseNegated(parser: Parser, paths: readonly Path[], value: unknown, depth: number): Filter {
  const operators = isPlainObject(value) ? Object.keys(value).filter((key) => key.startsWith('$')) : []
  if (operators.length === 0) throw fault(`$not needs an operator expression, such as {"$gt": 5}.`, paths[0]!.text)
  return parseField(parser, paths, value, depth)
}

/** Looks at each pattern once, and refuses more of them than can be prepared in a short time. */
function bounded(regex: CheckRegex): CheckRegex {
  const known = new Map<string, string | null>()
  let size = 0
  return (pattern, flags) => {
    const key = `${flags}/${pattern}`
    if (known.has(key)) return known.get(key)!
    size += patternSize(pattern)
    if (size > LARGEST_PATTERNS) {
      const message = `The patterns of the filter are too large: at most ${LARGEST_PATTERNS} characters, where a{10} has ten.`
      throw fault(message, '$regex', [], LARGEST_PATTERNS)
    }
    const reason = regex(pattern, flags)
    known.set(key, reason)
    return reason
  }
}

function count(parser: Parser): void {
  parser.nodes++
  if (parser.nodes > MOST_NODES)
    throw fault(`The filter is too large: at most ${MOST_NODES} nodes.`, 'filter', [], MOST_NODES)
}

/** The problem of a filter: the error, its place, and the valid operators. */
export function fault(
  message: string,
  field: string,
  supported: readonly string[] = Object.keys(OPERATORS),
  limit?: number,
): Problem {
  const hint = supported.length > 0 ? ` Supported here: ${listed(supported, 'and')}.` : ''
  return new Problem('invalid_filter', `${message}${hint}`, {
    field: quoted(field),
    ...(supported.length > 0 && { supported }),
    ...(limit !== undefined && { limit }),
  })
}
