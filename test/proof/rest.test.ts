import { runInNewContext } from 'node:vm'
import {
  fromBase64,
  isConsistent,
  leafHash,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  rootOfInclusion,
  toBase64,
  validSignatures,
} from '@tildebase/nouns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { ed25519, sha256 } from './crypto.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ TILDE_BASE_URL: 'https://tilde.example' })
})
afterAll(() => app.stop())

/** A tenant with so many contacts; the ids of their events. */
async function contacts(tenant: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, i) => ({ name: `Person ${i}`, title: i % 2 ? 'mine' : 'theirs' }))
  await app.request('POST', `/~${tenant}/import/Contact`, rows)
  const { body } = await app.request('GET', `/~${tenant}/events?limit=1000`)
  return body.results.map(({ id }: { id: string }) => id)
}

const checkpointOf = async (tenant: string, key?: string) => {
  const send = key === undefined ? app.request : app.as(key)
  const { text, headers } = await send('GET', `/~${tenant}/checkpoint`)
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
  const note = parseNote(text)!
  return { note, text, ...parseCheckpoint(note.text)! }
}

describe('a checkpoint', () => {
  verifies(
    ['proof.checkpoint', 'proof.keys'],
    'is signed under the name of the tenant by a published key',
    async () => {
      await contacts('signed', 5)

      const { note, origin, size } = await checkpointOf('signed')
      const { keys } = (await app.as('')('GET', '/.well-known/tilde-keys')).body
      const publicKey = fromBase64(keys[0].publicKey)!
      const signatures = await validSignatures(sha256, ed25519, note, [{ name: origin, use: 'note', publicKey }])

      expect([origin, size]).toEqual(['tilde.example/~signed', 5])
      expect(keys[0]).toMatchObject({ algorithm: 'Ed25519', until: null })
      expect(signatures).toHaveLength(1)
    },
  )

  test('as JSON tells what is known about it', async () => {
    await contacts('known', 3)
    const { body } = await app.request('GET', '/~known/checkpoint', undefined, { accept: 'application/json' })

    expect(body).toMatchObject({ origin: 'tilde.example/~known', size: 3, witnesses: [], lineage: [] })
    expect(parseVerifierKey(sha256, body.key)).toMatchObject({ name: 'tilde.example/~known', use: 'note' })
    expect(body.note).toContain(body.root)
  })

  test('of a tenant without events is that of the empty tree, and creates nothing', async () => {
    const { size, root } = await checkpointOf('nobody')

    expect([size, toBase64(root)]).toEqual([0, toBase64(sha256(''))])
    expect((await app.request('GET', '/operator/tenants/nobody')).status).toBe(404)
  })
})

describe('a proof', () => {
  verifies('proof.inclusion', 'leads from the values of each event to the signed root', async () => {
    const ids = await contacts('proved', 40)
    const { root } = await checkpointOf('proved')

    for (const [i, id] of ids.entries()) {
      const { body } = await app.request('GET', `/~proved/proof/${id}`)
      const { entry } = body
      const digest = sha256(
        fromBase64(entry.salt)!,
        [entry.data ?? '', entry.previous ?? '', ...(entry.args === null ? [] : [entry.args])].join('\n'),
      )
      const leaf = sha256(fromBase64(entry.before)!, entry.header, digest)
      const found = rootOfInclusion(sha256, leafHash(sha256, leaf), i, body.size, body.proof.map(fromBase64))

      expect(JSON.parse(entry.header).slice(0, 2)).toEqual([i + 1, id])
      expect([toBase64(digest), toBase64(leaf)]).toEqual([entry.digest, body.leaf])
      expect(toBase64(found!)).toBe(toBase64(root))
    }
  })

  test('can be asked for by the seq, and for an earlier size', async () => {
    const ids = await contacts('earlier', 20)

    const now = await app.request('GET', '/~earlier/proof/7')
    const then = await app.request('GET', `/~earlier/proof/${ids[6]}?size=10`)
    const tooEarly = await app.request('GET', `/~earlier/proof/${ids[6]}?size=6`)

    expect(now.body).toMatchObject({ event: ids[6], seq: 7, size: 20 })
    expect(then.body).toMatchObject({ event: ids[6], size: 10, checkpoint: null, proof: { length: 4 } })
    expect([tooEarly.status, tooEarly.body.field]).toEqual([400, 'size'])
  })

  verifies('proof.rights', 'is given only to keys that see the event; checkpoints are given to every key', async () => {
    await contacts('narrow', 4)
    const key = await app.key('narrow', 'read:crm', { filter: { Contact: { title: 'mine' } } })
    const send = app.as(key)

    expect((await send('GET', '/~narrow/proof/2')).status).toBe(200)
    const hidden = await send('GET', '/~narrow/proof/1')
    expect([hidden.status, hidden.body.error]).toEqual([404, 'not_found'])
    expect((await send('GET', '/~narrow/proof/5')).status).toBe(404)
    expect((await checkpointOf('narrow', key)).size).toBe(5)
    expect((await send('GET', '/~narrow/consistency?from=1')).status).toBe(200)
  })

  test('withholds the salt from a key that does not see all values', async () => {
    const { body } = await app.request('POST', '/~enters/Contact', { name: 'Ada', title: 'theirs' })
    await app.request('PUT', `/~enters/Contact/${body.$id}`, { title: 'mine' })
    const key = await app.key('enters', 'read:crm', { filter: { Contact: { title: 'mine' } } })

    const proof = (await app.as(key)('GET', '/~enters/proof/2')).body

    expect(proof.entry).toMatchObject({ salt: null, previous: null })
    expect((await app.request('GET', '/~enters/proof/2')).body.entry.salt).toEqual(expect.any(String))
  })

  verifies('proof.erasure', 'stays valid when the values are erased: their digest remains', async () => {
    const { body } = await app.request('POST', '/~erased/Contact', { name: 'Ada' })
    const before = (await app.request('GET', '/~erased/proof/1')).body
    await app.request('POST', `/~erased/Contact/${body.$id}/erase`)

    const after = (await app.request('GET', '/~erased/proof/1')).body

    expect(after.entry).toEqual({ ...before.entry, salt: null, data: null, previous: null })
    const leaf = sha256(fromBase64(after.entry.before)!, after.entry.header, fromBase64(after.entry.digest)!)
    const found = rootOfInclusion(sha256, leafHash(sha256, leaf), 0, after.size, after.proof.map(fromBase64))
    expect(toBase64(found!)).toBe(toBase64((await checkpointOf('erased')).root))
  })
})

