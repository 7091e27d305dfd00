import { tokenizer, tokTypes as types } from 'acorn'

/** The most that code may be nested. Readers of code overflow their stack at about twice as much. */
const MOST_DEPTH = 1_500
/** An open bracket takes more of a reader's stack than an operator. */
const BRACKET = 3
/** Operators and statements that take more than other operators: `=>`, `if (a)`, a type argument. */
const DEEPER = 2

const OPENING = new Set([types.parenL, types.braceL, types.bracketL, types.dollarBraceL])
const CLOSING = new Set([types.parenR, types.braceR, types.bracketR])
const HEADS = new Set([types._if, types._for, types._while, types._with])
const STATEMENTS = new Set([...HEADS, types._else, types._do])
const OPERATORS = new Set([types.eq, types.question, types.colon, types._new, types.backQuote])
/** Words that are operators in front of an expression or a type. */
const WORDS = new Set(['await', 'yield', 'async', 'as', 'satisfies', 'keyof', 'infer', 'readonly', 'unique', 'asserts'])

/** A token of acorn, with the facts that its declarations leave out. */
interface Token {
  readonly type: (typeof types)['name'] & {
    readonly prefix: boolean
    readonly isAssign: boolean
    readonly beforeExpr: boolean
    readonly binop: number | null
  }
  readonly value: string
  readonly loc: { readonly start: { readonly line: number }; readonly end: { readonly line: number } }
}

/**
 * Whether code is nested too deeply to be read safely. It counts open brackets, and the operators and statements that no
 * comma, semicolon or new line separates. It reads one token after the other and needs no stack itself.
 */
export function isTooDeep(code: string): boolean {
  /** The open brackets: the operators in each, and whether it is the head of a statement. */
  const levels = [{ operators: 0, isHead: false }]
  let depth = 0
  let last: Token | null = null
  let isAfterHead = false
  try {
    for (const each of tokenizer(code, { ecmaVersion: 'latest', locations: true })) {
      const token = each as unknown as Token
      const weight = weightOf(token)
      if (!isAfterHead && isSeparated(token, last)) {
        depth -= levels.at(-1)!.operators
        levels.at(-1)!.operators = 0
      }
      isAfterHead = false
      levels.at(-1)!.operators += weight
      depth += weight
      if (OPENING.has(token.type)) {
        levels.push({ operators: 0, isHead: last !== null && HEADS.has(last.type) })
        depth += BRACKET
      } else if (CLOSING.has(token.type) && levels.length > 1) {
        const { operators, isHead } = levels.pop()!
        depth -= BRACKET + operators
        isAfterHead = isHead
      }
      if (depth > MOST_DEPTH) return true
      last = token
    }
  } catch {
    // Types can look like an unfinished regular expression. The reader of the code finds out what it is.
  }
  return false
}

function weightOf({ type, value }: Token): number {
  if (STATEMENTS.has(type) || type === types.arrow || type === types.relational) return DEEPER
  const isOperator = OPERATORS.has(type) || type.prefix || type.isAssign || type.binop !== null
  return isOperator || (type === types.name && WORDS.has(value)) ? 1 : 0
}

/** Whether a token begins code that the code before it does not contain. */
function isSeparated(token: Token, last: Token | null): boolean {
  if (last === null) return false
  if (last.type === types.comma || last.type === types.semi) return token.type !== types._else
  if (token.loc.start.line === last.loc.end.line || last.type.beforeExpr) return false
  return weightOf(token) === 0 || (STATEMENTS.has(token.type) && token.type !== types._else)
}
