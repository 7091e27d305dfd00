let current: AbortSignal | undefined

/** Starts work on behalf of a caller. Code that it starts before its first `await` is stopped when the caller disconnects. */
export function onBehalfOf<T>(caller: AbortSignal | undefined, work: () => T): T {
  const before = current
  current = caller
  try {
    return work()
  } finally {
    current = before
  }
}

/** The caller that the code which is being started belongs to; absent for hooks, which no client waits for. */
export function currentCaller(): AbortSignal | undefined {
  return current
}
