import { parseExpression } from '../expression/parse-expression.ts'
import { didYouMean } from '../nearest.ts'
import type { BackField, Field, ForwardField, Json, Kind, ValueField } from '../noun.ts'
import { ANY_TYPE } from '../noun.ts'
import { isoOf, parseInstant } from '../value/time.ts'
import { article, listed } from './english.ts'

/** Reports one error of a declaration, as a sentence without its subject. */
export type Tell = (message: string) => void

const KINDS: readonly Kind[] = ['string', 'number', 'boolean', 'date', 'datetime', 'json', 'file', 'secret']
const RANGE = /^number\s+(?:(-?\d+(?:\.\d+)?)\s*)?\.\.\s*(-?\d+(?:\.\d+)?)?$/
const SERVICE = '(set by the service)'
const MAX_WORDS = 200
const TYPE = /^[A-Z][A-Za-z0-9]{0,63}$/
const WORD = /^[A-Za-z0-9_](?:[A-Za-z0-9_ .+-]{0,62}[A-Za-z0-9_+])?$/

/**
 * Reads one field of the notation: `string!##`, `Lead | Customer = Lead`, `-> Tag[]`, `<- Deal.contact[]`. Reports
 * every error.
 */
export function parseField(name: string, text: string, tell: Tell): Field | null {
  const notation = text.trim()
  if (notation.startsWith('->')) return parseForward(name, notation.slice(2).trim(), tell)
  if (notation.startsWith('<-')) return parseBack(name, notation.slice(2).trim(), tell)
  if (notation.startsWith('=')) return parseComputed(name, notation.slice(1), tell)
  return parseValue(name, notation, tell)
}

function parseForward(name: string, text: string, tell: Tell): ForwardField | null {
  const { base, marks } = splitMarks(text)
  const { list, required } = readMarks(marks, ['!', '[]'], 'A relation', tell)
  const targets = base.split('|').map((one) => one.trim())
  if (base === ANY_TYPE || (targets.length > 1 && targets.every((one) => TYPE.test(one)))) {
    if (new Set(targets).size < targets.length) tell('names the same type twice')
    return { name, kind: 'forward', target: targets[0]!, list, required, ...(base !== ANY_TYPE && { targets }) }
  }
  const [, target, inverse] = /^([A-Z][A-Za-z0-9]{0,63})(?:\.([A-Za-z_][A-Za-z0-9_]{0,63}))?$/.exec(base) ?? []
  if (target === undefined) {
    tell(
      `must name the types it points to, such as -> Organization, -> Organization.contacts, -> Tag[], -> User | Contact or -> *; not -> ${text}`,
    )
    return null
  }
  return { name, kind: 'forward', target, list, required, ...(inverse !== undefined && { inverse }) }
}

function parseBack(name: string, text: string, tell: Tell): BackField | null {
  const { base, marks } = splitMarks(text)
  const [, target, via] = /^([A-Z][A-Za-z0-9]{0,63})\.([A-Za-z_][A-Za-z0-9_]{0,63})$/.exec(base) ?? []
  if (target === undefined || via === undefined) {
    tell(`must name the type and the field that it is the inverse of, such as <- Deal.contact[]; not <- ${text}`)
    return null
  }
  const { list } = readMarks(marks, ['[]'], 'An inverse relation', tell)
  return { name, kind: 'back', target, via, list }
}

/** `= sum(items.amount)`. Its type is number until the other types are known. */
function parseComputed(name: string, text: string, tell: Tell): ValueField | null {
  const { base, marks } = splitMarks(text)
  const { index } = readMarks(marks, ['#'], 'A computed field', tell)
  const computed = parseExpression(base, tell)
  return computed && { name, kind: 'number', list: false, required: false, index, service: true, computed }
}

function parseValue(name: string, text: string, tell: Tell): ValueField | null {
  const service = text.endsWith(SERVICE)
  const declared = service ? text.slice(0, -SERVICE.length) : text
  const equals = declared.indexOf('=')
  const { base, marks } = splitMarks(equals < 0 ? declared.trim() : declared.slice(0, equals).trim())
  const words = base.includes('|') ? base.split('|').map((word) => word.trim()) : undefined
  const range = RANGE.exec(base)
  const kind = words ? 'enum' : range ? 'number' : KINDS.find((known) => known === base)
  if (kind === undefined) {
    tell(
      `must be ${listed(KINDS)}, values such as Lead | Customer, or a relation; not ${base || 'nothing'}${marksLast(base) ?? didYouMean(base, KINDS)}`,
    )
    return null
  }
  if (words) tellWords(words, tell)
  const { list, required, index } = readMarks(marks, ['!', '#', '##', '[]'], 'A field', tell)
  if (index !== 'none' && (list || kind === 'json' || kind === 'file' || kind === 'secret')) {
    tell(`cannot be indexed: # and ## are for single values, not for ${list ? 'a list' : kind}`)
  }
  if (kind === 'secret' && (list || equals >= 0)) tell('is a secret, which cannot be a list or have a default')
  if (kind === 'file' && equals >= 0) tell('is a file, which cannot have a default')
  const field: ValueField = {
    name,
    kind,
    list,
    required,
    index,
    service,
    ...(words && { values: words }),
    ...(range && boundsOf(range, tell)),
  }
  if (equals < 0) return field
  const value = parseDefault(field, declared.slice(equals + 1).trim())
  if (value === undefined && kind !== 'file') tell(`has a default that is not ${expected(field)}`)
  return { ...field, ...(value !== undefined && { default: value }) }
}

