import { tsPlugin } from '@sveltejs/acorn-typescript'
import { Parser } from 'acorn'
import { isTooDeep } from '../../host/script/depth.ts'

const TypeScript = Parser.extend(tsPlugin())

/**
 * Whether code is a function and nothing else, also as a property between others. A file with any other code runs it when
 * it is imported.
 */
export function isFunctionText(code: string): boolean {
  try {
    if (isTooDeep(code)) return false
    const options = { ecmaVersion: 'latest', sourceType: 'module', locations: true } as const
    const { body } = TypeScript.parse(`({ first: ${code}, last: 0 })`, options)
    const [only] = body
    if (body.length !== 1 || only?.type !== 'ExpressionStatement' || only.expression.type !== 'ObjectExpression')
      return false
    const [first, last, more] = only.expression.properties
    if (first?.type !== 'Property' || last?.type !== 'Property' || more !== undefined) return false
    return ['ArrowFunctionExpression', 'FunctionExpression'].includes(first.value.type) && last.value.type === 'Literal'
  } catch {
    return false
  }
}
