import { randomBytes } from 'node:crypto'
import { tildebase } from '@tildebase/client'
import { noun } from '@tildebase/nouns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { hashOf } from '../content/content.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

const Parcel = noun('Parcel', {
  $domain: 'custom',
  name: 'string!',
  label: 'file',
  papers: 'file[]',
  link: { event: 'linked', args: ['to'], set: { name: 'linked' } },
})
/** More than two pieces. */
const LARGE = randomBytes(9_500_000)

let host: TestHost
beforeAll(async () => {
  host = await testHost()
  await host.request('PUT', '/~files/schema/Parcel', {
    name: 'string!',
    label: 'file',
    papers: 'file[]',
    link: { event: 'linked', args: ['to'], set: { name: 'linked' } },
  })
})
afterAll(() => host.stop())

const client = (fetch?: (url: string, init: RequestInit) => Promise<Response>) =>
  tildebase({ tenant: 'files', apiKey: ROOT, baseUrl: host.url, nouns: { Parcel }, ...(fetch && { fetch }) })

verifies('file.client', 'the client sends, reads and links content', async () => {
  const $ = client()
  const { $id } = await $.Asset.create({ name: 'Contract' })
  const sent: number[] = []

  const first = await $.Asset.upload($id, 'file', new Blob(['first'], { type: 'text/plain' }), {
    name: 'Vertrag ä.txt',
    onProgress: (progress) => sent.push(progress.sent),
  })
  const then = first.updatedAt
  await nextMillisecond()
  await $.Asset.upload($id, 'file', new File(['second'], 'b.pdf', { type: 'application/pdf' }))

  expect(first.file).toEqual({ hash: hashOf('first'), size: 5, type: 'text/plain', name: 'Vertrag ä.txt' })
  expect(sent).toEqual([0, 5])
  expect((await $.Asset.get($id))?.filename).toBe('b.pdf')
  expect(await (await $.Asset.download($id, 'file')).text()).toBe('second')
  expect(await (await $.Asset.download($id, 'file', { asOf: then })).text()).toBe('first')
  const { url } = await $.Asset.link($id, 'file', { expires: '1m' })
  expect(await (await fetch(url)).text()).toBe('second')
  const stale = $.Asset.upload($id, 'file', new Blob(['third']), { ifVersion: 1 })
  await expect(stale).rejects.toMatchObject({ code: 'version_mismatch' })
})

verifies(
  'file.client.pieces',
  'large content is sent in pieces, and survives lost connections and lost answers',
  async () => {
    let patches = 0
    const $ = client(async (url, init) => {
      if (init.method !== 'PATCH') return fetch(url, init)
      const turn = ++patches
      if (turn === 1) throw new TypeError('lost before it was sent')
      const answer = await fetch(url, init)
      if (turn === 3) throw new TypeError('the answer was lost')
      return answer
    })
    const { $id } = await $.Parcel.create({ name: 'x' })
    await $.Parcel.upload($id, 'papers', new Blob(['small']), { name: 'small.txt' })
    const sent: number[] = []

    const parcel = await $.Parcel.upload($id, 'papers', new File([LARGE], 'large.bin'), {
      onProgress: (progress) => sent.push(progress.sent),
    })

    expect(parcel.papers?.map(({ hash, name }) => [hash, name])).toEqual([
      [hashOf('small'), 'small.txt'],
      [hashOf(LARGE), 'large.bin'],
    ])
    expect(sent).toEqual(sent.toSorted((a, b) => a - b))
    expect(sent.at(-1)).toBe(LARGE.length)
    const back = await (await $.Parcel.download($id, 'papers', { index: 1 })).bytes()
    expect(hashOf(back)).toBe(hashOf(LARGE))
  },
)

verifies('file.client.pieces', 'an upload that was stopped continues where it was', async () => {
  let bytes = 0
  const $ = client((url, init) => {
    if (init.method === 'PATCH' && !init.signal?.aborted) bytes += (init.body as Blob).size
    return fetch(url, init)
  })
  const { $id } = await $.Parcel.create({ name: 'x' })
  const stop = new AbortController()
  let upload: string | undefined
  const stopped = $.Parcel.upload($id, 'label', new Blob([LARGE]), {
    signal: stop.signal,
    onProgress(progress) {
      upload = progress.upload!
      if (progress.sent > 0) stop.abort(new Error('enough'))
    },
  })
  await expect(stopped).rejects.toThrow('enough')

  const parcel = await $.Parcel.upload($id, 'label', new Blob([LARGE]), { resume: upload })

  expect(parcel.label?.hash).toBe(hashOf(LARGE))
  expect(bytes).toBe(LARGE.length)
})

verifies('file.client.pieces', 'a piece that is refused again and again ends the upload', async () => {
  let patches = 0
  const $ = client((url, init) => {
    if (init.method !== 'PATCH') return fetch(url, init)
    // After some more the test ends, as an upload without end does not.
    if (++patches > 20) throw new Error('still sending')
    const headers = new Headers(init.headers)
    headers.set('upload-offset', '1')
    return fetch(url, { ...init, headers })
  })
  const { $id } = await $.Parcel.create({ name: 'x' })

  await expect($.Parcel.upload($id, 'label', new Blob([LARGE]))).rejects.toMatchObject({ code: 'conflict' })
})

verifies('file.client.pieces', 'an upload that is unknown is refused with a reason', async () => {
  const $ = client()
  const { $id } = await $.Parcel.create({ name: 'x' })

  const resumed = $.Parcel.upload($id, 'label', new Blob([LARGE]), { resume: 'upload_unknown' })

  await expect(resumed).rejects.toMatchObject({ code: 'not_found' })
})

verifies(
  'file.changeset',
  'a proposed file shows both versions, and nothing is written before the approval',
  async () => {
    const $ = client()
    const { $id } = await $.Parcel.create({ name: 'x' })
    await $.Parcel.upload($id, 'label', new File(['old'], 'old.txt'))
    const small = await $.propose('A new label', ($) => $.Parcel.upload($id, 'label', new File(['new'], 'new.txt')))
    const large = await $.propose('A large label', ($) => $.Parcel.upload($id, 'label', new File([LARGE], 'large.bin')))

    expect((await $.Parcel.get($id))?.label?.name).toBe('old.txt')
    for (const [changeset, content, name] of [
      [small, 'new', 'new.txt'],
      [large, LARGE, 'large.bin'],
    ] as const) {
      expect(changeset!.diff[0]!.changes.label).toMatchObject({
        from: { hash: hashOf('old'), name: 'old.txt' },
        to: { hash: hashOf(content), name },
      })
    }
  },
)

test('a verb with the name of a method still runs', async () => {
  const $ = client()
  const { $id } = await $.Parcel.create({ name: 'x' })

  const parcel = await $.Parcel.link($id, { to: 'y' } as never)

  expect(parcel).toMatchObject({ $id, name: 'linked' })
})

test('content without an entity is named by its hash', async () => {
  const $ = client()
  const file = await $.upload(new File(['alone'], 'alone.txt', { type: 'text/plain' }))

  const parcel = await $.Parcel.create({ name: 'x', label: { hash: file.hash } })

  expect(parcel.label).toEqual({ hash: hashOf('alone'), size: 5, type: 'text/plain', name: 'alone.txt' })
})