describe('a consistency proof', () => {
  verifies('proof.consistency', 'shows that each earlier log is the beginning of each later one', async () => {
    const heads = []
    for (let i = 0; i < 12; i++) {
      await contacts('grows', 3)
      heads.push(await checkpointOf('grows'))
    }

    for (const [i, from] of heads.entries()) {
      for (const to of heads.slice(i)) {
        const { body } = await app.request('GET', `/~grows/consistency?from=${from.size}&to=${to.size}`)
        expect(isConsistent(sha256, from, to, body.proof.map(fromBase64))).toBe(true)
      }
    }
    expect(heads.map(({ size }) => size)).toEqual(heads.map((_, i) => 3 * (i + 1)))
  })

  test.each([
    ['from', ''],
    ['from', '?from=x'],
    ['from', '?from=3&to=2'],
    ['to', '?from=1&to=100'],
  ])('names %s when the question is %s', async (field, query) => {
    await contacts('asked', 3)
    const { status, body } = await app.request('GET', `/~asked/consistency${query}`)

    expect([status, body.error, body.field]).toEqual([400, 'invalid_parameter', field])
  })
})

describe('a page of a proof', () => {
  /** Runs the page without a browser; what it shows. */
  async function opened(html: string, subtle: object = crypto.subtle) {
    const [, texts, json, script] =
      /id="texts">([\s\S]*?)<\/script>\s*<script[^>]*id="proof">([\s\S]*?)<\/script>\s*<script>([\s\S]*?)<\/script>/.exec(
        html,
      )!
    const elements = new Map<string, { textContent: string; items: { className: string; textContent: string }[] }>()
    const element = (id: string) => {
      const found = elements.get(id) ?? { textContent: '', items: [] as never[] }
      elements.set(id, found)
      return {
        ...found,
        append: (...more: never[]) => found.items.push(...more),
        set textContent(text: string) {
          found.textContent = text
        },
        get textContent() {
          return found.textContent
        },
      }
    }
    elements.set('texts', { textContent: texts!, items: [] })
    elements.set('proof', { textContent: json!, items: [] })
    const body = { className: '' }
    const document = { body, getElementById: element, createElement: () => ({ className: '', textContent: '' }) }
    runInNewContext(script!, {
      document,
      crypto: { subtle },
      atob,
      TextEncoder,
      Uint8Array,
      Array,
      Math,
      JSON,
      Object,
      Number,
      Date,
      String,
    })
    await expect.poll(() => body.className).not.toBe('')
    return { verdict: elements.get('verdict')!.textContent, results: elements.get('results')?.items ?? [] }
  }

  test('does not call a proof invalid in a browser without Ed25519', async () => {
    await contacts('old', 2)
    const { text } = await app.request('GET', '/~old/proof/1?format=html')
    const importKey = () => Promise.reject(new DOMException('Unrecognized name.', 'NotSupportedError'))
    const digest = (name: string, bytes: BufferSource) => crypto.subtle.digest(name, bytes)

    expect((await opened(text, { digest, importKey })).verdict).toMatch(/^This browser cannot check/)
  })

  verifies('proof.page', 'checks itself without a network, and finds every change', async () => {
    const { body } = await app.request('POST', '/~page/Contact', { name: 'Ada </script><script>alert(1)' })
    await contacts('page', 6)
    const { text, headers } = await app.request('GET', '/~page/proof/1?format=html')

    expect(headers.get('content-disposition')).toContain('attachment')
    expect(text.match(/<\/script>/g)).toHaveLength(3)
    expect(text).not.toMatch(/https?:\/\/(?!www\.w3)/)
    expect(text.match(/<pre (?![^>]*role=)[^>]*aria-label/g)).toBeNull()
    const { verdict, results } = await opened(text)
    expect(verdict).toBe('This proof is valid.')
    expect(results.map(({ className }) => className)).toEqual(['yes', 'yes', 'yes', 'yes'])
    const [salt = ''] = text.match(/"salt":"[^"]*"/) ?? []
    for (const [from, to] of [
      ['Ada', 'Eve'],
      [body.$id, body.$id.replace(/.$/, (letter: string) => (letter === 'A' ? 'B' : 'A'))],
      ['"seq":1', '"seq":2'],
      [salt, '"salt":null'],
      ['tilde.example/~page\\n7', 'tilde.example/~page\\n8'],
    ]) {
      expect(text).toContain(from)
      expect((await opened(text.replaceAll(from, to))).verdict).toBe('This proof is NOT valid.')
    }
  })

  test('says when values were erased', async () => {
    const { body } = await app.request('POST', '/~pageerased/Contact', { name: 'Ada' })
    await app.request('POST', `/~pageerased/Contact/${body.$id}/erase`)

    const { verdict, results } = await opened((await app.request('GET', '/~pageerased/proof/1?format=html')).text)

    expect(verdict).toBe('This proof is valid.')
    expect(results[0]!.className).toBe('unknown')
  })
})
