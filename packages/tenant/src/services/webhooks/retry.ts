/** When to try again after `failures` failed tries, or null once the retries are used up. */
export function nextTry(retries: readonly number[], failures: number, now: number): number | null {
  const wait = retries[failures - 1]
  return wait === undefined ? null : now + wait
}
