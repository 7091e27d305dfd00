import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Alarms } from '../../packages/server/src/node/tenants/alarms.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tildebase-alarms-'))
  path = join(folder, 'alarms.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Alarms whose file cannot be used: neither by the connection, nor by another one. */
function failing(): { alarms: Alarms; woken: string[]; repair: () => void } {
  new Alarms(path, async () => {}).close()
  const woken: string[] = []
  const alarms = new Alarms(path, async (slug) => void woken.push(slug))
  const whole = readFileSync(path)
  writeFileSync(path, Buffer.alloc(whole.length, 0xa5))
  return { alarms, woken, repair: () => writeFileSync(path, whole) }
}

test('alarms that a disk has refused ring when it takes them again, however often it was tried before', async () => {
  const { alarms, woken, repair } = failing()

  for (let i = 0; i < 3; i++) alarms.book('acme', Date.now())
  repair()
  await expect.poll(() => woken, { timeout: 5_000 }).toEqual(['acme'])

  alarms.close()
})

test('alarms that a disk refuses until a stop leave no file: all tenants are woken without it', () => {
  const { alarms } = failing()
  alarms.book('acme', Date.now())
  alarms.book('acme', Date.now())

  alarms.close()

  expect(existsSync(path)).toBe(false)
})
