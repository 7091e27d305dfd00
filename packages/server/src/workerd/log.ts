import { type Log, reporter } from '../host/log.ts'

/** Writes one line of JSON to the log of the Worker. */
export const log: Log = (level, message, facts = {}) => {
  console[level](JSON.stringify({ level, message, ...facts }))
}

export const report = reporter(log)
