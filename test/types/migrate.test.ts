import { describe, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { verifies } from '../verifies.ts'
import { useTypes } from './use-types.ts'

const types = useTypes()
const { sent, declared, made } = types
const filter = (json: object) => encodeURIComponent(JSON.stringify(json))

/** The time now, with nothing of what follows in it. */
async function moment(): Promise<string> {
  await nextMillisecond()
  const at = new Date().toISOString()
  await nextMillisecond()
  return at
}

const rename = (type: string, from: string, to: string, query = '') =>
  sent('POST', `/~acme/schema/${type}/rename${query}`, { from, to })
const retype = (type: string, field: string, to: string, query = '') =>
  sent('POST', `/~acme/schema/${type}/retype${query}`, { field, to })

describe('a rename', () => {
  verifies('rename.migrates', 'renames the field in the type and in every entity, as logged events', async () => {
    const type = await declared({
      plate: 'string!##',
      knots: 'number',
      due: 'datetime',
      status: 'Docked | Afloat = Docked',
      double: '= knots * 2',
      sail: { from: 'Docked', set: { status: 'Afloat', knots: '$args.knots' }, args: ['knots'] },
      $unique: [['knots', 'status']],
      $timers: { sail: { at: 'due', from: 'Docked', when: { knots: { $gt: 1 } }, run: 'sail' } },
    })
    const id = await made(type, { plate: 'A1', knots: 7 })
    await made(type, { plate: 'B2' })

    const { status, body } = await rename(type, 'knots', 'speed')

    expect([status, body.migrated]).toEqual([200, 1])
    expect(body.type.notation).toMatchObject({
      double: '= speed * 2',
      sail: { set: { status: 'Afloat', speed: '$args.speed' }, args: ['speed'] },
      $unique: [['speed', 'status']],
      $timers: { sail: { when: { speed: { $gt: 1 } } } },
    })
    expect(Object.keys(body.type.notation)).toEqual([
      '$domain',
      'plate',
      'speed',
      'due',
      'status',
      'double',
      'sail',
      '$unique',
      '$timers',
    ])
    const { body: ship } = await sent('GET', `/~acme/${type}/${id}`)
    expect(ship).toMatchObject({ speed: 7, double: 14, $version: 2 })
    expect(ship).not.toHaveProperty('knots')
    const { body: found } = await sent('GET', `/~acme/${type}?filter=${filter({ speed: 7 })}`)
    expect(found.total).toBe(1)
    const { body: versions } = await sent('GET', `/~acme/${type}/${id}/history`)
    expect(versions.results[0]).toMatchObject({
      verb: 'migrate',
      event: 'updated',
      previous: { knots: 7, speed: null },
    })
    const { body: sailed } = await sent('POST', `/~acme/${type}/${id}/sail`, { speed: 9 })
    expect(sailed).toMatchObject({ status: 'Afloat', speed: 9, double: 18 })
  })

  verifies('rename.past', 'leaves the past as it was, and what comes back from it gets the new name', async () => {
    const type = await declared({ plate: 'string!##', knots: 'number#' })
    const [kept, deleted] = [await made(type, { plate: 'A1', knots: 7 }), await made(type, { plate: 'B2', knots: 3 })]
    await sent('DELETE', `/~acme/${type}/${deleted}`)
    const before = await moment()

    await rename(type, 'knots', 'speed')
    await sent('PUT', `/~acme/${type}/${kept}`, { speed: 8 })
    const then = await sent('GET', `/~acme/${type}/${kept}?asOf=${before}`)
    const filtered = await sent('GET', `/~acme/${type}?asOf=${before}&filter=${filter({ knots: 7 })}`)
    const back = await sent('POST', `/~acme/${type}/${kept}/rollback`, { asOf: before })
    const restored = await sent('POST', `/~acme/${type}/${deleted}/restore`)

    expect(then.body.knots).toBe(7)
    expect(then.body).not.toHaveProperty('speed')
    expect(filtered.body.total).toBe(1)
    for (const [{ body }, speed] of [
      [back, 7],
      [restored, 3],
    ] as const) {
      expect(body.speed).toBe(speed)
      expect(body).not.toHaveProperty('knots')
    }
    const { body: verdict } = await sent('GET', '/operator/tenants/acme/verify')
    expect(verdict).toMatchObject({ ok: true, faults: [] })
  })

  verifies('migration.dryRun', 'with dryRun tells what would happen and changes nothing', async () => {
    const type = await declared({ knots: 'number' })
    const id = await made(type, { knots: 7 })

    const { status, body } = await rename(type, 'knots', 'speed', '?dryRun=true')

    expect([status, body.dryRun, body.result.migrated]).toEqual([200, true, 1])
    expect((await sent('GET', `/~acme/${type}/${id}`)).body).toMatchObject({ knots: 7, $version: 1 })
    expect((await sent('GET', `/~acme/schema/${type}`)).body.notation).toEqual({ $domain: 'custom', knots: 'number' })
  })

  test('is refused for a built-in field, an unknown one, a name that is taken, and a field that others read', async () => {
    const type = await declared({ knots: 'number', name: 'string', old: 'string' })
    const leg = await declared({ ship: `-> ${type}`, speed: '= ship.knots' })
    await made(type, { old: 'x', fresh: 'y' })

    const refused = await Promise.all([
      rename('Contact', 'name', 'label'),
      rename(type, 'nots', 'speed'),
      rename(type, 'knots', 'name'),
      rename(type, 'knots', 'speed'),
      rename(type, 'old', 'fresh'),
      rename(type, 'old', '$x'),
      sent('POST', `/~acme/schema/${type}/rename`, { from: 'old' }),
    ])

    expect(refused.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422, 422, 422])
    expect(refused[1]!.body.message).toContain('did you mean knots')
    expect(refused[3]!.body.message).toContain(`${leg}.speed`)
    expect(refused[4]!.body.details[0]).toMatchObject({ field: 'fresh' })
    expect(refused[4]!.text).not.toContain('"y"')
    expect((await sent('GET', `/~acme/schema/${type}`)).body.notation).toEqual({
      $domain: 'custom',
      knots: 'number',
      name: 'string',
      old: 'string',
    })
  })
})

