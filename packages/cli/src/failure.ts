import { Problem } from '@tildebase/client'
import { cell } from './output/cell.ts'
import { UsageError } from './parse/usage-error.ts'

/** Problems in the call of the command, not in the request to the service. */
const OURS = new Set([
  'unreachable',
  'unauthorized',
  'unknown_type',
  'unknown_verb',
  'invalid_tenant',
  'unexpected_answer',
])

/** How a command failed. */
export interface Failure {
  readonly sentence: string
  /** The exit code: 1 if the service refused, 2 if the call was wrong. */
  readonly code: number
  /** The same as JSON, in the form of the service's errors. */
  readonly json: { readonly error: string; readonly message: string }
}

/** The error in one line. */
export function failureOf(reason: unknown): Failure {
  const { sentence, code } = told(reason)
  const error = reason instanceof Problem ? reason.code : reason instanceof UsageError ? 'usage' : 'failed'
  const about = reason instanceof Problem ? reason.about : {}
  return { sentence, code, json: { error, message: sentence, ...about } }
}

function told(reason: unknown): Pick<Failure, 'sentence' | 'code'> {
  if (reason instanceof Problem) {
    const code = OURS.has(reason.code) ? 2 : 1
    if (reason.code === 'unauthorized') {
      return { sentence: 'The key is not valid for this service. Check --key or TILDE_KEY, or run: tilde login', code }
    }
    return { sentence: cell(reason.message), code }
  }
  if (reason instanceof UsageError) return { sentence: cell(reason.message), code: 2 }
  const { code, path, message } = reason as NodeJS.ErrnoException
  if (code === 'ENOENT') return { sentence: `There is no file ${path}.`, code: 2 }
  if (code === 'EACCES') return { sentence: `No permission to read or write ${path}.`, code: 2 }
  return { sentence: cell(message ?? String(reason)), code: 2 }
}
