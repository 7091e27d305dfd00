import { BoundedMap } from '@tildebase/nouns/bounded-map'
import { type Program, parse } from 'acorn'
import { isTooDeep } from './depth.ts'

const HEAD = '(async ('
const BODY = ') => {'
const TAIL = '\n})'
const DEEP = 'The code is nested too deeply to be parsed.'

/** Code that cannot be read, with the place where. */
export class CodeError extends Error {}

/** The reader of code failed, and says nothing about the code: it must not be used again. */
export class BrokenReader extends Error {}

/** Removes the types from TypeScript. Throws a CodeError for what is more than types, any other error for what it cannot read. */
export type StripTypes = (text: string) => string

/** So many characters of functions are kept: hooks and workflows run the same code again and again. */
const MOST_KEPT = 1_000_000
/** Functions by what removed the types, and by their names and code. */
const kept = new WeakMap<StripTypes, BoundedMap<string, string>>()

/** The code as an async function of these names, in plain JavaScript, that returns its last expression. */
export function functionOf(code: string, names: readonly string[], strip: StripTypes): string {
  const known = kept.get(strip) ?? new BoundedMap<string, string>(MOST_KEPT, ({ length }) => length)
  kept.set(strip, known)
  const key = `${names.join(', ')}\n${code}`
  const text = known.get(key) ?? readFunction(code, names, strip)
  known.set(key, text)
  return text
}

function readFunction(code: string, names: readonly string[], strip: StripTypes): string {
  if (isTooDeep(code)) throw new CodeError(DEEP)
  const head = `${HEAD}${names.join(', ')}${BODY}`
  const text = withoutTypes(`${head}${code}${TAIL}`, head.length, strip)
  const last = lastExpression(text, head.length)
  if (last === null) return text
  const expression = text.slice(last.start, last.end).replace(/;$/, '')
  return `${text.slice(0, last.start)}return (${expression})${text.slice(last.end)}`
}

function withoutTypes(text: string, offset: number, strip: StripTypes): string {
  try {
    return strip(text)
  } catch (reason) {
    if (reason instanceof CodeError) throw reason
    if ((reason as Error).name !== 'SyntaxError') throw new BrokenReader(DEEP)
    // The message of the JavaScript parser is better, if it has one.
    parsed(text, offset)
    throw new CodeError((reason as Error).message)
  }
}

/** Where the last statement is, if it is an expression. */
function lastExpression(text: string, offset: number): { start: number; end: number } | null {
  const { body } = parsed(text, offset)
  const only = body.length === 1 ? body[0] : undefined
  const main = only?.type === 'ExpressionStatement' ? only.expression : undefined
  if (main?.type !== 'ArrowFunctionExpression' || main.body.type !== 'BlockStatement') {
    throw new CodeError('The code closes a bracket that it did not open.')
  }
  const last = main.body.body.at(-1)
  return last?.type === 'ExpressionStatement' ? last : null
}

function parsed(text: string, offset: number): Program {
  try {
    return parse(text, { ecmaVersion: 'latest' })
  } catch (reason) {
    if (!(reason instanceof SyntaxError)) throw new BrokenReader(DEEP)
    const { message, loc } = reason as Error & { loc?: { line: number; column: number } }
    const column = loc ? loc.column + 1 - (loc.line === 1 ? offset : 0) : 0
    const place = loc ? ` (line ${loc.line}, column ${column})` : ''
    if (message.includes("'import' and 'export'"))
      throw new CodeError(`The code cannot import or export modules${place}.`)
    throw new CodeError(`${message.replace(/ \(\d+:\d+\)$/, '')}${place}`)
  }
}
