import { OPERATOR } from '@tildebase/tenant'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Budget } from '../../packages/tenant/src/budget.ts'
import { blobsOf, send as sendBytes, until } from '../content/content.ts'
import { type TestApp, testApp } from '../host.ts'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
})
afterAll(() => app.stop())

describe('the order of a search', () => {
  /** Two rows that only the weight of two words tells apart: which of them comes first? */
  async function orderFor(key: string, tenant: string, type: string, fields: object, guess: string): Promise<string> {
    const send = app.as(key)
    const ids: string[] = []
    for (const text of [`zq zq ${guess}`, `zq ${guess} ${guess}`]) {
      ids.push((await send('POST', `/~${tenant}/${type}`, { ...fields, name: text })).body.$id)
    }
    const filter = encodeURIComponent(JSON.stringify({ $text: `zq ${guess}` }))
    const { body } = await send('GET', `/~${tenant}/${type}?filter=${filter}`)
    for (const id of ids) await send('DELETE', `/~${tenant}/${type}/${id}`)
    return body.results.map(({ $id }: any) => ids.indexOf($id)).join()
  }

  verifies('rights.rank', 'does not tell a narrowed key which words hidden rows have', async () => {
    await app.request('POST', '/~rank/Contact', { name: 'Hidden Harry', phone: '5559876', title: 'theirs' })
    const key = await app.key('rank', 'write:crm', { filter: { Contact: { title: 'mine' } } })
    const orders = []
    for (const guess of ['555', '55598', '55599', 'harry', 'larry']) {
      orders.push(await orderFor(key, 'rank', 'Contact', { title: 'mine' }, guess))
    }

    expect(new Set(orders).size).toBe(1)
  })

  verifies('rights.rank', 'does not tell a key of one type which words other types have, kept or not', async () => {
    await app.request('POST', '/~rank2/Contact', { name: 'Secretive' })
    const key = await app.key('rank2', 'write:Deal')
    const orders = []
    for (const guess of ['secret', 'secres']) {
      // A ranking that was made for an administrator is not one for this key.
      await orderFor(await app.key('rank2', 'admin:all'), 'rank2', 'Deal', {}, guess)
      orders.push(await orderFor(key, 'rank2', 'Deal', {}, guess))
    }

    expect(new Set(orders).size).toBe(1)
  })

  test('is by relevance for a key that sees a part', async () => {
    const key = app.as(await app.key('rank3', 'write:Deal'))
    await key('POST', '/~rank3/Deal', { name: 'tea and much else that has nothing to do with it' })
    await key('POST', '/~rank3/Deal', { name: 'tea tea' })
    await key('POST', '/~rank3/Deal', { name: 'teapots, tea, and a teaspoon' })
    await key('POST', '/~rank3/Deal', { name: 'coffee' })
    const { body } = await key('GET', `/~rank3/Deal?filter=${encodeURIComponent('{"$text":"tea"}')}&limit=2`)
    const rest = await key(
      'GET',
      `/~rank3/Deal?filter=${encodeURIComponent('{"$text":"tea"}')}&limit=2&cursor=${encodeURIComponent(body.cursor)}`,
    )

    expect(body.total).toBe(3)
    expect(body.results.map(({ name }: any) => name)).toEqual(['tea tea', 'teapots, tea, and a teaspoon'])
    expect(rest.body.results.map(({ name }: any) => name)).toEqual([expect.stringContaining('much else')])
  })
})

describe('names that no entity has', () => {
  verifies('slices.names', 'are looked for within one short time, however many there are', () => {
    const { tenant } = openAcme()
    const stored = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`field${n}`, 1]))
    tenant.act({ actor: 'test', type: 'Contact', verb: 'create', data: { name: 'Ada', ...stored } })
    // Every look at the clock takes a millisecond.
    let now = 0
    const read = tenant.facade.read(OPERATOR, new Budget({ ms: 5_000, rows: 1e6, bytes: 1e6 }, () => ++now))
    let looked = 0
    const names = function* () {
      for (const name of Object.keys(stored)) {
        looked++
        yield name
      }
    }

    expect(read.questions.unknownFields(read.noun('Contact'), names())).toEqual([])
    expect(looked).toBeLessThan(50)
  })

  test('end the search when enough of them are reported', () => {
    const { tenant } = openAcme()
    const read = tenant.facade.read(OPERATOR, new Budget({ ms: 5_000, rows: 1e6, bytes: 1e6 }, () => 0))
    const names = Array.from({ length: 20_000 }, (_, n) => `unknown${n}`)

    expect(read.questions.unknownFields(read.noun('Contact'), names)).toHaveLength(20)
  })

  test('lists of a filter are bounded', async () => {
    const values = Array.from({ length: 10_001 }, (_, n) => n)
    const ask = (list: number[]) =>
      app.request('POST', '/~lists/batch', {
        operations: [{ id: 'a', method: 'GET', path: 'Contact', query: { filter: { name: { $in: list } } } }],
      })

    expect((await ask(values)).body.results[0]).toMatchObject({ status: 400, body: { error: 'invalid_filter' } })
    expect((await ask(values.slice(1))).body.results[0].status).toBe(200)
  })
})

describe('what an author with more rights stored', () => {
  verifies('rights.backward', 'an endpoint is not brought back or redirected by any verb of a lesser key', async () => {
    const admin = app.as(await app.key('back', 'admin:all'))
    const { body: agent } = await admin('POST', '/~back/Agent', { name: 'a', endpoint: 'https://one.example/' })
    const { body: second } = await admin('PUT', `/~back/Agent/${agent.$id}`, { endpoint: 'https://two.example/' })
    await admin('POST', `/~back/Agent/${agent.$id}/deploy`)
    const lesser = app.as(await app.key('back', 'write:Agent'))
    const run = async (verb: string, body: object) =>
      (await lesser('POST', `/~back/Agent/${agent.$id}/${verb}`, body)).status

    expect(await run('rollback', { asOf: second.$createdAt })).toBe(403)
    expect(await run('update', { endpoint: 'https://evil.example/' })).toBe(403)
    expect(await run('pause', { endpoint: 'https://evil.example/' })).toBe(403)
    expect((await admin('GET', `/~back/Agent/${agent.$id}`)).body.endpoint).toBe('https://two.example/')
    expect(await run('update', { name: 'b' })).toBe(200)
    await admin('DELETE', `/~back/Agent/${agent.$id}`)
    expect(await run('restore', {})).toBe(403)
    expect((await admin('POST', `/~back/Agent/${agent.$id}/restore`)).status).toBe(200)
  })

  verifies('file.erase.named', 'its file does not outlive its erasure because another key wrote the hash', async () => {
    await app.request('PUT', '/~pinned/schema/Contact', { scan: 'file' })
    const { body: file } = await sendBytes(app, 'POST', '/~pinned/files', Buffer.from('private'))
    const { body: contact } = await app.request('POST', '/~pinned/Contact', { name: 'Ada', scan: { hash: file.hash } })
    const other = app.as(await app.key('pinned', 'write:Deal'))
    const noted = await other('POST', '/~pinned/Deal', { name: file.hash, notes: [file.hash] })
    expect(noted.status).toBe(201)

    expect((await app.request('POST', `/~pinned/Contact/${contact.$id}/erase`, {})).status).toBe(200)

    await until(() => blobsOf(app.data, 'pinned').whole.length === 0)
  })
})
