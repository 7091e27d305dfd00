import { Problem } from '@tildebase/client'
import { cell } from './cell.ts'
import { UsageError } from './usage-error.ts'

/** Problems that lie in how the command was called, not in what was asked of the service. */
const OURS = new Set([
  'unreachable',
  'unauthorized',
  'unknown_type',
  'unknown_verb',
  'invalid_tenant',
  'unexpected_answer',
])

/** What went wrong in one line, and the exit code: 1 when the service refused, 2 when it was not rightly asked. */
export function failureOf(reason: unknown): { readonly sentence: string; readonly code: number } {
  if (reason instanceof Problem) {
    const code = OURS.has(reason.code) ? 2 : 1
    if (reason.code === 'unauthorized') {
      return { sentence: 'The service does not know this key. Check --key or TILDE_KEY, or run: tilde login', code }
    }
    return { sentence: cell(reason.message), code }
  }
  if (reason instanceof UsageError) return { sentence: cell(reason.message), code: 2 }
  const { code, path, message } = reason as NodeJS.ErrnoException
  if (code === 'ENOENT') return { sentence: `There is no file ${path}.`, code: 2 }
  if (code === 'EACCES') return { sentence: `${path} may not be read or written.`, code: 2 }
  return { sentence: cell(message ?? String(reason)), code: 2 }
}
