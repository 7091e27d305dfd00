import { randomBytes } from 'node:crypto'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { blobsOf, hashOf, send } from './content.ts'
import { mergeWithFiles } from './merge.ts'

let app: TestApp
let deal: string
const FIRST = randomBytes(3_000_000)
const SECOND = randomBytes(10)

beforeAll(async () => {
  app = await testApp()
  await app.request('PUT', '/~acme/schema/Deal', { contract: 'file', papers: 'file[]' })
  const { body } = await app.request('POST', '/~acme/Deal', { name: 'Engine' })
  deal = `Deal/${body.$id}`
  for (const bytes of [FIRST, SECOND]) {
    const sent = await send(app, 'POST', `/~acme/${deal}/contract?name=c.bin`, bytes)
    expect(sent.status).toBe(200)
  }
  await send(app, 'POST', `/~acme/${deal}/papers`, new Uint8Array())
})
afterAll(() => app.stop())

/** The content of every version of the deal, and the verdict about the tenant. */
async function contentsOf(tenant: string) {
  const { body: history } = await app.request('GET', `/~${tenant}/${deal}/history`)
  const past = history.results.findLast((one: any) => one.data.contract?.hash === hashOf(FIRST))
  const [now, before] = [
    await send(app, 'GET', `/~${tenant}/${deal}/contract`, null),
    await send(app, 'GET', `/~${tenant}/${deal}/contract?asOf=${past.seq}`, null),
  ]
  const verdict = await app.request('GET', `/operator/tenants/${tenant}/verify`)
  return { now: hashOf(now.bytes), before: hashOf(before.bytes), ok: verdict.body.ok, faults: verdict.body.faults }
}

const WHOLE = { now: hashOf(SECOND), before: hashOf(FIRST), ok: true, faults: [] }

verifies('file.backup', 'a backup as a file carries the content', async () => {
  const backup = await send(app, 'GET', '/operator/tenants/acme/backup', null)

  const restored = await send(app, 'PUT', '/operator/tenants/from-file/restore', backup.bytes)

  expect(restored.status).toBe(201)
  expect(restored.body.missing).toEqual([])
  expect(await contentsOf('from-file')).toEqual(WHOLE)
  const again = await send(app, 'GET', '/operator/tenants/from-file/backup', null)
  expect(again.status).toBe(200)
})

verifies('file.log', 'a log names hashes; the bytes come one by one', async () => {
  const log = await send(app, 'GET', '/operator/tenants/acme/log', null)

  const taken = await send(app, 'PUT', '/operator/tenants/from-log/log', log.bytes)

  expect(taken.status).toBe(201)
  expect(taken.body.missing.toSorted()).toEqual([hashOf(FIRST), hashOf(SECOND), hashOf('')].toSorted())
  expect((await send(app, 'GET', `/~from-log/${deal}/contract`, null)).status).toBe(503)
  expect((await contentsOf('from-log')).ok).toBe(false)
  for (const hash of taken.body.missing) {
    const { bytes, status } = await send(app, 'GET', `/operator/tenants/acme/files/${hash}`, null)
    expect(status).toBe(200)
    const path = `/operator/tenants/from-log/files/${hash}`
    expect((await send(app, 'PUT', path, randomBytes(5))).status).toBe(422)
    expect((await send(app, 'PUT', path, bytes)).status).toBe(204)
    expect((await send(app, 'PUT', path, bytes)).status).toBe(204)
  }
  expect(await contentsOf('from-log')).toEqual(WHOLE)
  expect(blobsOf(app.data, 'from-log').whole).toHaveLength(3)
  const key = await app.key('acme', 'admin:all')
  for (const method of ['GET', 'PUT'])
    expect((await send(app, method, `/operator/tenants/acme/files/${hashOf(FIRST)}`, null, {}, key)).status).toBe(403)
  expect((await send(app, 'GET', `/operator/tenants/acme/files/${hashOf('x')}`, null)).status).toBe(404)
})

verifies(['file.fork', 'file.delete'], 'a fork has the content as its own', async () => {
  expect((await app.request('POST', '/operator/tenants/acme/fork', { to: 'forked' })).status).toBe(201)

  expect(await contentsOf('forked')).toEqual(WHOLE)
  expect((await app.request('POST', `/~forked/${deal}/erase`, {})).status).toBe(200)
  expect(await contentsOf('acme')).toEqual(WHOLE)
  expect((await app.request('DELETE', '/operator/tenants/from-file')).status).toBe(204)
  expect(blobsOf(app.data, 'from-file').whole).toEqual([])
  expect(await contentsOf('acme')).toEqual(WHOLE)
})

verifies('file.fork', 'the changes of a fork bring their content', () => mergeWithFiles(app))

verifies('file.verify', 'content that was changed or lost on the disk is found', async () => {
  const paths = blobsOf(app.data, 'from-log').whole.map((name) => join(app.data, 'files', 'fr', 'from-log', name))
  const path = paths.find((one) => statSync(one).size === FIRST.length)!

  writeFileSync(path, randomBytes(3_000_000))

  const { body } = await app.request('GET', '/operator/tenants/from-log/verify')
  expect(body.ok).toBe(false)
  expect(body.faults[0].message).toMatch(/^The bytes of the content sha256:[0-9a-f]{64}/)
})
