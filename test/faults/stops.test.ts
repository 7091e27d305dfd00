import { expect, test } from 'vitest'
import { needs, testApp } from '../host.ts'
import { type Stop, stopWithDue } from './stops.ts'

test.each<Stop>(['SIGTERM', 'SIGKILL', 'socket'])(
  'all that falls due during a stop happens after it: %s',
  async (stop) => {
    expect((await stopWithDue(stop, 40)).missing).toEqual([])
  },
)

test('a request in progress whose client has left ends before its tenant is closed', async () => {
  needs('folder of data')
  const app = await testApp()
  await app.request('POST', '/~acme/Contact', { name: 'First' })
  const rows = Array.from({ length: 300 }, (_, i) => ({ name: `Contact ${i}` }))

  // No connection waits for the answer: the service itself has to know that it is in progress.
  const answer = app.request('POST', '/~acme/import/Contact', rows)
  await app.stop()

  expect((await answer).body).toMatchObject({ success: true, imported: 300 })
})
