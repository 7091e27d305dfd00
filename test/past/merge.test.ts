import { afterAll, beforeAll, expect } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

const read = async (path: string) => (await host.request('GET', path)).body
const row = (source: string, verb: string, day: string, data: object) => ({
  type: 'Contact',
  source,
  verb,
  timestamp: `2024-01-${day}T00:00:00Z`,
  data,
})
const past = (tenant: string, rows: object[]) => host.request('POST', `/~${tenant}/import/history`, rows)

verifies(
  ['merge.replay', 'merge.first'],
  'tilde history merge replays logs by time into a new tenant, whose past is that of all',
  async () => {
    const tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT })
    await host.request('PUT', '/~left/schema/Boat', { name: 'string!' })
    await host.request('PUT', '/~right/schema/Car', { name: 'string!##' })
    await host.request('POST', '/~left/User', { name: 'Eve', email: 'eve@x.y' })
    await host.request('POST', '/~right/User', { name: 'Max', email: 'max@x.y' })
    await past('left', [row('a:1', 'create', '01', { name: 'Ada' }), row('a:1', 'update', '05', { name: 'Ada King' })])
    await past('right', [row('b:1', 'create', '03', { name: 'Bob' }), row('b:1', 'delete', '07', {})])
    await host.request('POST', '/~right/Car', { name: 'Beetle' })
    await host.request('POST', '/~left/Boat', { name: 'Argo' })

    const dry = await tilde('history', 'merge', 'left', 'right', '--into', 'whole', '--dry-run', '--json')
    const before = await host.tenants()
    const done = await tilde('history', 'merge', 'left', 'right', '--into', 'whole', '--json')

    expect(dry.json).toMatchObject({ conflicts: [] })
    expect(before).not.toContain('whole')
    expect(done).toMatchObject({ code: 0 })
    const names = async (day: string) =>
      (await read(`/~whole/Contact?asOf=2024-01-${day}T12:00:00Z&sort=name`)).results.map(({ name }: any) => name)
    expect([await names('01'), await names('03'), await names('05'), await names('07')]).toEqual([
      ['Ada'],
      ['Ada', 'Bob'],
      ['Ada King', 'Bob'],
      ['Ada King'],
    ])
    const [ada] = (await read('/~left/Contact')).results
    expect((await read(`/~whole/Contact/${ada.$id}`)).name).toBe('Ada King')
    expect((await read('/~whole/User')).results.map(({ name }: any) => name)).toEqual(['Eve'])
    expect((await read('/~whole/Boat')).total + (await read('/~whole/Car')).total).toBe(2)
    expect((await read('/operator/tenants/whole/verify')).ok).toBe(true)
  },
  60_000,
)

verifies(
  'merge.conflicts',
  'tilde history merge lists what two logs do not agree on, and writes nothing',
  async () => {
    const tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT })
    await host.request('PUT', '/~one/schema/Boat', { name: 'string!' })
    await host.request('PUT', '/~two/schema/Boat', { name: 'string!', size: 'number' })
    const id = 'contact_00000000000000009'
    await past('one', [
      row('s:1', 'create', '01', { name: 'A', email: 'same@x.y' }),
      { ...row('s:2', 'create', '02', { name: 'B' }), source: undefined, id },
    ])
    await past('two', [
      row('s:1', 'create', '03', { name: 'C', email: 'same@x.y' }),
      { ...row('s:3', 'create', '04', { name: 'D' }), source: undefined, id },
    ])

    const done = await tilde('history', 'merge', 'one', 'two', '--into', 'three', '--json')

    expect(done.code).not.toBe(0)
    expect(
      JSON.parse(done.out)
        .conflicts.map(({ what }: any) => what)
        .sort(),
    ).toEqual(['id', 'source', 'type', 'unique'])
    expect(await host.tenants()).not.toContain('three')
  },
  60_000,
)
