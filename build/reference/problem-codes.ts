import { ERROR_CODES } from '../../packages/server/src/doors/error-codes.ts'
import { LOCAL_CODES } from './errors.ts'

/** The codes of problems as a type for the client. */
export function problemCodes(): string {
  const codes = [...Object.keys(ERROR_CODES), ...LOCAL_CODES].toSorted()
  const lines = codes.map((code) => `  | '${code}'`)
  return [
    '// Written by npm run docs:reference from the table of error codes.',
    '',
    '/** Every code that the service and its clients use. */',
    `export type ProblemCode =\n${lines.join('\n')}\n`,
  ].join('\n')
}
