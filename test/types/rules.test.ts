import { describe, expect, test } from 'vitest'
import { verifies } from '../verifies.ts'
import { useTypes } from './use-types.ts'

const { sent, declared, made } = useTypes()

describe('fields that are unique together', () => {
  const SEAT = { row: 'string', number: 'number', note: 'string', $unique: [['row', 'number']] }

  verifies('unique.together', 'answer 409 with their names when another entity has the same values', async () => {
    const type = await declared(SEAT)
    const id = await made(type, { row: 'A', number: 1 })
    await made(type, { row: 'A', number: 2 })
    await made(type, { row: 'A' })
    await made(type, { row: 'A' })

    const twice = await sent('POST', `/~acme/${type}`, { row: 'A', number: 1 })
    const moved = await sent('PUT', `/~acme/${type}/${id}`, { number: 2 })
    const same = await sent('PUT', `/~acme/${type}/${id}`, { note: 'window', number: 1 })

    expect([twice.status, twice.body.error, twice.body.field, twice.body.fields]).toEqual([
      409,
      'conflict',
      'row, number',
      ['row', 'number'],
    ])
    expect(twice.body.message).toContain('row and number')
    expect([moved.status, same.status]).toEqual([409, 200])
  })

  verifies('unique.together.ways', 'hold for imports, syncs, restores and undos too', async () => {
    const type = await declared(SEAT)
    const id = await made(type, { row: 'A', number: 1 })
    await sent('DELETE', `/~acme/${type}/${id}`)
    await made(type, { row: 'A', number: 1 })
    const batch = await sent('POST', '/~acme/batch', {
      operations: [{ id: 'a', method: 'POST', path: `/${type}`, body: { row: 'B', number: 1 } }],
    })
    const other = batch.body.results[0].body.$id
    const freed = await sent('POST', '/~acme/batch', {
      operations: [{ id: 'a', method: 'PUT', path: `/${type}/${other}`, body: { number: 2 } }],
    })
    await made(type, { row: 'B', number: 1 })

    const restored = await sent('POST', `/~acme/${type}/${id}/restore`)
    const undone = await sent('POST', `/~acme/undo/${freed.body.correlation}`)
    const rows = [
      { row: 'A', number: 1 },
      { row: 'C', number: 1 },
      { row: 'C', number: 1 },
    ]
    const tried = await sent('POST', `/~acme/import/${type}?dryRun=true`, rows)
    const imported = await sent('POST', `/~acme/import/${type}`, rows)
    const synced = await sent('POST', '/~acme/sync', {
      lastSyncAt: null,
      changes: [
        {
          type,
          id: `${type.toLowerCase()}_0123456789abcdefghij`,
          operation: 'create',
          data: { row: 'A', number: 1 },
          timestamp: new Date().toISOString(),
        },
      ],
    })

    expect([restored.status, restored.body.error]).toEqual([409, 'conflict'])
    expect([undone.status, undone.body.error]).toEqual([409, 'conflict'])
    expect(tried.body.details.map((one: any) => one.row)).toEqual([0, 2])
    expect(imported.body).toMatchObject({ imported: 1 })
    expect(imported.body.details.map((one: any) => one.row)).toEqual([0, 2])
    expect(synced.body).toMatchObject({ applied: 0, rejected: [{ index: 0 }] })
  })

  test('are compared with rows of earlier slices in a dry run', async () => {
    const type = await declared(SEAT)
    const rows = Array.from({ length: 300 }, (_, number) => ({ row: 'A', number: number === 299 ? 0 : number }))

    const { body } = await sent('POST', `/~acme/import/${type}?dryRun=true`, rows)

    expect(body).toMatchObject({ imported: 299, details: [{ row: 299 }] })
  })

  verifies('unique.together.stored', 'are refused at declaration when stored entities repeat them now', async () => {
    const { $unique, ...loose } = SEAT
    const type = await declared(loose)
    const first = await made(type, { row: 'A', number: 1 })
    const second = await made(type, { row: 'A', number: 1 })

    const refused = await sent('PUT', `/~acme/schema/${type}`, SEAT)
    await sent('PUT', `/~acme/${type}/${second}`, { number: 2 })
    const taken = await sent('PUT', `/~acme/schema/${type}`, SEAT)
    const past = await sent('PUT', `/~acme/${type}/${second}`, { number: 1 })

    expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
    expect(refused.body.message).toContain(first)
    expect([taken.status, past.status]).toEqual([200, 409])
    const { body: verdict } = await sent('GET', '/operator/tenants/acme/verify')
    expect(verdict).toMatchObject({ ok: true, faults: [] })
  })

  test.each([[[['row']]], [[['row', 'row']]], [[['row', 'nope']]], [[['row', 'tags']]], ['row']])(
    '%j is refused',
    async ($unique) => {
      const { status, body } = await sent('PUT', '/~acme/schema/Seat', { row: 'string', tags: 'json', $unique })

      expect([status, body.error, body.details[0].field]).toEqual([422, 'invalid_schema', '$unique'])
    },
  )
})

describe('a number with a range', () => {
  verifies('number.range', 'is checked, and described in the schema and in OpenAPI', async () => {
    const type = await declared({
      score: 'number 0..100',
      debt: 'number ..0',
      age: 'number 18.. = 20',
      x: 'number -1.5..1.5[]',
    })
    const id = await made(type, { score: 100, debt: 0, x: [1.5, -1.5] })

    const high = await sent('POST', `/~acme/${type}`, { score: 100.1, debt: 1, age: 17, x: [0, 2] })
    const low = await sent('PUT', `/~acme/${type}/${id}`, { score: -1 })
    const { body: noun } = await sent('GET', `/~acme/schema/${type}`)
    const { body: api } = await sent('GET', '/~acme/openapi.json')

    expect(high.body.details).toEqual([
      { field: 'score', message: 'must be a number from 0 to 100' },
      { field: 'debt', message: 'must be a number of at most 0' },
      { field: 'age', message: 'must be a number of at least 18' },
      { field: 'x.1', message: 'must be a number from -1.5 to 1.5' },
    ])
    expect([low.status, low.body.field]).toEqual([422, 'score'])
    expect(noun.fields.score).toMatchObject({ kind: 'number', min: 0, max: 100 })
    expect(api.components.schemas[`${type}Draft`].properties.score).toMatchObject({ minimum: 0, maximum: 100 })
    expect(api.components.schemas[`${type}Draft`].properties.debt).toEqual({ type: 'number', maximum: 0 })
  })

  test.each(['number ..', 'number 5..1', 'number 0..10 = 11', 'string 0..5'])('%s is refused', async (notation) => {
    const { status } = await sent('PUT', '/~acme/schema/Odd', { it: notation })

    expect(status).toBe(422)
  })
})

test('a computed field is read-only in OpenAPI and cannot be written over REST', async () => {
  const type = await declared({ a: 'number', b: 'number', sum: '= a + b' })

  const { body: one } = await sent('POST', `/~acme/${type}`, { a: 0.1, b: 0.2 })
  const refused = await sent('PUT', `/~acme/${type}/${one.$id}`, { sum: 5 })
  const { body: api } = await sent('GET', '/~acme/openapi.json')

  expect(one.sum).toBe(0.3)
  expect([refused.status, refused.body.field]).toEqual([422, 'sum'])
  expect(api.components.schemas[type].properties.sum).toMatchObject({ type: 'number', readOnly: true })
  expect(api.components.schemas[`${type}Draft`].properties.sum).toBeUndefined()
})
