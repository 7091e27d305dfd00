import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Wire } from '@tildebase/client'
import { afterAll, expect, test } from 'vitest'
import { sendContents } from '../../packages/cli/src/backup/contents.ts'
import { folderPlace } from '../../packages/cli/src/backup/place.ts'
import { Spool } from '../../packages/cli/src/connect/spool.ts'

const folder = mkdtempSync(join(tmpdir(), 'tildebase-hostile-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a service that misses content gets nothing but content of the backup', async () => {
  const backup = join(folder, 'backup')
  const digits = 'a'.repeat(64)
  mkdirSync(join(backup, 'files'), { recursive: true })
  writeFileSync(join(backup, 'files', digits), 'content')
  writeFileSync(join(backup, 'tenant.json'), 'hashes of keys')
  writeFileSync(join(folder, 'private.key'), 'private')
  const sent: string[] = []
  const wire = {
    send: async (path: string) => {
      sent.push(path)
      return new Response()
    },
  } as unknown as Wire
  const restore = (...missing: string[]) => sendContents(wire, '/operator/tenants/acme', folderPlace(backup), missing)

  expect(await restore(`sha256:${digits}`)).toBe(0)
  for (const name of [
    'sha256:../../private.key',
    'sha256:../tenant.json',
    `sha256:${digits}/../../tenant.json`,
    '../..',
  ])
    await expect(restore(name), name).rejects.toThrow('is not a hash')
  expect(sent).toEqual([`/operator/tenants/acme/files/sha256:${digits}`])
})

test('a spool belongs to its user alone, and removes nothing that it did not write', () => {
  const path = join(folder, 'spool')
  mkdirSync(path)
  writeFileSync(join(path, 'finished'), '')
  writeFileSync(join(path, 'thesis.txt'), 'three years')

  const spool = new Spool(path)
  spool.finish()

  const modes = ['answers', 'finished'].map((name) => statSync(join(path, name)).mode & 0o077)
  expect(modes).toEqual([0, 0])
  expect(statSync(join(path, 'thesis.txt')).size).toBe(11)
})
