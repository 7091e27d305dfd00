/** Writes one line of the log. Secrets never reach it: keys are named by their id. */
export type Log = (level: 'info' | 'warn' | 'error', message: string, facts?: object) => void

/** Reports faults of ours to a log, with their stack, for the operator alone. */
export function reporter(log: Log): (reason: unknown, requestId: string) => void {
  return (reason, requestId) => {
    const facts = reason instanceof Error ? { reason: reason.message, stack: reason.stack } : { reason: String(reason) }
    log('error', 'A request failed', { requestId, ...facts })
  }
}
