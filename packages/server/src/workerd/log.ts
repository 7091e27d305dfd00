/** Writes one line of JSON to the log of the Worker. */
export function log(level: 'info' | 'warn' | 'error', message: string, facts: object = {}): void {
  console[level](JSON.stringify({ level, message, ...facts }))
}

/** Reports a fault of ours, with its stack, for the operator alone. */
export function report(reason: unknown, requestId: string): void {
  const facts = reason instanceof Error ? { reason: reason.message, stack: reason.stack } : { reason: String(reason) }
  log('error', 'A request failed', { requestId, ...facts })
}
