import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect } from 'vitest'
import { KEY, startServer } from '../../bench/hosts/server.ts'
import { testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { mergeWithFiles } from './merge.ts'

const SIZE = Number(process.env.TILDE_FILE_MIB ?? 512) * 1_048_576
const MOST_MIB = 64

verifies(
  'file.stream',
  'a large file goes up and down, and the memory of the service does not grow with it',
  async () => {
    const server = await startServer(1)
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/octet-stream' }
    await server.ask('PUT', '/~acme/schema/Deal', { contract: 'file' })
    const created = await fetch(`${server.url}/~acme/Deal`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"name":"D"}',
    })
    const { $id } = (await created.json()) as { $id: string }
    const url = `${server.url}/~acme/Deal/${$id}/contract`
    const up = (bytes: number) => upload(url, headers, bytes)
    // What the first upload and download need in any case.
    await up(32 * 1_048_576)
    await digestOf(await fetch(url, { headers }))
    const before = server.rss()
    server.resetPeak()

    const sent = await up(SIZE)
    const grownUp = server.peak() - before
    server.resetPeak()
    const read = await digestOf(await fetch(url, { headers }))
    const grownDown = server.peak() - before

    expect(read).toBe(sent)
    expect([Math.round(grownUp), Math.round(grownDown)].filter((mib) => mib > MOST_MIB)).toEqual([])
    await server.stop()
  },
  600_000,
)

async function upload(url: string, headers: Record<string, string>, size: number): Promise<string> {
  const piece = randomBytes(1_048_576)
  const sum = createHash('sha256')
  const bytes = function* () {
    for (let at = 0; at < size; at += piece.length) {
      piece.writeUInt32LE(at / piece.length)
      sum.update(piece)
      yield Buffer.from(piece)
    }
  }
  const body = Readable.toWeb(Readable.from(bytes(), { objectMode: false })) as unknown as BodyInit
  const answer = await fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
  const { contract } = (await answer.json()) as { contract: { hash: string; size: number } }
  const hash = `sha256:${sum.digest('hex')}`
  expect(contract).toMatchObject({ hash, size })
  return hash
}

async function digestOf(answer: Response): Promise<string> {
  const sum = createHash('sha256')
  for await (const chunk of answer.body!) sum.update(chunk)
  return `sha256:${sum.digest('hex')}`
}

verifies('file.fork', 'the changes of a fork bring their content from another thread', async () => {
  const host = await testHost({}, { workers: '2' })
  try {
    await mergeWithFiles(host)
  } finally {
    await host.stop()
  }
})