/** `number! 0..100` has its mark before the range: the field as it is written. */
function marksLast(base: string): string | undefined {
  const [, kind, marks, rest] = /^(number)\s*([!#]+)\s*(\S.*)$/.exec(base) ?? []
  return kind && RANGE.test(`${kind} ${rest}`) ? `; marks come last: ${kind} ${rest}${marks}` : undefined
}

/** `number 0..100`, `number 0..`, `number ..100`. */
function boundsOf([, low, high]: RegExpExecArray, tell: Tell): Pick<ValueField, 'min' | 'max'> {
  if (low === undefined && high === undefined) tell('has a range without bounds; set one, such as number 0..')
  if (low !== undefined && high !== undefined && Number(low) > Number(high)) tell(`has an empty range: ${low}..${high}`)
  return { ...(low !== undefined && { min: Number(low) }), ...(high !== undefined && { max: Number(high) }) }
}

/** `string! ##` → `string` and its marks. */
function splitMarks(text: string): { readonly base: string; readonly marks: readonly string[] } {
  const marks: string[] = []
  let base = text.trimEnd()
  for (let mark = lastMark(base); mark !== undefined; mark = lastMark(base)) {
    marks.push(mark)
    base = base.slice(0, -mark.length).trimEnd()
  }
  return { base: base.trim(), marks }
}

function lastMark(text: string): string | undefined {
  return ['!', '##', '#', '[]'].find((mark) => text.endsWith(mark))
}

function readMarks(marks: readonly string[], allowed: readonly string[], subject: string, tell: Tell) {
  for (const mark of new Set(marks))
    if (!allowed.includes(mark)) tell(`has ${mark}. ${subject} takes ${listed(allowed)}`)
  const twice = new Set(marks).size < marks.length || (marks.includes('#') && marks.includes('##'))
  if (twice) tell('has the same mark twice')
  const index: ValueField['index'] = marks.includes('##') ? 'unique' : marks.includes('#') ? 'indexed' : 'none'
  return { list: marks.includes('[]'), required: marks.includes('!'), index }
}

function tellWords(words: readonly string[], tell: Tell): void {
  for (const word of words) {
    if (!WORD.test(word))
      tell(
        `has ${word === '' ? 'an empty value' : `the word ${word}`}. Values have letters, digits, _ . + - and inner spaces, at most 64 characters`,
      )
  }
  if (words.length > MAX_WORDS) tell(`has ${words.length} values; at most ${MAX_WORDS} are allowed`)
  if (new Set(words).size < words.length) tell('has the same value twice')
}

/** The default as JSON, or undefined if it is not valid for the field. */
function parseDefault(field: ValueField, text: string): Json | undefined {
  if (!field.list) return oneDefault(field, text)
  const list = jsonOf(text)
  if (!Array.isArray(list)) return undefined
  const values = list.map((one) => oneDefault(field, one))
  return values.includes(undefined) ? undefined : (values as Json[])
}

function oneDefault(field: ValueField, given: Json): Json | undefined {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  switch (field.kind) {
    case 'string':
      return text.startsWith('"') ? stringOf(jsonOf(text)) : stringOf(given)
    case 'number':
      return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) && inRange(field, Number(text)) ? Number(text) : undefined
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined
    case 'json':
      return jsonOf(text)
    case 'enum':
      return field.values?.includes(text) ? text : undefined
    case 'date':
    case 'datetime': {
      if (text === 'now') return 'now'
      const instant = parseInstant(text)
      return instant === null ? undefined : isoOf(instant).slice(0, field.kind === 'date' ? 10 : undefined)
    }
    case 'file':
    case 'secret':
      return undefined
  }
}

function inRange({ min, max }: ValueField, value: number): boolean {
  return (min === undefined || value >= min) && (max === undefined || value <= max)
}

function stringOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function expected(field: ValueField): string {
  const one = field.values ? listed(field.values) : article(field.kind)
  return field.list ? `a JSON list, each ${one}` : one
}
