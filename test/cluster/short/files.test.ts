import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { TestBucket } from '../../content/bucket.ts'
import { hashOf } from '../../content/content.ts'
import { ROOT } from '../../host.ts'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, type NodeProcess, ownerOf, spawnNode, startNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

const AUTHORIZED = { authorization: `Bearer ${ROOT}` }

let postgres: TestPostgres
let bucket: TestBucket
let nodes: readonly NodeProcess[] = []
beforeAll(async () => {
  postgres = await startPostgres()
  bucket = await new TestBucket().start()
  const start = (name: string) => spawnNode(postgres.url, name, undefined, undefined, bucket.settings)
  nodes = await Promise.all(['n1', 'n2'].map(start))
}, 60_000)
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await bucket?.stop()
  await postgres?.stop()
})

const bytesAt = async (url: string) => {
  const answer = await fetch(url, { headers: AUTHORIZED })
  return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) }
}

verifies(
  'file.bucket',
  'the files of a cluster are in a bucket: every node takes and shows them, also after the owner was killed',
  async () => {
    const { owner, other } = await createTenant(nodes, 'papers')
    await ask(other.url, 'PUT', '/~papers/schema/Deal', { contract: 'file' })
    const { body: deal } = await ask(other.url, 'POST', '/~papers/Deal', { name: 'D' })
    const path = `/~papers/Deal/${deal.$id}/contract`
    const send = (url: string, body: Uint8Array) =>
      fetch(`${url}${path}`, { method: 'POST', headers: AUTHORIZED, body: body as BodyInit })
    const large = randomBytes(20_000_000)
    const tus = { ...AUTHORIZED, 'tus-resumable': '1.0.0' }
    const pieces = { ...tus, 'content-type': 'application/offset+octet-stream' }

    const first = await send(owner.url, randomBytes(1_000))
    const second = await send(other.url, large)
    const begun = await fetch(`${other.url}/~papers/uploads`, {
      method: 'POST',
      headers: { ...tus, 'upload-length': '8' },
    })
    const upload = new URL(begun.headers.get('location')!).pathname
    const half = await fetch(`${other.url}${upload}`, {
      method: 'PATCH',
      headers: { ...pieces, 'upload-offset': '0' },
      body: 'half',
    })
    const before = await Promise.all(nodes.map(({ url }) => bytesAt(`${url}${path}`)))
    await (owner as NodeProcess).kill('SIGKILL')
    const after = await bytesAt(`${other.url}${path}`)
    const rest = await fetch(`${other.url}${upload}`, {
      method: 'PATCH',
      headers: { ...pieces, 'upload-offset': '4' },
      body: 'half',
    })
    const third = await send(other.url, randomBytes(1_000))
    const verdict = await ask(other.url, 'GET', '/operator/tenants/papers/verify')

    expect([first.status, second.status, begun.status, half.status, rest.status, third.status]).toEqual([
      200, 200, 201, 204, 204, 200,
    ])
    for (const { status, bytes } of [...before, after]) expect([status, hashOf(bytes)]).toEqual([200, hashOf(large)])
    expect(rest.headers.get('upload-hash')).toBe(hashOf('halfhalf'))
    expect((await ownerOf([other], 'papers')).owner.name).toBe(other.name)
    expect(verdict.body).toMatchObject({ ok: true })
    expect([...bucket.objects.keys()].every((key) => key.startsWith('pre/fix/papers/'))).toBe(true)
  },
  60_000,
)

verifies(
  'file.bucket',
  'a cluster without a bucket refuses content',
  async () => {
    const own = await startPostgres()
    const node = await startNode(own.url, 'n3')
    await createTenant([node], 'plain')

    const { status, body } = await ask(node.url, 'POST', '/~plain/files', 'x')
    await node.stop()
    await own.stop()

    expect([status, body.error]).toEqual([501, 'not_supported'])
  },
  60_000,
)
