import { tildebase } from '@tildebase/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { proposeCleanUp } from '../../examples/duplicate-contacts.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

test('the example removes duplicates in a fork, proposes that, and a person approves it', async () => {
  const service = { baseUrl: host.url, apiKey: ROOT }
  const $ = tildebase({ ...service, tenant: 'acme' })
  const reviewer = tildebase({ ...service, tenant: 'acme', apiKey: await host.key('acme', 'write:crm') })
  const ada = await $.Contact.create({ name: 'Ada', email: 'ada@example.org' })
  const bob = await $.Contact.create({ name: 'Bob', email: 'bob@example.org' })
  const twin = await $.Contact.create({ name: 'Ada L', email: 'ADA@example.org', phone: '1' })
  const deal = await $.Deal.create({ name: 'Engine', contact: twin.$id })

  const changeset = await proposeCleanUp(service, 'acme')
  const before = await $.Contact.count()
  await $.Contact.update(ada.$id, { title: 'Countess' })
  const approved = await reviewer.changesets.approve(changeset!.$id)

  expect(changeset).toMatchObject({ title: 'Merge 1 duplicate contact', state: 'Open', conflicts: [] })
  expect(changeset!.diff.map(({ verb, id }) => [verb, id])).toEqual([
    ['update', ada.$id],
    ['update', deal.$id],
    ['delete', twin.$id],
  ])
  expect(before).toBe(3)
  expect(approved.state).toBe('Approved')
  expect(await $.Contact.get(ada.$id)).toMatchObject({ name: 'Ada', phone: '1', title: 'Countess' })
  expect(await $.Deal.get(deal.$id)).toMatchObject({ contact: ada.$id })
  expect((await $.Contact.find({}, { sort: 'createdAt' })).map(({ $id }) => $id)).toEqual([ada.$id, bob.$id])
  expect(await proposeCleanUp(service, 'acme')).toBeNull()
})
