import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let host: TestApp

beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

interface Operation {
  readonly kind: 'read' | 'write'
  readonly value: string
  readonly version: number
  readonly began: number
  readonly ended: number
}

test('concurrent updates under If-Match lose no update', async () => {
  const { body } = await host.request('POST', '/~acme/Contact', { name: 'counter', count: 0 })
  const path = `/~acme/Contact/${body.$id}`
  let refused = 0

  const add = async () => {
    for (;;) {
      const seen = await host.request('GET', path)
      const reply = await host.request(
        'PUT',
        path,
        { count: seen.body.count + 1 },
        { 'if-match': seen.headers.get('etag')! },
      )
      if (reply.status === 200) return
      expect(reply.status).toBe(412)
      refused++
    }
  }
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 10; i++) await add()
    }),
  )

  const { body: last } = await host.request('GET', path)
  expect([last.count, last.$version]).toEqual([80, 81])
  expect(refused).toBeGreaterThan(0)
})

test('a recorded history of one entity is linearizable', async () => {
  const { body } = await host.request('POST', '/~acme/Contact', { name: 'register', value: 'v0' })
  const path = `/~acme/Contact/${body.$id}`
  const history: Operation[] = []

  await Promise.all(
    Array.from({ length: 10 }, async (_, client) => {
      for (let i = 0; i < 30; i++) {
        const kind = (client + i) % 3 === 0 ? 'write' : 'read'
        const value = `c${client}-${i}`
        const began = performance.now()
        const reply = kind === 'write' ? await host.request('PUT', path, { value }) : await host.request('GET', path)
        history.push({ kind, value: reply.body.value, version: reply.body.$version, began, ended: performance.now() })
      }
    }),
  )

  expect(linearizationFaults(history)).toEqual([])
})

test('the checker finds a history that is not linearizable', () => {
  const stale: Operation[] = [
    { kind: 'write', value: 'a', version: 2, began: 0, ended: 1 },
    { kind: 'read', value: 'v0', version: 1, began: 2, ended: 3 },
  ]

  expect(linearizationFaults(stale)).toHaveLength(1)
})

/** Versions order the operations; the order must agree with real time, and a version must have one value. */
function linearizationFaults(history: readonly Operation[]): string[] {
  const faults: string[] = []
  const values = new Map<number, string>()
  for (const { version, value } of history) {
    const known = values.get(version)
    if (known !== undefined && known !== value) faults.push(`version ${version} is both ${known} and ${value}`)
    values.set(version, value)
  }
  for (const a of history) {
    for (const b of history) {
      if (a.ended < b.began && a.version > b.version)
        faults.push(`version ${b.version} was seen after version ${a.version}`)
    }
  }
  const writes = history.filter(({ kind }) => kind === 'write').map(({ version }) => version)
  if (new Set(writes).size !== writes.length) faults.push('two writes made one version')
  return faults
}
