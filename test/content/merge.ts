import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { TestApp } from '../host.ts'
import { hashOf, send } from './content.ts'

/** Sends files to a fork, proposes its changes to the origin, and reads them there after the approval. */
export async function mergeWithFiles(app: TestApp): Promise<void> {
  await app.request('PUT', '/~origin/schema/Deal', { contract: 'file', papers: 'file[]' })
  const { body } = await app.request('POST', '/~origin/Deal', { name: 'Engine' })
  const deal = `Deal/${body.$id}`
  const old = randomBytes(100)
  await send(app, 'POST', `/~origin/${deal}/contract?name=old.bin`, old)
  await app.request('POST', '/operator/tenants/origin/fork', { to: 'branch' })
  // More than one request between two threads carries.
  const contents = [randomBytes(1_500_000), randomBytes(3_000), randomBytes(2_500_000)] as const
  await send(app, 'POST', `/~branch/${deal}/papers?name=a.bin`, contents[0])
  await send(app, 'POST', `/~branch/${deal}/papers?name=b.bin`, contents[1])
  // The first of these two versions is in the past of the fork only.
  for (const bytes of [contents[1], contents[2]]) await send(app, 'POST', `/~branch/${deal}/contract?name=c.bin`, bytes)
  const approver = app.as(await app.key('origin', 'admin:all'))

  const proposed = await app.request('POST', '/~origin/changesets', { from: 'branch' })
  const path = `/~origin/changesets/${proposed.body.$id}`
  const review = await approver('GET', path)
  await app.request('DELETE', '/operator/tenants/branch')
  const approved = await approver('POST', `${path}/approve`)

  expect([proposed.status, approved.status, approved.text]).toEqual([201, 200, expect.any(String)])
  expect(JSON.stringify(review.body.diff)).toContain(hashOf(old))
  expect(JSON.stringify(review.body.diff)).toContain(hashOf(contents[2]))
  const read = async (field: string) => hashOf((await send(app, 'GET', `/~origin/${deal}/${field}`, null)).bytes)
  expect(await read('contract')).toBe(hashOf(contents[2]))
  expect([await read('papers/0'), await read('papers/1')]).toEqual([hashOf(contents[0]), hashOf(contents[1])])
  expect((await app.request('GET', '/operator/tenants/origin/verify')).body).toMatchObject({ ok: true })
}
