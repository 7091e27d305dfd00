import { expect, test } from 'vitest'
import { type Stop, stopWithDue } from './stops.ts'

test.each<Stop>(['SIGTERM', 'SIGKILL', 'socket', 'cluster'])(
  'all that falls due in a thousand tenants happens after a stop: %s',
  async (stop) => {
    expect((await stopWithDue(stop, 1_000)).missing).toEqual([])
  },
  900_000,
)
