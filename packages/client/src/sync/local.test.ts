import { expect, test } from 'vitest'
import { type LocalState, openLocal, type Persistence } from './local.ts'

function memory(): Persistence & { saved: LocalState | null; times: number } {
  return {
    saved: null,
    times: 0,
    load() {
      return this.saved
    },
    async save(state) {
      await Promise.resolve()
      this.saved = structuredClone(state)
      this.times++
    },
  }
}

const turn = () => new Promise((done) => setTimeout(done))

test('changes made offline are there after the program ended without a synchronisation', async () => {
  const persistence = memory()
  const store = await openLocal({ replica: 'phone', persistence })
  const id = store.create('Note', { title: 'Milk' })
  store.update(id, { title: 'Milk and bread' })
  await turn()

  const later = await openLocal({ persistence })
  later.delete(id)
  await turn()
  const last = await openLocal({ persistence })

  expect([later.replica, last.pending.length, last.all()]).toEqual(['phone', 3, []])
  // The changes of one turn are saved together.
  expect(persistence.times).toBe(2)
})

test('a change that cannot be saved is reported, and the next one saves both', async () => {
  const reasons: unknown[] = []
  const persistence = memory()
  const { save } = persistence
  persistence.save = () => Promise.reject(new Error('full'))
  const store = await openLocal({ persistence, onSaveError: (reason) => void reasons.push(reason) })
  store.create('Note', { title: 'Milk' })
  await turn()
  persistence.save = save
  store.create('Note', { title: 'Bread' })
  await turn()

  expect(reasons).toEqual([new Error('full')])
  expect((await openLocal({ persistence })).all('Note').map(({ data }) => data.title)).toEqual(['Milk', 'Bread'])
})

test('a page hears of its own changes and of those of others', async () => {
  const store = await openLocal({ replica: 'phone' })
  let calls = 0
  const stop = store.watch(() => calls++)
  const id = store.create('Note', { title: 'Milk' })
  const answer = {
    success: true,
    applied: 1,
    conflicts: 0,
    rejected: [],
    hasMore: false,
    syncedAt: '2026-01-01T00:00:00.000Z',
  }
  store.accept(store.pending, { ...answer, serverChanges: [] })
  const timestamp = '2026-01-01T00:00:00.000Z'
  const change = { type: 'Note', id, operation: 'update', data: { title: 'Bread' }, timestamp, clock: {} } as const
  store.accept([], { ...answer, serverChanges: [change] })
  stop()
  store.delete(id)

  // The answer that only took over the own change tells nothing new.
  expect(calls).toBe(2)
})
