const AT_ONCE = 8

/** Does some work for each of many, a few at a time. */
export async function inParallel<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const rest = [...all]
  const take = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, take))
}
