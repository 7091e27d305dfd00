import type { ErrorCodes } from './error-code.ts'

/** Ends of code that a sender had run. */
export const SCRIPT_ERRORS: ErrorCodes = {
  script_error: {
    status: 422,
    cause: 'Code in `do`, in a hook or in a workflow threw an error, or cannot be parsed.',
    remedy: 'The message has the error and the line.',
  },
  script_timeout: {
    status: 422,
    cause: 'The code ran longer than its limit (10 s in `do`).',
    remedy: 'Do less in one call.',
  },
  script_memory: {
    status: 422,
    cause: 'The code used more memory than its limit (64 MiB in `do`).',
    remedy: 'Read in pages and keep less.',
  },
  script_operations: {
    status: 422,
    cause: 'The code called the tenant more often than its limit (1,000 times in `do`).',
    remedy: 'Use filters and aggregations instead of loops.',
  },
  script_result: {
    status: 422,
    cause: 'The result of the code is larger than 1 MiB, or is not JSON.',
    remedy: 'Return less, or plain values.',
  },
}
