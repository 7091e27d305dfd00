import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import { afterAll, beforeAll, expect } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { hashOf, send } from './content.ts'

/** An S3 server that we did not write. It checks signatures, parts and their tags in its own way. */
let server: S3rver
let host: TestHost
let folder: string
let keys: Record<string, string>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-s3-'))
  server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'tilde' }],
  })
  const { port } = await server.run()
  keys = {
    TILDE_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    TILDE_S3_REGION: 'us-east-1',
    TILDE_S3_ACCESS_KEY_ID: 'S3RVER',
    TILDE_S3_SECRET_ACCESS_KEY: 'S3RVER',
  }
  host = await testHost({ ...keys, TILDE_FILES: 's3://tilde/pre/fix' })
})
afterAll(async () => {
  await host?.stop()
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

verifies(
  ['file.bucket', 'backup.bucket', 'backup.bucket.moment'],
  'another S3 server takes the files and the backups, and gives them back',
  async () => {
    await host.request('PUT', '/~paper/schema/Deal', { contract: 'file' })
    const { body: deal } = await host.request('POST', '/~paper/Deal', { name: 'D' })
    const path = `Deal/${deal.$id}/contract`
    const [small, large] = [randomBytes(1_000), randomBytes(20_000_000)]
    const tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT, ...keys })
    const backup = () => tilde('backup', 'paper', '--to', 's3://tilde/logs/paper', '--json')
    const read = async (tenant: string) => hashOf((await send(host, 'GET', `/~${tenant}/${path}`, null)).bytes)

    const sent = [await send(host, 'POST', `/~paper/${path}`, small)]
    const first = await backup()
    sent.push(await send(host, 'POST', `/~paper/${path}`, large))
    const second = await backup()
    const part = await send(host, 'GET', `/~paper/${path}`, null, { range: 'bytes=8388600-8388619' })
    const fork = await host.request('POST', '/operator/tenants/paper/fork', { to: 'forked' })
    const now = await tilde('restore', 's3://tilde/logs/paper', '--as', 'now', '--json')
    const then = await tilde('restore', 's3://tilde/logs/paper', '--as', 'then', '--as-of', '3', '--json')

    expect(sent.map(({ status }) => status)).toEqual([200, 200])
    expect([first.json.seq, second.json.events, fork.status, now.err, then.err]).toEqual([3, 1, 201, '', ''])
    expect(hashOf(part.bytes)).toBe(hashOf(large.subarray(8_388_600, 8_388_620)))
    for (const tenant of ['paper', 'forked', 'now']) expect(await read(tenant), tenant).toBe(hashOf(large))
    expect(await read('then')).toBe(hashOf(small))
    for (const tenant of ['paper', 'forked', 'now', 'then'])
      expect((await host.request('GET', `/operator/tenants/${tenant}/verify`)).body, tenant).toMatchObject({ ok: true })
    expect((await host.request('DELETE', '/operator/tenants/forked')).status).toBe(204)
    expect(await read('paper')).toBe(hashOf(large))
  },
  120_000,
)
