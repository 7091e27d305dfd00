import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readSettings } from '../../host/settings/settings.ts'
import { TenantFiles } from '../sqlite/files.ts'
import { WorkerPool } from './worker-pool.ts'

let data: string
let crew: WorkerPool
let booked: Set<string>

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'tildebase-crew-'))
  new TenantFiles(data).prepare()
  booked = new Set()
  crew = new WorkerPool(readSettings({ data, workers: '1' }, {}), { book: (slug) => void booked.add(slug) })
  await crew.start()
})

afterEach(async () => {
  await crew.close()
  rmSync(data, { recursive: true })
})

test('all calls of a tenant have their turn, and none is refused for their number', async () => {
  const calls = Array.from({ length: 1_200 }, () => crew.verify('acme', 'a secret'))

  expect(await Promise.all(calls)).toEqual(Array(1_200).fill(false))
})

test('a problem in a worker is the same problem in the thread that asked', async () => {
  await expect(crew.task('acme', { do: 'info' })).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no tenant acme.',
    about: { id: 'acme' },
  })
})

test('a tenant that is unused is closed when its alarm is on the disk, and not before', async () => {
  const onDisk = Promise.withResolvers<void>()
  const slugs = ['t0', 't1']
  const asked: string[] = []
  const setAlarm = (slug: string) => {
    asked.push(slug)
    return onDisk.promise
  }
  const small = new WorkerPool(readSettings({ data, workers: '1' }, { TILDE_OPEN_TENANTS: '1' }), {
    book: () => {},
    host: { readOther: (call) => small.handle(call), setAlarm, claimAddresses: () => [] },
  })
  const isOpen = (slug: string) => existsSync(`${new TenantFiles(data).pathOf(slug)}-wal`)
  await small.start()
  for (const slug of slugs) {
    await small.task(slug, { do: 'create' })
    await small.wake(slug)
  }

  await expect.poll(() => asked, { timeout: 10_000 }).toEqual(['t0'])
  expect(slugs.map(isOpen)).toEqual([true, true])
  onDisk.resolve()
  await expect.poll(() => slugs.map(isOpen)).toEqual([false, true])
  await small.close()
})

test('every tenant that is open is booked when the thread is ended before it has closed all', async () => {
  const slugs = Array.from({ length: 100 }, (_, i) => `t${i}`)
  for (const slug of slugs) await crew.task(slug, { do: 'create' })
  await Promise.all(slugs.map((slug) => crew.wake(slug)))

  await crew.close(1)

  expect(slugs.filter((slug) => !booked.has(slug))).toEqual([])
})
