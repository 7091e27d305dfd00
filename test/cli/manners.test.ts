import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
let tilde: Tilde
beforeAll(async () => {
  host = await testHost()
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT, TILDE_TENANT: 'manners' })
})
afterAll(() => host.stop())

describe('help and version', () => {
  test('-h is --help and -v is --version', async () => {
    expect((await tilde('-h')).out).toBe((await tilde('--help')).out)
    expect((await tilde('export', '-h')).out).toBe((await tilde('export', '--help')).out)
    expect(await tilde('-v')).toMatchObject({ code: 0, out: expect.stringMatching(/^tilde \d/) })
    expect((await tilde('-v')).out).toBe((await tilde('--version')).out)
  })

  test('a flag that there is not is named, with the nearest', async () => {
    expect(await tilde('--verson')).toMatchObject({
      code: 2,
      out: '',
      err: 'tilde: There is no flag --verson; did you mean --version?\n',
    })
  })
})

describe('an export', () => {
  test('does not write JSON into a file that is called otherwise', async () => {
    const { code, err } = await tilde('export', 'Contact', '-o', 'c.xlsx')

    expect([code, err]).toEqual([2, expect.stringContaining('.xlsx is not an export format')])
    expect(existsSync(join(tilde.folder, 'c.xlsx'))).toBe(false)
    expect((await tilde('export', 'Contact', '-o', 'c.txt', '--format', 'csv')).code).toBe(0)
    expect(readFileSync(join(tilde.folder, 'c.txt'), 'utf8')).toMatch(/^\$id,/)
  })

  test('tells of a folder that is not there', async () => {
    const { code, err } = await tilde('export', 'Contact', '-o', 'missing/c.csv')

    expect([code, err]).toEqual([2, 'tilde: The folder missing for c.csv does not exist.\n'])
  })
})

describe('--as-of and --dry-run', () => {
  test('are refused where they would be ignored, and nothing is written', async () => {
    const before = (await tilde('Contact.count')).out

    for (const args of [
      ['Contact.create', '--name', 'Ada', '--as-of', '2026-01-01'],
      ['webhooks', 'create', 'https://example.com/', '--events', '*', '--dry-run'],
      ['tenants', 'delete', 'manners', '--yes', '--dry-run'],
      ['keys', 'list', '--as-of', '2026-01-01'],
    ]) {
      const { code, err } = await tilde(...args)

      expect([args[0], code, err]).toEqual([args[0], 2, expect.stringMatching(/does not support --(as-of|dry-run)/)])
    }
    expect((await tilde('Contact.count')).out).toBe(before)
  })

  test('a dry run of revoking a key leaves it as it is', async () => {
    const { json: key } = await tilde('keys', 'create', 'ci', '--scopes', 'read:crm', '--json')

    expect((await tilde('keys', 'revoke', key.$id, '--dry-run', '--json')).json.status).toBe('Revoked')
    expect((await tilde('keys', 'list', '--json')).json.results.find(({ $id }: any) => $id === key.$id).status).toBe(
      'Active',
    )
  })

  test('--as-of takes what the service takes', async () => {
    await tilde('Contact.create', '--name', 'Ada')

    expect((await tilde('Contact.count', '--as-of', '0')).out).toBe('0\n')
    expect((await tilde('Contact.count', '--as-of', 'now')).out).not.toBe('0\n')
  })
})

describe('--json', () => {
  test('makes errors JSON too, on standard error', async () => {
    const refused = await tilde('Contact.get', 'contact_none', '--json')
    const misused = await tilde('Contact.fnd', '--json')

    expect([refused.code, refused.out, JSON.parse(refused.err)]).toEqual([
      1,
      '',
      expect.objectContaining({ error: 'not_found', type: 'Contact', id: 'contact_none', message: expect.any(String) }),
    ])
    expect([misused.code, JSON.parse(misused.err).error]).toEqual([2, 'usage'])
  })
})

describe('a server that cannot start', () => {
  test('names the port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo

    const { code, err } = await tildeWith({ TILDE_ROOT_KEY: ROOT })('serve', '--port', String(port))

    expect([code, err]).toEqual([2, expect.stringContaining(`Port ${port} of 127.0.0.1 is in use.`)])
  })

  test.each(['0', '1'])('names the --config that is not there (%s workers)', async (workers) => {
    const { code, out, err } = await tildeWith({})('serve', '--port', '0', '--config', 'no.ts', '--workers', workers)

    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^tilde: --config no\.ts: there is no file \/.*no\.ts\.\n$/)
  })
})

test('events --follow begins with what happens from now on', async () => {
  await tilde('Contact.create', '--name', 'Before')
  const child = tilde.start('events', '--follow', '--type', 'Contact.created')
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout! })
  const first = once(lines, 'line')
  let id = ''
  // The command has no sign of being ready: what comes first is one of these, and none of those before.
  const made: string[] = []
  for (let i = 0; i < 100 && id === ''; i++) {
    made.push((await host.request('POST', '/~manners/Contact', { name: 'After' })).body.$id)
    id = await Promise.race([
      first.then(([line]) => line as string),
      new Promise<string>((r) => setTimeout(r, 100, '')),
    ])
  }

  expect(made).toContain(id.split('\t')[3])
})

describe('completion', () => {
  const words = async (...typed: string[]) =>
    (await tilde('completion', 'words', '--', ...typed)).out.split('\n').slice(0, -1)

  test.each([
    [['Conta'], ['Contact.']],
    [
      ['keys', ''],
      ['create', 'delete', 'list', 'revoke'],
    ],
    [['webhooks', 're'], ['redeliver']],
    [
      ['completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [['help', 'exp'], ['export']],
    [['export', 'Conta'], ['Contact']],
    [['schema', 'put', 'Conta'], ['Contact']],
    [['export', 'Contact', '--fo'], ['--format']],
    [['export', 'Contact', '--format', 'c'], ['csv']],
    [['import', 'x.csv', '--type', 'Conta'], ['Contact']],
    [['Contact.find', '--stag'], ['--stage']],
    [['Contact.find', '--stage', 'Cu'], ['Customer']],
    [
      ['Contact.find', '--stage', 'Customer', '--so'],
      ['--sort', '--source'],
    ],
    [['nonsense', ''], []],
  ])('of %j is %j', async (typed, expected) => {
    expect(await words(...typed)).toEqual(expected)
  })
})
