import { Problem } from '@tildebase/nouns'
import type { ScriptFailure } from '@tildebase/tenant/ports'
import { problemOf } from '../../doors/respond.ts'

export const BUSY: ScriptFailure = {
  code: 'busy',
  message: 'Too much code is waiting at the moment. Try again soon.',
}
export const ABANDONED: ScriptFailure = { code: 'busy', message: 'The caller disconnected, and the code was stopped.' }
export const TOO_MUCH_MEMORY: ScriptFailure = {
  code: 'script_memory',
  message: 'The code used too much memory and was stopped. Keep less data in memory.',
}

/** The failure of code that did not stop. */
export function tooLong(timeMs: number, of = ''): ScriptFailure {
  const time = timeMs < 1_000 ? `${timeMs} ms` : `${timeMs / 1_000} s`
  const message = `The code ran longer than ${time}${of} and was stopped. Do less in one run.`
  return { code: 'script_timeout', message }
}

/** The error of a failed operation for the code. Internal errors are not shown. */
export function refused(reason: unknown): object {
  const { code, message, about }: Problem = reason instanceof Problem ? reason : problemOf(reason)
  return { ...about, code, message }
}
