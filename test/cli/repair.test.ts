import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { tildeWith } from './tilde.ts'

let host: TestHost
const backups = mkdtempSync(join(tmpdir(), 'tildebase-repair-'))
beforeAll(async () => {
  host = await testHost()
})
afterAll(async () => {
  await host.stop()
  rmSync(backups, { recursive: true, force: true })
})

/** The command, at the address that the service has now. */
const tilde = (...args: string[]) => tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT })(...args)

const fileOf = (slug: string) => join(host.data, 'tenants', slug.slice(0, 2), `${slug}.db`)

/** A tenant with three contacts in its backup, a key and two more contacts that are in its file only. */
async function stock(slug: string, option = '--to', from = join(backups, slug)) {
  const create = (name: string) => host.request('POST', `/~${slug}/Contact`, { name })
  for (const name of ['Ada', 'Bob', 'Cyd']) await create(name)
  await tilde('backup', slug, option, from)
  const key = await host.key(slug, 'read:all')
  for (const name of ['Dan', 'Eve']) await create(name)
  return { key, from, head: (await host.request('GET', `/operator/tenants/${slug}/verify`)).body.head }
}

/** Changes the file of a tenant after the service has closed it. */
async function damage(slug: string, change: (path: string) => void): Promise<void> {
  await host.restart()
  change(fileOf(slug))
}

const names = async (slug: string) =>
  (await host.request('GET', `/~${slug}/Contact?sort=name`)).body.results?.map(({ name }: any) => name)

/** Overwrites a word in all places of a file. */
function overwrite(path: string, word: string, by: string): void {
  const bytes = readFileSync(path)
  for (let at = bytes.indexOf(word); at !== -1; at = bytes.indexOf(word, at + 1)) bytes.write(by, at)
  writeFileSync(path, bytes)
}

test.each([
  ['a folder', 'folded', '--to'],
  ['a file', 'filed', '-o'],
])('a tenant damaged where its backup has it is whole again, from %s', async (_, slug, option) => {
  const { key, head, from } = await stock(slug, option)
  await damage(slug, (path) => overwrite(path, 'Bob', 'B0b'))
  const refused = await host.request('GET', `/~${slug}/Contact`)

  const repaired = await tilde('repair', slug, '--from', from, '--json')

  expect([refused.status, repaired.code]).toEqual([503, 0])
  expect(repaired.json).toMatchObject({ tenant: slug, recovered: 3, lost: 0, head: head.hash })
  expect(await names(slug)).toEqual(['Ada', 'Bob', 'Cyd', 'Dan', 'Eve'])
  expect((await host.as(key)('GET', `/~${slug}/Contact`)).status).toBe(200)
  expect((await host.request('GET', `/operator/tenants/${slug}/verify`)).body).toMatchObject({ ok: true, head })
  expect(existsSync(repaired.json.damaged)).toBe(true)
})

test('events after the backup that are damaged too are named, and the rest is in use', async () => {
  const { from } = await stock('late')
  await damage('late', (path) => overwrite(path, 'Dan', 'D4n'))

  const repaired = await tilde('repair', 'late', '--from', from)

  expect(repaired.code).not.toBe(0)
  expect(repaired.err).toMatch(/lost: event 5, Contact\.created of contact_\w+ at 20/)
  expect(repaired.err).toMatch(/lost: event 6, Contact\.created of contact_\w+ at 20/)
  expect(await names('late')).toEqual(['Ada', 'Bob', 'Cyd'])
})

test('a file of which nothing can be read is replaced by its backup', async () => {
  const { from } = await stock('gone')
  await damage('gone', (path) => truncateSync(path, 0))

  const repaired = await tilde('repair', 'gone', '--from', from)

  expect(repaired.code).not.toBe(0)
  expect(repaired.err).toMatch(/lost: the last events, if there were more/)
  expect(await names('gone')).toEqual(['Ada', 'Bob', 'Cyd'])
})

test('a repair that was interrupted is continued, and no write is taken in between', async () => {
  const { head, from } = await stock('halfway')
  await damage('halfway', (path) => overwrite(path, 'Bob', 'B0b'))

  const aside = await host.request('POST', '/operator/tenants/halfway/set-aside')
  const refused = await host.request('POST', '/~halfway/Contact', { name: 'Zoe' })
  await host.restart()
  const still = await host.request('POST', '/~halfway/Contact', { name: 'Zoe' })
  const repaired = await tilde('repair', 'halfway', '--from', from, '--json')

  expect([aside.status, refused.body.error, still.body.error]).toEqual([200, 'restoring', 'restoring'])
  expect(repaired.json).toMatchObject({ recovered: 3, lost: 0, head: head.hash })
})

test('a backup that is damaged leaves the tenant as it is', async () => {
  const { from } = await stock('both')
  overwrite(join(from, '000000000000001.ndjson'), 'Bob', 'B0b')

  const repaired = await tilde('repair', 'both', '--from', from)

  expect(repaired.code).not.toBe(0)
  expect(await names('both')).toEqual(['Ada', 'Bob', 'Cyd', 'Dan', 'Eve'])
})
