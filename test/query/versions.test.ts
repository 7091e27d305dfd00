import { isoOf, type JsonObject } from '@tildebase/nouns'
import { type Grant, OPERATOR } from '@tildebase/tenant'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { get } from '../../packages/tenant/src/query/answer/find.ts'
import { readContextOf } from '../../packages/tenant/src/query/read-context.ts'
import { diff, history } from '../../packages/tenant/src/services/history.ts'
import { openAcme } from '../tenant/fixture.ts'

const step = fc.oneof(
  fc.record({
    verb: fc.constant('update'),
    data: fc.record(
      {
        name: fc.constantFrom('Ada', 'Bob'),
        email: fc.constantFrom('a@b', null),
        notes: fc.constantFrom(null, 1, [1], { deep: [1] }),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ verb: fc.constantFrom('delete', 'restore', 'qualify'), data: fc.constant({}) }),
)

/** A contact, and what it was after each of its versions, a second apart; it was not there in the first of them. */
function contactOf(steps: readonly { readonly verb: string; readonly data: object }[]) {
  const { tenant, clock } = openAcme()
  const { engine } = tenant
  const noun = engine.noun('Contact')
  const states: JsonObject[] = [{}]
  const times = [clock.at]
  let id: string | undefined
  for (const { verb, data } of [{ verb: 'create', data: { name: 'Ada' } }, ...steps]) {
    clock.at += 1_000
    try {
      const { entity, event } = tenant.act({ type: 'Contact', verb, id, data, actor: 't' })
      id = entity.id
      if (!event) continue
      states.push(verb === 'delete' ? {} : JSON.parse(entity.data))
      times.push(clock.at)
    } catch {
      // Nothing that is there is restored, and nothing that is gone is changed.
    }
  }
  return { engine, noun, id: id!, states, times }
}

test('the pages of a history are its versions, newest first, each once and none left out', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (steps, limit) => {
      const { engine, noun, id, states } = contactOf(steps)
      const versions: number[] = []
      let before: number | null = null
      for (;;) {
        const page = history(engine, OPERATOR, noun, id, limit, before)
        versions.push(...page.results.map(({ version }) => version))
        expect(page.total).toBe(states.length - 1)
        expect(page.hasMore).toBe(versions.length < page.total)
        if (!page.hasMore) break
        expect(page.results).toHaveLength(limit)
        before = Number(page.cursor)
      }

      expect(versions).toEqual(states.slice(1).map((_, i) => states.length - 1 - i))
    }),
  )
})

test('a difference holds the fields that differ, with both values, between any two versions or times', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), fc.nat(8), fc.nat(8), fc.boolean(), (steps, a, b, byTime) => {
      const { engine, noun, id, states, times } = contactOf(steps)
      const [from, to] = [a, b].map((n) => Math.min(n, states.length - 1)) as [number, number]
      const name = (n: number) => (byTime || n === 0 ? isoOf(times[n]!) : String(n))

      const { changes } = diff(engine, OPERATOR, noun, id, name(from), name(to))

      const [before, after] = [states[from]!, states[to]!]
      const differing = Object.keys({ ...before, ...after }).filter(
        (field) => JSON.stringify(before[field] ?? null) !== JSON.stringify(after[field] ?? null),
      )
      const found = Object.fromEntries((changes as any[]).map(({ field, ...values }) => [field, values]))
      expect(found).toEqual(
        Object.fromEntries(differing.map((f) => [f, { from: before[f] ?? null, to: after[f] ?? null }])),
      )
    }),
  )
})

test('a deleted entity keeps its history for a key that could see it, as far as that saw it, and for no other', () => {
  const { engine, noun, id } = contactOf([
    { verb: 'qualify', data: {} },
    { verb: 'delete', data: {} },
  ])
  const seen = (stage: string) => {
    const grant: Grant = { ...OPERATOR, actor: 'key', rows: { Contact: { stage } } }
    const { results, total } = history(engine, grant, noun, id, 10, null)
    expect(total).toBe(results.length)
    return results.map(({ version, previous }) => [version, previous])
  }

  expect(history(engine, OPERATOR, noun, id, 10, null).results[1]).toMatchObject({ previous: { stage: 'Lead' } })
  // What it was before it came into the view of a key was never visible to that.
  expect(seen('Qualified')).toEqual([
    [3, null],
    [2, null],
  ])
  expect(seen('Lead')).toEqual([[1, null]])
  expect(() => seen('Customer')).toThrow(expect.objectContaining({ code: 'not_found' }))
})

test('a past that was read in a transaction that is undone is read whole afterwards', () => {
  const { tenant } = openAcme()
  const { engine } = tenant
  const { id } = tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 't' }).entity
  const rename = (name: string) => tenant.act({ type: 'Contact', verb: 'update', id, data: { name }, actor: 't' })
  const nameAt = (asOf: number) => {
    const contact = get(readContextOf(engine, OPERATOR), 'Contact', id, { asOf })
    return contact && JSON.parse(contact.data).name
  }
  const { seq } = engine.head

  tenant.write(OPERATOR, (write) =>
    write.transaction.dryRun(() => {
      tenant.runIn(write, { type: 'Contact', verb: 'update', id, data: { name: 'Bob' } })
      return nameAt(seq)
    }),
  )
  rename('Eva')

  expect(nameAt(seq)).toBe('Ada')
  expect(nameAt(seq + 1)).toBe('Eva')
})
