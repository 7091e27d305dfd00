import { expect, test } from 'vitest'
import { ROOT, testHost } from '../host.ts'
import { tildeWith } from './tilde.ts'

test('a restore on a machine with another secret key says which webhooks cannot be signed', async () => {
  const old = await testHost({ TILDE_SECRET_KEY: 'the-key-of-the-old-machine-0123456789' })
  const fresh = await testHost({ TILDE_SECRET_KEY: 'the-key-of-the-new-machine-0123456789' })
  const from = tildeWith({ TILDE_URL: old.url, TILDE_ROOT_KEY: ROOT })
  const to = tildeWith({ TILDE_URL: fresh.url, TILDE_ROOT_KEY: ROOT })
  await old.request('POST', '/~acme/Webhook', { url: 'https://example.org/', events: ['*'] })

  const saved = await from('backup', 'acme', '--to', 'log', '--json')
  await from('backup', 'acme', '-o', 'acme.db')
  const answer = await old.fetch('/operator/tenants/acme/backup', { headers: { authorization: `Bearer ${ROOT}` } })
  await answer.body?.cancel()
  const folder = await to('restore', `${from.folder}/log`, '--as', 'acme')
  await to('tenants', 'delete', 'acme', '--yes')
  const file = await to('restore', `${from.folder}/acme.db`, '--as', 'acme')
  await from('tenants', 'delete', 'acme', '--yes')
  const same = await from('restore', 'acme.db', '--as', 'acme')

  expect(saved.json.needs).toBe('TILDE_SECRET_KEY')
  expect(answer.headers.get('x-tilde-needs')).toBe('TILDE_SECRET_KEY')
  for (const restored of [folder, file]) {
    expect(restored.code).toBe(0)
    expect(restored.err).toContain('1 webhook has a secret that was encrypted with another TILDE_SECRET_KEY')
  }
  expect(same.err).toBe('')
  await Promise.all([old.stop(), fresh.stop()])
})
