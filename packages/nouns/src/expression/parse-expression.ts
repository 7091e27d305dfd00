import { didYouMean } from '../nearest.ts'
import { listed } from '../notation/english.ts'
import type { Arithmetic, Expression, Measure } from '../noun.ts'
import { MEASURES } from './expression.ts'

const LONGEST = 500
const MOST_TOKENS = 100
const DEEPEST = 20
const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)|([-+*/()]))/y

/** Parses an expression such as `sum(items.amount) * (1 - discount)`, or reports its error. */
export function parseExpression(text: string, tell: (message: string) => void): Expression | null {
  const tokens = text.length > LONGEST ? null : tokensOf(text)
  if (tokens === null || tokens.length > MOST_TOKENS) {
    tell(`has an expression that is too long: at most ${LONGEST} characters and ${MOST_TOKENS} words and signs`)
    return null
  }
  try {
    const reader = new Reader(tokens)
    const expression = reader.sum(0)
    reader.end()
    return expression
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    tell(fault.message)
    return null
  }
}

class Fault extends Error {}

type Token = { readonly is: 'number' | 'name' | 'sign' | 'other'; readonly text: string }

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  const source = text.trimEnd()
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex
    const [, number, name, sign] = TOKEN.exec(source) ?? []
    if (number !== undefined) tokens.push({ is: 'number', text: number })
    else if (name !== undefined) tokens.push({ is: 'name', text: name })
    else if (sign !== undefined) tokens.push({ is: 'sign', text: sign })
    else {
      tokens.push({ is: 'other', text: source.slice(at).trim().slice(0, 20) })
      break
    }
  }
  return tokens
}

/** A recursive descent over the tokens: sums of products of numbers, paths, functions and parentheses. */
class Reader {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  sum(depth: number): Expression {
    return this.#chain(['+', '-'], () => this.#product(depth))
  }

  end(): void {
    const rest = this.#tokens[this.#at]
    if (rest) throw new Fault(`has an expression with ${rest.text} where an operator or the end is expected`)
  }

  #product(depth: number): Expression {
    return this.#chain(['*', '/'], () => this.#factor(depth))
  }

  #chain(signs: readonly string[], next: () => Expression): Expression {
    let left = next()
    for (let sign = this.#sign(signs); sign !== null; sign = this.#sign(signs)) {
      left = { op: sign as Arithmetic, left, right: next() }
    }
    return left
  }

  #factor(depth: number): Expression {
    if (depth > DEEPEST) throw new Fault(`has an expression nested deeper than ${DEEPEST} levels`)
    if (this.#sign(['-']) !== null) return { op: 'negate', of: this.#factor(depth + 1) }
    if (this.#sign(['(']) !== null) {
      const inner = this.sum(depth + 1)
      this.#close()
      return inner
    }
    const token = this.#tokens[this.#at++]
    if (token?.is === 'number') return { op: 'number', value: Number(token.text) }
    if (token?.is !== 'name') {
      throw new Fault(
        `has an expression with ${token?.text ?? 'an end'} where a number, a field or a function is expected`,
      )
    }
    return this.#sign(['(']) === null ? { op: 'path', path: token.text } : this.#measure(token.text)
  }

  #measure(name: string): Expression {
    if (!MEASURES.includes(name as Measure)) {
      throw new Fault(`uses ${name}(); known are ${listed(MEASURES, 'and')}${didYouMean(name, MEASURES)}`)
    }
    const path = this.#tokens[this.#at++]
    if (path?.is !== 'name') throw new Fault(`uses ${name}() without the path of a field, such as items.amount`)
    this.#close()
    return { op: name as Measure, path: path.text }
  }

  #close(): void {
    if (this.#sign([')']) === null) throw new Fault('has an expression with a parenthesis that is not closed')
  }

  #sign(signs: readonly string[]): string | null {
    const token = this.#tokens[this.#at]
    if (token?.is !== 'sign' || !signs.includes(token.text)) return null
    this.#at++
    return token.text
  }
}
