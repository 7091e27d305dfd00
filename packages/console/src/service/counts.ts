import { useEffect, useMemo, useState } from 'preact/hooks'
import { AFTER_PAGE_MS, cache, type Data, useData, useSettled } from './cache.ts'
import { onEvent } from './live.ts'
import { requestAll } from './service.ts'

const BATCH = 100

/** How many entities of each type there are at a time. */
export function useCounts(
  types: readonly { readonly name: string }[],
  time: string | null,
): Data<ReadonlyMap<string, number>> {
  const names = types.map(({ name }) => name)
  return useData(keyOf(time, names), (signal) => countAll(names, time, signal), {
    types: time === null ? ['*'] : [],
  })
}

function keyOf(time: string | null, names: readonly string[]) {
  return ['counts', time, names.length] as const
}

/** The types that have entities; null while that is not known. They are counted once: an event tells of a first entity. */
export function useFilledTypes(types: readonly { readonly name: string }[]): ReadonlySet<string> | null {
  const joined = types.map(({ name }) => name).join()
  const names = useMemo(() => joined.split(',').filter(Boolean), [joined])
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set())
  // The page comes first, and may have counted them itself.
  const wanted = useSettled(names, AFTER_PAGE_MS)
  const running = cache.getQueryCache().find<ReadonlyMap<string, number>>({ queryKey: keyOf(null, names), exact: true })
  const counts = useData(
    ['filled', wanted],
    wanted.length === 0
      ? null
      : async (signal) => running?.state.data ?? running?.promise ?? countAll(wanted, null, signal),
  )
  useEffect(
    () => onEvent(({ entityType }) => setSeen((old) => (old.has(entityType) ? old : new Set([...old, entityType])))),
    [],
  )
  if (!counts.value) return null
  return new Set([...seen, ...[...counts.value].filter(([, count]) => count > 0).map(([type]) => type)])
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
    const reads = types.slice(start, start + BATCH).map((type) => ({ id: type, path: `/${type}/count`, query }))
    const found = await requestAll<{ count: number }>(reads, signal)
    for (const [type, { count }] of found) counts.set(type, count)
  }
  return counts
}
