import { randomUUID } from 'node:crypto'

const DIGITS = 12

/** Makes ids for requests in the form of UUIDs: a random start for each process, then a number. Random ones cost more. */
export function requestIds(): () => string {
  const start = randomUUID().slice(0, -DIGITS)
  let count = 0
  return () => start + (++count).toString(16).padStart(DIGITS, '0')
}
