import {
  notifyManager,
  type Query,
  QueryClient,
  type QueryFilters,
  QueryObserver,
  type QueryObserverOptions,
  skipToken,
} from '@tanstack/query-core'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ClosedError, isUnreachable } from './service.ts'

const SECOND = 1_000

/** How long questions of the frame wait, so that those of the page come first. */
export const AFTER_PAGE_MS = 400

/** Answers of the service by question. The event stream marks them as stale; see `live.ts`. */
export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      // The client repeats lost requests automatically.
      retry: false,
      networkMode: 'always',
      staleTime: 10 * SECOND,
      gcTime: 300 * SECOND,
      refetchOnWindowFocus: true,
      // The page recovers automatically once the server is back.
      refetchInterval: (query) => (isUnreachable(query.state.error) ? 3 * SECOND : false),
    },
  },
})
notifyManager.setScheduler(queueMicrotask)
cache.mount()

export interface Data<T> {
  readonly value: T | null
  readonly error: Error | null
  /** True until the question has an answer of its own. A change that makes it stale does not make it wait again. */
  readonly loading: boolean
  /** True while the value belongs to the question before. */
  readonly isPrevious: boolean
  reload(): void
}

export interface DataOptions {
  /** The types whose events make the answer stale; `*` means every type. */
  readonly types?: readonly string[]
  /** False clears the value when the question changes. */
  readonly keep?: boolean
}

/** Asks a question and follows its answer. The last value stays until a new one arrives; null asks nothing. */
export function useData<T>(
  key: readonly unknown[],
  load: ((signal: AbortSignal) => Promise<T>) | null,
  { types = [], keep = true }: DataOptions = {},
): Data<T> {
  const options: QueryObserverOptions<T> = {
    queryKey: key,
    queryFn: load === null ? skipToken : ({ signal }) => load(signal),
    enabled: load !== null,
    meta: { types },
    // What `Data` is made of. That a request begins changes nothing in it, so nothing is drawn again.
    notifyOnChangeProps: ['data', 'error', 'isFetchedAfterMount'],
  }
  const [observer] = useState(() => new QueryObserver<T>(cache, options))
  const [, redraw] = useState(0)
  useEffect(() => observer.subscribe(() => redraw((count) => count + 1)), [observer])
  useEffect(() => observer.setOptions(options), [JSON.stringify(key), load === null])
  const result = observer.getOptimisticResult(cache.defaultQueryOptions(options) as never)
  const last = useRef<T | null>(null)
  if (result.data !== undefined) last.current = result.data
  else if (!keep || load === null) last.current = null
  return {
    value: result.data ?? last.current,
    error: result.error instanceof ClosedError ? null : result.error,
    loading: result.isFetching && !result.isFetchedAfterMount,
    isPrevious: result.data === undefined && last.current !== null,
    reload: () => askAgain({ queryKey: key, exact: true }),
  }
}

/** A value that follows another one, once that has not changed for `ms` milliseconds. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** Marks the answers stale that depend on these types, so that they are asked for again. */
export function invalidate(types: ReadonlySet<string>): void {
  askAgain({
    predicate: ({ meta }) => {
      const depends = (meta?.types ?? []) as readonly string[]
      return depends.some((type) => type === '*' || types.has(type) || types.has('*'))
    },
  })
}

/**
 * Asks questions again. The answer of a running request may be from before a change, so the question follows once more. The
 * request is not cancelled: in a tenant with a write before each answer, no answer would ever arrive.
 */
function askAgain(questions: QueryFilters): void {
  cache
    .getQueryCache()
    .findAll({ ...questions, fetchStatus: 'fetching' })
    .forEach(followUp)
  void cache.invalidateQueries(questions, { cancelRefetch: false })
}

const followed = new WeakSet<Query>()

function followUp(query: Query): void {
  if (followed.has(query)) return
  followed.add(query)
  const follow = () => {
    followed.delete(query)
    void cache.invalidateQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false })
  }
  void query.promise?.then(follow, follow)
}
