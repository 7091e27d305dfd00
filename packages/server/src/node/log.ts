/** Writes one line of JSON to standard error. Secrets never reach it: keys are named by their id. */
export function log(level: 'info' | 'warn' | 'error', message: string, facts: object = {}): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })}\n`)
}

/** Reports a fault of ours, with its stack, for the operator alone. */
export function report(reason: unknown, requestId: string): void {
  const facts = reason instanceof Error ? { reason: reason.message, stack: reason.stack } : { reason: String(reason) }
  log('error', 'A request failed', { requestId, ...facts })
}
