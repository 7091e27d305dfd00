import { describe, expect, test } from 'vitest'
import { stageAt } from './ask.ts'
import { SERVICE, startWorkerd } from './workerd.ts'

describe('with a heap of 64 MiB', () => {
  test('tens of thousands of rows come in, move and go out', { timeout: 300_000 }, async () => {
    const small = await startWorkerd({ ...SERVICE, heapMib: 64 })
    const { request } = stageAt(() => small.url)
    const count = Number(process.env.TILDE_ROWS ?? 20_000)
    const rows = Array.from({ length: count }, (_, i) => JSON.stringify({ name: `C${i}`, note: 'x'.repeat(400) })).join(
      '\n',
    )
    const ndjson = { 'content-type': 'application/x-ndjson' }
    try {
      const imported = await request('POST', '/~big/import/Contact', rows, ndjson)
      const log = await request('GET', '/operator/tenants/big/log')
      const replayed = await request('PUT', '/operator/tenants/moved/log', log.text)
      const fork = await request('POST', '/operator/tenants/big/fork', { to: 'forked' })
      const exported = await request('GET', '/~big/export/Contact?format=ndjson')
      const verdict = await request('GET', '/operator/tenants/moved/verify')

      expect(imported.body.imported, imported.text.slice(0, 500)).toBe(count)
      expect([replayed.body.events, fork.body.events]).toEqual([count, count])
      expect(exported.text.trim().split('\n')).toHaveLength(count)
      expect(verdict.body.ok).toBe(true)
    } finally {
      await small.stop()
    }
  })
})
