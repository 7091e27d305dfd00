import { OPERATOR } from '@tildebase/tenant'
import { expect, test, vi } from 'vitest'
import { indexText } from '../../packages/tenant/src/query/words/text-index.ts'
import { history } from '../../packages/tenant/src/services/history.ts'
import { readOperation } from '../../packages/tenant/src/services/session.ts'
import { runVerb } from '../../packages/tenant/src/write/run-verb.ts'
import { openAcme } from './fixture.ts'

const QUIET = 300

test('new words are folded into the text index once writing pauses', () => {
  const { tenant, clock } = openAcme()

  tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 'system' })

  expect(tenant.facade.due()).toBe(clock.at + QUIET)
})

test('an index that is complete is asked without a commit', async () => {
  const { tenant, clock } = openAcme()
  tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 'system' })
  clock.at += QUIET
  await tenant.wake()
  const { sql, nouns } = tenant.engine
  const transaction = vi.spyOn(sql, 'transaction')

  expect(indexText(sql, nouns)).toBe(true)
  expect(transaction).not.toHaveBeenCalled()
})

/** Creates just over ten thousand contacts without a pause, so many per commit. */
function createMany(tenant: ReturnType<typeof openAcme>['tenant'], perCommit: number): void {
  for (let begun = 0; begun <= 10_000; begun += perCommit)
    tenant.write(OPERATOR, (write) => {
      for (let i = begun; i < begun + perCommit; i++)
        runVerb(write, { type: 'Contact', verb: 'create', data: { name: `Ada ${i}` } })
    })
}

test('where writing does not pause and much is outstanding, they are folded in next to it', async () => {
  const { tenant, clock } = openAcme()
  createMany(tenant, 50)

  expect(tenant.facade.due()).toBe(clock.at)
  await tenant.wake()
  expect(tenant.facade.due()).toBe(clock.at + QUIET)
})

test('an import is folded in when it pauses', () => {
  const { tenant, clock } = openAcme()
  createMany(tenant, 200)

  expect(tenant.facade.due()).toBe(clock.at + QUIET)
})

test('a few long texts are folded in slices, with turns for others between them', async () => {
  const { tenant } = openAcme()
  const words = (i: number) =>
    Array.from({ length: 30_000 }, (_, n) => `w${(i * 7_919 + n * 104_729) % 1_000_003}`).join(' ')
  tenant.write(OPERATOR, (write) => {
    for (let i = 0; i < 20; i++)
      runVerb(write, { type: 'Contact', verb: 'create', data: { name: `Ada ${i}`, notes: words(i) } })
  })
  const indexed = () => tenant.sql.rows('SELECT count(*) FROM text WHERE rowid > 0')[0]![0]
  const counts = [indexed()]

  const caughtUp = tenant.facade.catchUp('words')
  while (counts.at(-1) < 20 && counts.length < 100) {
    counts.push(indexed())
    await Promise.resolve()
  }

  expect(caughtUp).toBeInstanceOf(Promise)
  await caughtUp
  expect(indexed()).toBe(20)
  // Each slice holds one of them.
  expect(Math.max(...counts.map((count, i) => count - (counts[i - 1] ?? 0)))).toBe(1)
  expect(tenant.facade.catchUp('words')).toBeUndefined()
}, 60_000)

test('a question about the past does not wait for words', async () => {
  const { tenant } = openAcme()
  tenant.write(OPERATOR, (write) => {
    for (let i = 0; i <= 2_000; i++) runVerb(write, { type: 'Contact', verb: 'create', data: { name: `Ada ${i}` } })
  })

  await tenant.facade.catchUp('past')

  expect(tenant.sql.rows('SELECT count(*) FROM text')[0]![0]).toBe(0)
  expect(tenant.facade.catchUp('past')).toBeUndefined()
  expect(tenant.facade.catchUp('words')).toBeInstanceOf(Promise)
})

test('an update that changes no word leaves the text index alone', async () => {
  const { tenant, clock } = openAcme()
  const { entity } = tenant.act({ type: 'Deal', verb: 'create', data: { name: 'Engine' }, actor: 'system' })
  const written = async (data: object) => {
    tenant.act({ type: 'Deal', verb: 'update', id: entity.id, data, actor: 'system' })
    clock.at += QUIET
    await tenant.wake()
    // FTS5 writes down with every row in which of its writes it came.
    return tenant.sql.rows('SELECT origin FROM text_docsize WHERE id = ?', entity.ordinal)[0]![0]
  }

  const first = await written({ name: 'Analytical engine' })

  expect(await written({ value: 7 })).toBe(first)
  expect(await written({ name: 'Difference engine' })).toBeGreaterThan(first)
})

test('what is restored is found again, and its event tells that nothing else changed', () => {
  const { tenant } = openAcme()
  const act = (verb: string, id?: string) =>
    tenant.act({ type: 'Deal', verb, id, data: id ? {} : { name: 'Engine' }, actor: 'system' })
  const found = () => readOperation({ engine: tenant.engine, grant: OPERATOR }, 'Deal', 'count', [{ $text: 'engine' }])
  const { id } = act('create').entity

  const counts = [found(), act('delete', id) && found(), act('restore', id) && found()]

  expect(counts).toEqual([1, 0, 1])
  expect(history(tenant.engine, OPERATOR, tenant.engine.noun('Deal'), id, 1, null).results[0]!.previous).toEqual({})
})

test('the past is folded when writing pauses too, so that reads of it do not wait', async () => {
  const { tenant, clock } = openAcme()
  const { entity } = tenant.act({ type: 'Deal', verb: 'create', data: { name: 'Engine' }, actor: 'system' })
  tenant.act({ type: 'Deal', verb: 'update', id: entity.id, data: { value: 7 }, actor: 'system' })
  const folded = () => tenant.sql.rows('SELECT n, seq, until FROM versions')

  const before = folded()
  clock.at += QUIET
  await tenant.wake()

  expect([before, folded()]).toEqual([[], [[1, 1, 2]]])
})
