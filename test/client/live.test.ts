import { tildebase } from '@tildebase/client'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

let tenants = 0
const fresh = () => tildebase({ tenant: `live${++tenants}`, apiKey: ROOT, baseUrl: host.url })
type Client = ReturnType<typeof fresh>

/** Reads a live list until it equals what a plain list says, and returns how often it was shown. */
async function settles(
  list: AsyncGenerator<readonly { readonly $id: string }[], void>,
  plain: () => Promise<readonly object[]>,
) {
  for (let shown = 1; ; shown++) {
    const { value } = await list.next()
    if (JSON.stringify(value) === JSON.stringify(await plain())) return shown
  }
}

describe('a live list', () => {
  test('shows the page, and again after each change, as a plain list would', async () => {
    const $ = fresh()
    const ada = await $.Contact.create({ name: 'Ada', stage: 'Qualified' })
    const bob = await $.Contact.create({ name: 'Bob' })
    const list = $.Contact.live({ stage: 'Qualified' })
    const plain = () => $.Contact.find({ stage: 'Qualified' })

    expect((await list.next()).value?.map(({ name }) => name)).toEqual(['Ada'])
    await $.Contact.qualify(bob.$id)
    await settles(list, plain)
    await $.Contact.update(ada.$id, { title: 'Countess' })
    await settles(list, plain)
    await $.Contact.delete(bob.$id)
    await settles(list, plain)

    await list.return()
    expect((await plain()).map(({ title }) => title)).toEqual(['Countess'])
  })

  test('ends with its signal', async () => {
    const $ = fresh()
    await $.Contact.create({ name: 'Ada' })
    const stop = new AbortController()
    let shown = 0

    for await (const contacts of $.Contact.live({}, { signal: stop.signal })) {
      shown += contacts.length
      stop.abort()
    }

    expect(shown).toBe(1)
  })

  test('tells why it is refused', async () => {
    await expect(fresh().Contact.live({ $text: 'ada' }).next()).rejects.toMatchObject({ code: 'invalid_filter' })
  })

  type Act = 'create' | 'qualify' | 'rename' | 'delete'
  const ACTS: readonly Act[] = ['create', 'qualify', 'rename', 'delete']

  async function act($: Client, what: Act, chosen: number) {
    const all = await $.Contact.find({}, { sort: 'name' })
    const one = all[chosen % Math.max(1, all.length)]
    if (what === 'create') await $.Contact.create({ name: `c${chosen}`, stage: chosen % 2 ? 'Lead' : 'Qualified' })
    else if (!one) return
    else if (what === 'qualify' && one.stage === 'Lead') await $.Contact.qualify(one.$id)
    else if (what === 'rename') await $.Contact.update(one.$id, { name: `d${chosen}` })
    else if (what === 'delete') {
      await $.Contact.delete(one.$id)
      if (chosen % 2) await $.Contact.restore(one.$id)
    }
  }

  test.each([
    ['in the order of creation', {}],
    ['sorted', { sort: { name: 1 } }],
    ['shorter than what it matches', { sort: { name: -1 }, limit: 3 }],
  ] as const)('%s equals a plain list after any changes', { timeout: 120_000 }, async (_, options) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...ACTS), fc.nat(9)), { maxLength: 8 }), async (acts) => {
        const $ = fresh()
        for (let i = 0; i < 9; i++) await $.Contact.create({ name: `a${i}`, stage: i % 2 ? 'Lead' : 'Qualified' })
        const list = $.Contact.live({ stage: 'Qualified' }, options)
        await list.next()

        for (const [what, chosen] of acts) await act($, what, chosen)
        const [first] = await $.Contact.find({ stage: 'Qualified' }, options)
        if (first) await $.Contact.delete(first.$id)
        else await $.Contact.create({ name: 'last', stage: 'Qualified' })
        await settles(list, () => $.Contact.find({ stage: 'Qualified' }, options))
        await list.return()
      }),
      { numRuns: 8 },
    )
  })
})

describe('an upsert', () => {
  test('creates, then changes, then does nothing', async () => {
    const $ = fresh()
    const upsert = (title: string) => $.Contact.upsert({ email: 'ada@example.com' }, { name: 'Ada', title })

    const made = await upsert('Countess')
    const changed = await upsert('Lady')
    const same = await upsert('Lady')

    expect([made.$version, changed.$version, same.$version]).toEqual([1, 2, 2])
    expect([made.$id, same.$id]).toEqual([changed.$id, changed.$id])
    expect(await $.Contact.count()).toBe(1)
  })

  test('of many clients at once makes one entity', async () => {
    const $ = fresh()
    await $.Contact.create({ name: 'Other' })

    const made = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        $.Contact.upsert({ email: 'ada@example.com' }, { name: 'Ada', leadScore: i }),
      ),
    )

    expect(new Set(made.map(({ $id }) => $id)).size).toBe(1)
  })

  test('does not choose between several', async () => {
    const $ = fresh()
    await $.Contact.createMany([{ name: 'Ada' }, { name: 'Ada' }])

    await expect($.Contact.upsert({ name: 'Ada' }, { title: 'x' })).rejects.toMatchObject({ code: 'conflict' })
  })
})

test('an undo takes back a batch, and can be taken back itself', async () => {
  const $ = fresh()
  const { correlation } = await $.batch((b) => {
    b.Contact.create({ name: 'Ada' })
    b.Contact.create({ name: 'Bob' })
  })

  const undone = await $.undo(correlation!)
  expect([undone.undone, await $.Contact.count()]).toEqual([2, 0])
  await $.undo(undone.correlation)
  expect(await $.Contact.count()).toBe(2)
})
