import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs, type TestHost, testHost } from '../host.ts'
import { blobsOf, send } from './content.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

const file = (tenant: string, text: string) => send(host, 'POST', `/~${tenant}/files?name=a.txt`, text)
const remove = (tenant: string) => host.request('DELETE', `/operator/tenants/${tenant}`)

test('a tenant is deleted while files are sent to it, and a new one of its name keeps the files that were acknowledged', async () => {
  needs('folder of files')
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
  for (let i = 0; i < 300; i++) await file('acme', `old ${i}`)
  const assets: string[] = []
  const statuses = new Set<number>()
  let isOver = false
  const sending = Array.from({ length: 4 }, async (_, n) => {
    for (let i = 0; !isOver; i++) {
      const { status, body } = await file('acme', `new ${n} ${i}`)
      statuses.add(status)
      const asset = await host.request('POST', '/~acme/Asset', { name: 'a', file: { hash: body?.hash } })
      statuses.add(asset.status)
      if (asset.status === 201) assets.push(asset.body.$id)
    }
  })

  const deleted = await remove('acme')
  await new Promise((done) => setTimeout(done, 100))
  isOver = true
  await Promise.all(sending)

  expect(deleted.status).toBe(204)
  expect([...statuses].filter((status) => status === 500)).toEqual([])
  for (const id of assets) {
    const there = await host.request('GET', `/~acme/Asset/${id}`)
    const { status } = await send(host, 'GET', `/~acme/Asset/${id}/file`, null)
    expect([id, status]).toEqual([id, there.status])
  }
}, 60_000)

test('files that a process has left without their tenant are gone when it is deleted again', async () => {
  needs('folder of files')
  const folder = join(host.data, 'files', 'go', 'gone')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'x'.repeat(24)), 'left')

  const { status } = await remove('gone')

  expect(status).toBe(404)
  expect(blobsOf(host.data, 'gone').whole).toEqual([])
})

test('a folder that was being removed when the process ended is gone after the next start', async () => {
  needs('folder of files')
  mkdirSync(join(host.data, 'files', 'ha', 'half~1', 'x'), { recursive: true })

  await host.restart()

  expect(readdirSync(join(host.data, 'files', 'ha'))).toEqual([])
})