describe('a retype', () => {
  verifies('retype.converts', 'converts what is stored, and leaves the past as it was', async () => {
    const type = await declared({
      size: 'string',
      fast: 'string',
      built: 'string',
      kind: 'string',
      tag: 'string',
      note: 'number',
    })
    const id = await made(type, {
      size: ' 12.5 ',
      fast: 'Yes',
      built: '2026-01-31T09:00Z',
      kind: 'cargo',
      tag: 'a',
      note: 5,
    })
    const before = await moment()

    for (const [field, to] of [
      ['size', 'number 0..100'],
      ['fast', 'boolean'],
      ['built', 'date'],
      ['kind', 'Cargo | Liner'],
      ['tag', 'string[]'],
      ['note', 'string'],
    ] as const) {
      const { status, body } = await retype(type, field, to)
      expect([field, status, body.migrated]).toEqual([field, 200, 1])
    }

    const now = { size: 12.5, fast: true, built: '2026-01-31', kind: 'Cargo', tag: ['a'], note: '5' }
    expect((await sent('GET', `/~acme/${type}/${id}`)).body).toMatchObject({ ...now, $version: 7 })
    const { body: found } = await sent('GET', `/~acme/${type}?filter=${filter({ size: { $gt: 12 }, tag: 'a' })}`)
    expect(found.total).toBe(1)
    expect((await sent('GET', `/~acme/${type}/${id}?asOf=${before}`)).body).toMatchObject({
      size: ' 12.5 ',
      fast: 'Yes',
    })
    expect((await sent('POST', `/~acme/${type}/${id}/rollback`, { asOf: before })).body).toMatchObject(now)
  })

  verifies('retype.refuses', 'names the entities that cannot be converted, and then changes nothing', async () => {
    const type = await declared({ size: 'string', code: 'string' })
    const good = await made(type, { size: '1', code: '5' })
    const bad = await made(type, { size: 'large', code: '5.0' })
    const empty = await made(type, {})

    const number = await retype(type, 'size', 'number')
    const required = await retype(type, 'size', 'string!')
    const unique = await retype(type, 'code', 'number##')
    const relation = await retype(type, 'size', '-> Contact')
    const odd = await retype(type, 'size', 'nmber')

    expect([number.status, number.body.failed]).toEqual([422, 1])
    expect(number.body.details).toEqual([{ id: bad, field: 'size', message: 'must be a number' }])
    expect(required.body.details).toEqual([{ id: empty, field: 'size', message: 'is required' }])
    expect([unique.status, relation.status, odd.status]).toEqual([409, 422, 422])
    expect((await sent('GET', `/~acme/${type}/${good}`)).body).toMatchObject({ size: '1', $version: 1 })
    expect((await sent('GET', `/~acme/schema/${type}`)).body.notation).toEqual({
      $domain: 'custom',
      size: 'string',
      code: 'string',
    })
  })

  test('changes a field of a built-in type for this tenant alone', async () => {
    const { body } = await sent('POST', '/~acme/Contact', { name: 'Ada', leadScore: 5 })

    const answer = await retype('Contact', 'leadScore', 'number 0..10')

    expect(answer.body.type.fields.leadScore).toMatchObject({ min: 0, max: 10 })
    expect((await sent('PUT', `/~acme/Contact/${body.$id}`, { leadScore: 11 })).status).toBe(422)
    expect((await sent('GET', '/~globex/schema/Contact')).body.fields.leadScore.max).toBeUndefined()
  })

  test('and a rename need an administrator of the platform', async () => {
    const type = await declared({ a: 'string' })
    const writer = types.host.as(await types.host.key('acme', 'write:all'))

    const answers = [
      await writer('POST', `/~acme/schema/${type}/rename`, { from: 'a', to: 'b' }),
      await writer('POST', `/~acme/schema/${type}/retype`, { field: 'a', to: 'number' }),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 403])
  })
})

verifies('schema.about', 'a declaration with only $ keys keeps the fields and verbs', async () => {
  const type = await declared({ name: 'string!', status: 'A | B = A', go: { from: 'A', set: { status: 'B' } } })

  const { body } = await sent('PUT', `/~acme/schema/${type}`, { $guarded: true })
  const { body: more } = await sent('PUT', `/~acme/schema/${type}`, { $strict: true })

  expect(Object.keys(body.fields)).toEqual(['name', 'status'])
  expect([more.guarded, more.strict, Object.keys(more.verbs).includes('go')]).toEqual([true, true, true])
})
