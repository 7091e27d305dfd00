import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readSettings } from '../../host/settings/settings.ts'
import { TenantFiles } from '../sqlite/files.ts'
import { WorkerPool } from './worker-pool.ts'

let data: string
let crew: WorkerPool

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'tildebase-crew-'))
  new TenantFiles(data).prepare()
  crew = new WorkerPool(readSettings({ data, workers: '1' }, {}), { book: () => {} })
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
