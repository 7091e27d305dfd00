import { randomBytes } from 'node:crypto'

/** Makes ids for requests: a random beginning for each process, then a number. A UUID costs as much as a lookup. */
export function requestIds(): () => string {
  const process = randomBytes(6).toString('hex')
  let count = 0
  return () => `${process}-${(++count).toString(36)}`
}
