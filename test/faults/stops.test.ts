import { expect, test } from 'vitest'
import { type Stop, stopWithDue } from './stops.ts'

test.each<Stop>(['SIGTERM', 'SIGKILL', 'socket'])(
  'all that falls due during a stop happens after it: %s',
  async (stop) => {
    expect((await stopWithDue(stop, 40)).missing).toEqual([])
  },
)
