import { expect, test } from 'vitest'
import { testHost } from '../host.ts'
import { stageAt } from './ask.ts'
import { SERVICE, startWorkerd } from './workerd.ts'

const HOSTS = {
  'Node in one thread': () => testHost({}, { workers: '0' }),
  'Node with a worker': () => testHost({}, { workers: '1' }),
  workerd: () => startWorkerd(SERVICE),
}

test.each(Object.entries(HOSTS))('code that never ends is stopped after its time (%s)', async (_, start) => {
  const host = await start()
  const { request } = stageAt(() => host.url)

  const endless = await request('POST', '/~acme/do', { code: 'for (;;);' })
  const next = await request('POST', '/~acme/do', { code: '1 + 1' })
  await host.stop()

  expect(endless.body.error).toBe('script_timeout')
  expect(next.body.result).toBe(2)
})
