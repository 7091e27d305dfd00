import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testHost } from '../host.ts'

const RELEASES = globSync(join(import.meta.dirname, '..', 'releases', '*.tgz')).toSorted()

describe.each(RELEASES.map((file) => [basename(file, '.tgz'), file]))('the data folder of %s', (_, file) => {
  test('opens with everything in it, keeps its past, and is written to', async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-upgrade-'))
    execFileSync('tar', ['-xzf', file, '-C', data])
    const host = await testHost({}, { data })
    const get = async (path: string) => (await host.request('GET', `/~acme/${path}`)).body
    const [ada] = (await get('Contact')).results
    const { results: versions } = await get(`Contact/${ada.$id}/history`)

    expect(ada).toMatchObject({ name: 'Ada', email: 'ada@example.com', stage: 'Qualified', $version: 2 })
    expect((await get(`Contact/${ada.$id}?asOf=${versions.at(-1).timestamp}`)).stage).toBe('Lead')
    expect((await get('Ship?captain.name=Ada')).results).toMatchObject([{ name: 'Beagle', registration: 'B-1' }])
    expect((await get('Deal?filter={"$text":"engi"}')).results).toMatchObject([{ value: 1000, contact: ada.$id }])
    expect((await get('webhooks')).results).toMatchObject([{ url: 'https://receiver.example/hook' }])
    expect((await get('events?type=Contact')).results.map(({ type }: { type: string }) => type)).toEqual([
      'Contact.created',
      'Contact.qualified',
      'Contact.created',
      'Contact.deleted',
    ])
    expect((await host.request('PUT', `/~acme/Contact/${ada.$id}`, { name: 'Ada Lovelace' })).body.$version).toBe(3)
    expect((await host.request('GET', '/operator/tenants/acme/verify')).body).toMatchObject({ ok: true })
    await host.stop()
    rmSync(data, { recursive: true, force: true })
  })
})

test('every released version has its data folder', () => {
  expect(RELEASES.map((file) => basename(file, '.tgz'))).toContain('0.1.0')
})
