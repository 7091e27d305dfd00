import type { JsonObject } from '@tildebase/nouns'
import { describe, expect, test } from 'vitest'
import { count, find, get } from '../../packages/tenant/src/query/answer/find.ts'
import type { Ledger } from './ledger.ts'
import { ask, ids, opened } from './people.ts'

describe('the Event collection', () => {
  function tracked(): Ledger {
    const ledger = opened()
    ledger.put('Company', 'company_1', { name: 'One', industry: 'tech' })
    ledger.put('Event', 'event_x', {
      name: 'Signed Up',
      type: 'track',
      source: 'Browser',
      userId: 'u1',
      company: 'company_1',
      properties: { entityId: 'person_1', entityType: 'Person', verb: 'update' },
      timestamp: '2026-01-01T00:00:00.000Z',
    })
    ledger.put('Company', 'company_1', { name: 'Uno', industry: 'tech' })
    ledger.put('Person', 'person_1', { name: 'Ada' })
    return ledger
  }

  test('it holds tracked events and the event of every verb', () => {
    const ledger = tracked()
    const { results, total } = ask(ledger, 'Event')

    expect(results.map((row) => (JSON.parse(row.data) as JsonObject).name)).toEqual([
      'Person.created',
      'Company.updated',
      'Signed Up',
      'Company.created',
    ])
    expect(total).toBe(4)
    expect(JSON.parse(results[1]!.data)).toEqual({
      name: 'Company.updated',
      type: 'verb',
      source: 'API',
      timestamp: '2026-01-01T00:00:00.003Z',
      data: { name: 'Uno', industry: 'tech', $id: 'company_1', $type: 'Company' },
      properties: { verb: 'update', entityType: 'Company', entityId: 'company_1', version: 2 },
    })
    expect(results[1]).toMatchObject({ type: 'Event', version: 1, ordinal: 3 })
  })

  test.each<[object, number]>([
    [{ name: 'Company.updated' }, 1],
    [{ name: 'Signed Up' }, 1],
    [{ type: 'verb' }, 3],
    [{ type: 'track' }, 1],
    [{ type: { $ne: 'verb' } }, 1],
    [{ source: 'Browser' }, 1],
    [{ source: 'API' }, 3],
    [{ userId: null }, 3],
    [{ userId: { $exists: true } }, 1],
    [{ 'data.name': 'Uno' }, 1],
    [{ 'data.$id': 'company_1' }, 2],
    [{ 'properties.version': 2 }, 1],
    [{ 'properties.entityId': 'company_1' }, 2],
    [{ 'properties.entityId': 'person_1' }, 2],
    [{ 'properties.entityId': { $in: ['company_1', 'person_1'] } }, 4],
    [{ 'properties.entityId': 'company_none' }, 0],
    [{ 'properties.entityType': 'Person' }, 2],
    [{ 'properties.verb': 'update' }, 2],
    [{ 'properties.verb': { $ne: 'update' } }, 2],
    [{ timestamp: { $gt: '2026-01-01T00:00:00.003Z' } }, 1],
    [{ 'company.name': 'Uno' }, 1],
    [{ name: { $regex: '^Company' } }, 2],
    [{ name: { $in: ['Company.created', 'Signed Up'] } }, 2],
    [{ $text: 'sign' }, 1],
    [{ $text: 'company.upd' }, 1],
    [{ $text: 'company' }, 2],
    [{ $text: 'created' }, 2],
    [{ $text: 'CREATED comp' }, 1],
    [{ $text: 'created.company' }, 0],
    [{ $text: 'up' }, 2],
    [{ $text: 'uno' }, 0],
    [{ $id: 'event_x' }, 1],
    [{ type: { $in: ['verb', 'track'] } }, 4],
  ])('%j finds %i', (filter, found) => {
    const page = ask(tracked(), 'Event', filter)

    expect(page.results).toHaveLength(found)
    expect(count(tracked().reader(), { type: 'Event', filter: tracked().filter('Event', filter) })).toBe(found)
  })

  test('the names of events follow what the words of tracked events match, also when an older index has them', () => {
    const ledger = tracked()
    ledger.put('Event', 'event_y', { name: 'Company found', type: 'track' })
    const found = ['event_y', 'event_3', 'event_1']

    expect(ids(ask(ledger, 'Event', { $text: 'company' }))).toEqual(found)
    for (const seq of [1, 3]) ledger.sql.run('INSERT INTO text (rowid, words) VALUES (?, ?)', -seq, 'Company.created')
    const page = ask(ledger, 'Event', { $text: 'company' })
    expect(new Set(ids(page))).toEqual(new Set(found))
    expect(page.total).toBe(3)
  })

  test('events of hidden types are left out, and as of an event it ends there', () => {
    const ledger = tracked()
    const reader = ledger.reader({ hidden: (type) => type === 'Company' })

    expect(find(reader, { type: 'Event' }).total).toBe(2)
    expect(get(reader, 'Event', 'event_1')).toBeUndefined()
    expect(get(ledger.reader(), 'Event', 'event_1')).toMatchObject({ id: 'event_1', type: 'Event' })
    expect(ask(ledger, 'Event', {}, { asOf: 2 }).total).toBe(2)
    expect(
      (get(ledger.reader(), 'Company', 'company_1', { include: ['events'] })!.extra as { events: JsonObject[] }).events,
    ).toMatchObject([{ $id: 'event_x' }])
    expect(ids(ask(ledger, 'Company', { 'events.userId': 'u1' }))).toEqual(['company_1'])
  })
})
