import { type Data, useData } from './cache.ts'
import { request } from './service.ts'

const BATCH = 100

/** How many entities of each type there are at a time. */
export function useCounts(
  types: readonly { readonly name: string }[],
  time: string | null,
): Data<ReadonlyMap<string, number>> {
  const names = types.map(({ name }) => name)
  return useData(['counts', time, names.length], (signal) => countAll(names, time, signal), {
    types: time === null ? ['*'] : [],
  })
}

/** How many of each type there are: a hundred types in a request. */
async function countAll(
  types: readonly string[],
  time: string | null,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (let start = 0; start < types.length; start += BATCH) {
    const query = time === null ? {} : { asOf: time }
    const operations = types
      .slice(start, start + BATCH)
      .map((type) => ({ id: type, method: 'GET', path: `/${type}/count`, query }))
    const { results } = await request<{ results: { id: string; status: number; body: { count: number } }[] }>(
      'POST',
      '/batch',
      { body: { operations }, signal },
    )
    for (const { id, status, body } of results) if (status === 200) counts.set(id, body.count)
  }
  return counts
}
