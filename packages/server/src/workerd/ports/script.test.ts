import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { WorkerLoader } from './isolate.ts'
import { createScript } from './script.ts'

const LOADING_MS = 600

/** A platform that loads an isolate slowly, with the first call to it. */
function slowLoader(loaded: string[]): WorkerLoader {
  const isolates = new Map<string, Promise<void>>()
  return {
    get(id) {
      const load = () => {
        if (!isolates.has(id)) loaded.push(id)
        const known = isolates.get(id) ?? pause(LOADING_MS)
        isolates.set(id, known)
        return known
      }
      return {
        getEntrypoint: () => ({
          prepare: load,
          run: ({ code }: { code: string }) =>
            load().then(() => (code === 'fail' ? Promise.reject(new Error('ended')) : { result: '1', logs: [] })),
        }),
      }
    },
  }
}

const request = (code: string) => ({
  code,
  owner: 'acme',
  timeMs: 1,
  cpuMs: 1,
  memoryBytes: 1,
  operations: 1,
  resultLength: 1,
  call: async () => null,
})

test('the time in which the platform loads an isolate is not part of the time of the code', async () => {
  const loaded: string[] = []
  const script = createScript(slowLoader(loaded), 'acme')

  const first = await script.run(request('1'))
  const ended = await script.run(request('fail'))
  const next = await script.run(request('1'))

  expect([first.result, ended.error?.code, next.result]).toEqual([1, 'script_timeout', 1])
  expect(loaded).toHaveLength(2)
})
