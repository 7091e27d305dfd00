import { type Log, reporter } from '../host/log.ts'

/** Writes one line of JSON to standard error. */
export const log: Log = (level, message, facts = {}) => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })}\n`)
}

export const report = reporter(log)
