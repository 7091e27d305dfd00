import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readSettings } from '../config.ts'
import { TenantFiles } from '../files.ts'
import { WorkerPool } from './worker-pool.ts'

let data: string
let crew: WorkerPool

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'tildebase-crew-'))
  new TenantFiles(data).prepare()
  crew = new WorkerPool(readSettings({ data, workers: '1' }, {}), () => {})
  await crew.start()
})

afterEach(async () => {
  await crew.closeAll()
  rmSync(data, { recursive: true })
})

test('what comes while a thousand calls wait for a worker is refused as busy, and told when to come again', async () => {
  const calls = Array.from({ length: 1_200 }, () => crew.verify('acme', 'a secret'))

  const outcomes = await Promise.allSettled(calls)

  expect(outcomes.slice(0, 1_000)).toEqual(Array(1_000).fill({ status: 'fulfilled', value: false }))
  for (const outcome of outcomes.slice(1_000)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'busy', about: { retryAfter: 1 } } })
  }
  expect(await crew.verify('acme', 'a secret')).toBe(false)
})

test('a problem in a worker is the same problem in the thread that asked', async () => {
  await expect(crew.runTask('acme', { do: 'info' })).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no tenant acme.',
    about: { id: 'acme' },
  })
})
