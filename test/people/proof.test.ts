import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { connect } from './agents.ts'
import { person } from './people.ts'

verifies('oauth.sealed', 'the person behind an agent is part of what the log proves', async () => {
  const host = await testHost()
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-proof-'))
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const ada = await person(host, 'acme', { email: 'ada@example.org', role: 'Member' })
  const { access } = await connect(host, ada, 'acme')
  await host.as(access)('POST', '/~acme/Contact', { name: 'By agent' })
  const checkpoint = write('checkpoint.txt', (await host.request('GET', '/~acme/checkpoint')).text)
  const keys = write('keys.json', (await host.as('')('GET', '/.well-known/tilde-keys')).text)
  const { text } = await host.request('GET', '/operator/tenants/acme/log?beside=secrets')
  const check = (log: string) =>
    spawnSync('python3', ['docs/verify.py', 'log', checkpoint, keys, write('log.ndjson', log)], { encoding: 'utf8' })
  const moved = await host.request('PUT', '/operator/tenants/copy/log', text)
  await host.stop()

  expect(text).toContain(`"onBehalfOf":"${ada.user.$id}"`)
  expect([moved.status, moved.text]).toEqual([201, expect.any(String)])
  expect([check(text).status, check(text).stdout + check(text).stderr]).toEqual([0, expect.any(String)])
  expect(check(text.replace(`"onBehalfOf":"${ada.user.$id}"`, '"onBehalfOf":"user_0other"')).status).not.toBe(0)
  expect(check(text.replace(`,"onBehalfOf":"${ada.user.$id}"`, '')).status).not.toBe(0)
  rmSync(folder, { recursive: true })
})
