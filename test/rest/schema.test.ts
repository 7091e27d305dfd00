import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
const sent = (...args: Parameters<TestApp['request']>) => host.request(...args)
const filter = (value: object) => encodeURIComponent(JSON.stringify(value))

beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

describe('the types of a tenant', () => {
  verifies(['schema.read', 'path.content'], 'are all there to read, with fields, relations and verbs', async () => {
    const { body } = await sent('GET', '/~acme/schema')
    const contact = await sent('GET', '/~acme/schema/contacts')

    expect(body.types).toHaveLength(37)
    expect(body.types.find((type: any) => type.name === 'Content').path).toBe('content')
    expect(contact.body.verbs.qualify).toMatchObject({ event: 'qualified', before: 'qualifying', from: ['Lead'] })
    expect(contact.body.fields.deals).toMatchObject({ kind: 'back', target: 'Deal', via: 'contact' })
  })

  verifies(
    ['schema.put', 'noun.list'],
    'can be added to: a type of one’s own has fields, verbs, relations both ways and a plural path',
    async () => {
      const put = await sent('PUT', '/~acme/schema/Vehicle', {
        plate: 'string!##',
        tags: 'string[]',
        state: 'Parked | Driving = Parked',
        owner: '-> Contact',
        trips: '<- Trip.vehicle[]',
        drive: { from: 'Parked', set: { state: 'Driving' } },
      })
      expect([put.status, put.body.error]).toEqual([422, 'invalid_schema'])

      const first = await sent('PUT', '/~acme/schema/Vehicle', {
        plate: 'string!##',
        tags: 'string[]',
        state: 'Parked | Driving = Parked',
        owner: '-> Contact',
        drive: { from: 'Parked', set: { state: 'Driving' } },
      })
      const trip = await sent('PUT', '/~acme/schema/Trip', { km: 'number!', vehicle: '-> Vehicle.trips' })
      const way = await sent('PUT', '/~acme/schema/Vehicle', { ...first.body.notation, trips: '<- Trip.vehicle[]' })
      const { body: car } = await sent('POST', '/~acme/vehicles', { plate: 'A1', tags: ['red', 'fast'] })
      await sent('POST', '/~acme/trips', { km: 7, vehicle: car.$id })
      const driven = await sent('POST', `/~acme/Vehicle/${car.$id}/drive`)
      const again = await sent('POST', '/~acme/Vehicle', { plate: 'A1' })
      const read = await sent('GET', `/~acme/Vehicle/${car.$id}?include=trips`)
      const elsewhere = await sent('GET', '/~globex/vehicles')

      expect([first.status, trip.status, way.status]).toEqual([201, 201, 200])
      expect(driven.body).toMatchObject({ state: 'Driving', $version: 2, $type: 'Vehicle', tags: ['red', 'fast'] })
      expect([again.status, again.body.field]).toEqual([409, 'plate'])
      expect(read.body.trips).toMatchObject([{ km: 7 }])
      expect(elsewhere.status).toBe(404)
    },
  )

  verifies('noun.strict', 'that are strict refuse what they do not declare', async () => {
    await sent('PUT', '/~acme/schema/Parcel', { $strict: true, weight: 'number!' })

    const wrong = await sent('POST', '/~acme/Parcel', { weight: 1, wieght: 2 })

    expect([wrong.status, wrong.body.details[0].field]).toEqual([422, 'wieght'])
  })

  test('keep no secrets: an entity would show them', async () => {
    const { status, body } = await sent('PUT', '/~acme/schema/Vault', { name: 'string', pin: 'secret' })

    expect([status, body.error, body.details[0].field]).toEqual([422, 'invalid_schema', 'pin'])
  })

  test('have no verbs that are something else in a path or in code: erase would erase the entity', async () => {
    for (const verb of ['erase', 'history', 'diff', 'timers', 'get', 'count', 'then'])
      for (const type of ['Board', 'Contact']) {
        const { status, body } = await sent('PUT', `/~acme/schema/${type}`, { [verb]: {} })
        expect([verb, status, body.error, body.details]).toEqual([
          verb,
          422,
          'invalid_schema',
          [{ field: verb, message: 'has another meaning for every type, so it cannot be a verb' }],
        ])
      }
  })

  test('that are built in can get more fields, and lose them again', async () => {
    await sent('PUT', '/~wide/schema/Contact', { shoeSize: 'number#', region: 'North | South' })

    const wrong = await sent('POST', '/~wide/Contact', { name: 'A', shoeSize: 'big', region: 'West' })
    const right = await sent('POST', '/~wide/Contact', { name: 'A', shoeSize: 42, region: 'North' })
    const found = await sent('GET', `/~wide/Contact?filter=${filter({ shoeSize: { $gte: 40 } })}`)
    const back = await sent('DELETE', '/~wide/schema/Contact')
    const loose = await sent('POST', '/~wide/Contact', { name: 'B', shoeSize: 'big' })

    expect(wrong.body.details.map((issue: any) => issue.field)).toEqual(['shoeSize', 'region'])
    expect(right.status).toBe(201)
    expect(found.body.total).toBe(1)
    expect([back.status, loose.status]).toEqual([204, 201])
    const again = await sent('DELETE', '/~wide/schema/Contact')
    expect([again.status, again.body.message]).toEqual([
      404,
      'This tenant has added nothing to Contact, so there is nothing to delete.',
    ])
  })

  test('index what was there before, the past included', async () => {
    await sent('PUT', '/~late/schema/Box', { label: 'string' })
    const { body: box } = await sent('POST', '/~late/boxes', { label: 'old' })
    await nextMillisecond()
    const { body: changed } = await sent('PUT', `/~late/boxes/${box.$id}`, { label: 'new' })
    await sent('PUT', '/~late/schema/Box', { label: 'string##' })

    const now = await sent('GET', '/~late/boxes?label=new')
    const then = await sent('GET', `/~late/boxes?label=old&asOf=${box.$updatedAt}`)
    const twice = await sent('POST', '/~late/boxes', { label: 'new' })

    expect([now.body.total, then.body.total, twice.status]).toEqual([1, 1, 409])
    expect(changed.$version).toBe(2)
    expect((await sent('GET', '/operator/tenants/late/verify')).body.ok).toBe(true)
  })

  test('are events in the log themselves', async () => {
    await sent('PUT', '/~logged/schema/Thing', { a: 'string' })
    await sent('PUT', '/~logged/schema/Thing', { a: 'string', b: 'number' })
    await sent('DELETE', '/~logged/schema/Thing')

    const { body } = await sent('GET', '/~logged/Event')

    expect(body.results.map((event: any) => event.name)).toEqual(['Schema.deleted', 'Schema.updated', 'Schema.created'])
  })

  test('that the service depends on, and names that are taken, cannot be declared', async () => {
    const answers = await Promise.all(
      ['ApiKey', 'Event', 'Webhook', 'Schema', 'lower', 'With Space', '__proto__'].map((name) =>
        sent('PUT', `/~acme/schema/${encodeURIComponent(name)}`, { a: 'string' }),
      ),
    )

    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422, 422, 422])
  })

  test('with errors are refused, and every error is reported', async () => {
    const { status, body } = await sent('PUT', '/~acme/schema/Broken', {
      a: 'strnig',
      b: 'A |',
      c: '-> Nowhere',
      go: { set: { zzz: 1 } },
      __proto__x: 5,
    })

    expect(status).toBe(422)
    expect(body.details.map((issue: any) => issue.field)).toEqual(expect.arrayContaining(['a', 'b']))
  })

  test('of one’s own cannot be dropped while entities are there', async () => {
    await sent('PUT', '/~acme/schema/Mug', { a: 'string' })
    const { body } = await sent('POST', '/~acme/mugs', { a: 'x' })

    const kept = await sent('DELETE', '/~acme/schema/Mug')
    await sent('DELETE', `/~acme/mugs/${body.$id}`)
    const gone = await sent('DELETE', '/~acme/schema/Mug')

    expect([kept.status, gone.status]).toEqual([409, 204])
    expect((await sent('GET', '/~acme/mugs')).status).toBe(404)
  })
})
