import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '@tildebase/server'
import { afterEach, expect, test } from 'vitest'
import { beginLog } from '../../packages/server/src/cluster/files/replica-folder.ts'
import { targetOf } from '../../packages/server/src/doors/target.ts'
import { programOf } from '../../packages/server/src/host/program.ts'
import { TenantFiles } from '../../packages/server/src/node/sqlite/files.ts'
import { localTenants } from '../../packages/server/src/node/tenants/local.ts'
import { ThreadReplication } from '../../packages/server/src/node/threads/thread-replication.ts'
import { ROOT } from '../root-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'tildebase-left-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The tenants of a thread of a node, whose commits are all kept at once. */
function tenantsOfNode() {
  const settings = readSettings({ data: folder, workers: '0' }, { TILDE_ROOT_KEY: ROOT })
  const files = new TenantFiles(folder)
  files.prepare()
  files.create('acme')
  beginLog(files.pathOf('acme'))
  const replication: ThreadReplication = new ThreadReplication(folder, (message) => {
    if (message.do === 'hold') replication.receive({ do: 'pass', id: message.id, isAllowed: true })
  })
  const tenants = localTenants(settings, programOf({}), files, { baseUrl: () => '', book: () => {}, replication })
  const ask = async (method: string, body: string | null) => {
    const address = { scheme: 'http', host: 'localhost', path: '/~acme/Contact' } as const
    const target = targetOf(address.scheme, address.host, address.path, '')
    const request = { ...address, method, query: '', headers: {}, body: body && new TextEncoder().encode(body) }
    const call = { slug: 'acme', request, target, sender: { kind: 'operator' }, requestId: 'r' } as const
    return (await tenants.handle(call as never)).status
  }
  const arrives = () => replication.receive({ do: 'clock', slug: 'acme', from: 0 })
  return { tenants, ask, arrives }
}

test('a tenant that is given away is not opened again, until it comes back', async () => {
  const { tenants, ask, arrives } = tenantsOfNode()
  arrives()
  expect(await ask('POST', '{"name": "Ada"}')).toBe(201)
  await tenants.closeTenant('acme')

  // Its file still lies here. Another node may have written more.
  expect(await ask('GET', null)).toBe(503)
  await expect(tenants.task('acme', { do: 'info' })).rejects.toMatchObject({ code: 'unavailable' })
  await expect(tenants.task('acme', { do: 'copy', path: join(folder, 'copy'), asOf: null })).rejects.toMatchObject({
    code: 'unavailable',
  })
  await tenants.wake('acme')
  expect((await tenants.stats()).open).toBe(0)

  arrives()
  expect(await ask('GET', null)).toBe(200)
  await tenants.close()
})
