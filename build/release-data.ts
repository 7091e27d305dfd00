// Keeps a data folder as this version writes it, so that every later version is tested to open it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tildebase } from '@tildebase/client'
import { localTildebase } from '@tildebase/server'

const RELEASES = join(import.meta.dirname, '..', 'test', 'releases')

/** Writes `test/releases/<version>.tgz`. */
export async function keepData(version: string): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'tildebase-release-'))
  const local = await localTildebase({ tenant: 'acme', path })
  const $ = tildebase(local)
  await $.request('PUT', '/schema/Ship', {
    body: { name: 'string!', registration: 'string##', captain: '-> Contact.ships' },
  })
  const ada = await $.Contact.create({ name: 'Ada', email: 'ada@example.com' })
  await $.Contact.qualify(ada.$id)
  const gone = await $.Contact.create({ name: 'Bob' })
  await $.Contact.delete(gone.$id)
  await $.Deal.create({ name: 'Engine', value: 1000, contact: ada.$id })
  await $.request('POST', '/Ship', { body: { name: 'Beagle', registration: 'B-1', captain: ada.$id } })
  await $.Webhook.create({ url: 'https://receiver.example/hook', events: ['Contact.*'] })
  await local.close()
  rmSync(join(path, 'template.db'), { force: true })
  mkdirSync(RELEASES, { recursive: true })
  execFileSync('tar', ['-czf', join(RELEASES, `${version}.tgz`), '-C', path, '.'])
  rmSync(path, { recursive: true })
}

if (import.meta.main) {
  await keepData(JSON.parse(readFileSync(join(RELEASES, '..', '..', 'package.json'), 'utf8')).version)
}
