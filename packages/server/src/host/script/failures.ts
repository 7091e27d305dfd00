import { Problem } from '@tildebase/nouns'
import type { ScriptFailure } from '@tildebase/tenant/ports'
import { problemOf } from '../../respond.ts'

export const BUSY: ScriptFailure = {
  code: 'busy',
  message: 'There is too much code to run at the moment. Try again soon.',
}
export const ABANDONED: ScriptFailure = { code: 'busy', message: 'The caller disconnected, and the code was stopped.' }
export const TOO_MUCH_MEMORY: ScriptFailure = {
  code: 'script_memory',
  message: 'The code took more than its memory and was stopped. Keep less of what you read.',
}

/** The failure of code that did not stop by itself. */
export function tooLong(timeMs: number): ScriptFailure {
  const message = `The code ran over ${timeMs / 1_000} s and was stopped. Do less at once.`
  return { code: 'script_timeout', message }
}

/** What the code is told of an operation that failed. What is not a Problem is a fault of ours and is not told. */
export function refused(reason: unknown): object {
  const { code, message, about }: Problem = reason instanceof Problem ? reason : problemOf(reason)
  return { ...about, code, message }
}
