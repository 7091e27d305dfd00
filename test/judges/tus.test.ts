import { randomBytes } from 'node:crypto'
import { Upload } from 'tus-js-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashOf, send } from '../content/content.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'

const SIZE = 3_000_000
const PIECE = 256 * 1_024

let host: TestHost

beforeAll(async () => {
  host = await testHost()
  await host.request('PUT', '/~judge/schema/Contact', { scan: 'file' })
})
afterAll(() => host.stop())

/** Sends bytes with the client of the tus project; `interrupt` may end it after a piece. */
function upload(bytes: Buffer, url: string | null, interrupt: (sent: number) => boolean): Promise<string> {
  return new Promise((done, failed) => {
    const one: Upload = new Upload(bytes, {
      endpoint: `${host.url}/~judge/uploads`,
      uploadUrl: url,
      chunkSize: PIECE,
      retryDelays: [0, 100],
      headers: { authorization: `Bearer ${ROOT}` },
      metadata: { filename: 'Größe.bin', filetype: 'application/x-judge' },
      onError: failed,
      onChunkComplete: (_, sent) => {
        if (interrupt(sent)) void one.abort().then(() => done(one.url!))
      },
      onSuccess: () => done(one.url!),
    })
    one.start()
  })
}

test('tus-js-client sends content, is interrupted, and continues where it was', async () => {
  const bytes = randomBytes(SIZE)
  const begun = await upload(bytes, null, (sent) => sent >= SIZE / 2)
  const before = await send(host, 'HEAD', new URL(begun).pathname, null, { 'tus-resumable': '1.0.0' })
  const pieces: number[] = []

  await upload(bytes, begun, (sent) => {
    pieces.push(sent)
    return false
  })
  const { body } = await host.request('POST', '/~judge/Contact', { name: 'Ada', scan: { hash: hashOf(bytes) } })

  expect(Number(before.headers.get('upload-offset'))).toBeGreaterThanOrEqual(SIZE / 2)
  expect(Number(before.headers.get('upload-offset'))).toBeLessThan(SIZE)
  expect(pieces[0]).toBeGreaterThan(SIZE / 2)
  expect(body.scan).toMatchObject({ name: 'Größe.bin', type: 'application/x-judge', size: SIZE })
  const read = await send(host, 'GET', `/~judge/Contact/${body.$id}/scan`, null, {})
  expect(hashOf(read.bytes)).toBe(hashOf(bytes))
})

test('tus-js-client ends an upload on the service', async () => {
  const begun = await upload(randomBytes(SIZE), null, (sent) => sent >= PIECE)

  await Upload.terminate(begun, { headers: { authorization: `Bearer ${ROOT}` } })
  const after = await send(host, 'HEAD', new URL(begun).pathname, null, { 'tus-resumable': '1.0.0' })

  expect([404, 410]).toContain(after.status)
})
