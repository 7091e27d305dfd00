import { Budget, OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { testApp } from '../host.ts'
import { openAcme } from '../tenant/fixture.ts'

test('a host without an interpreter says so', async () => {
  const { tenant } = openAcme()
  const budget = new Budget({ ms: 5_000, rows: 1_000, bytes: 1_000 }, () => performance.now())

  await expect(tenant.facade.runCode(OPERATOR, {}, budget, { code: '1' })).rejects.toMatchObject({
    code: 'not_supported',
    message: expect.stringContaining('no interpreter'),
  })
})

test('code and hooks run for tenants in worker threads too', async () => {
  const host = await testApp({}, { workers: '2' })
  try {
    const put = await host.request('PUT', '/~acme/schema/Contact/hooks/creating', {
      code: '() => ({ title: "hooked" })',
    })
    const did = await host.request('POST', '/~acme/do', { code: "(await $.Contact.create({ name: 'Ada' })).title" })

    expect(put.status).toBe(201)
    expect(did.body.result).toBe('hooked')
  } finally {
    await host.stop()
  }
})
