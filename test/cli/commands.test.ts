import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { verifyWebhook } from '@tildebase/client'
import { LocalStore } from '@tildebase/client/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { COMMAND } from '../prepare/command.ts'
import { COMPILED, type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
let tilde: Tilde
beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT, TILDE_TENANT: 'acme' })
})
afterAll(() => host.stop())

describe('keys and profiles', () => {
  test('a key is made, shown once, used and revoked', async () => {
    const { json: key } = await tilde('keys', 'create', 'ci', '--scopes', 'read:crm', '--json')
    // The tenant is that of the key.
    const other = tildeWith({ TILDE_URL: host.url, TILDE_KEY: key.secret })

    const allowed = await other('Contact.count')
    const narrow = await other('Contact.create', '--name', 'x')
    const listed = await tilde('keys', 'list')
    const revoked = await tilde('keys', 'revoke', key.$id, '--json')
    const refused = await other('Contact.count')

    expect(allowed).toMatchObject({ code: 0, out: '0\n' })
    expect(narrow.code).toBe(1)
    expect(listed.out).toContain(key.$id)
    expect(listed.out).not.toContain(key.secret)
    expect(revoked.json.status).toBe('Revoked')
    expect(refused.code).toBe(2)
  })

  test('a profile is kept for its owner alone, and a flag overrides a variable, which overrides it', async () => {
    const own = tildeWith({})
    const { json: key } = await tilde('keys', 'create', 'me', '--json')
    const wrong = await own('login', '--url', host.url, '--key', `tb_${'x'.repeat(40)}~acme`)
    const right = await own.fed(`${key.secret}\n`, 'login', 'work', '--url', host.url)
    const used = await own('Contact.count')
    const beaten = await own('Contact.count', '--key', 'tb_wrong')
    const file = join(own.folder, '.config', 'tilde', 'profiles.json')
    const mode = statSync(file).mode & 0o777
    const unknown = await own('Contact.count', '--profile', 'home')
    const out = await own('logout', 'work')

    expect([wrong.code, right.code, used.code, beaten.code, out.code]).toEqual([2, 0, 0, 2, 0])
    expect(mode).toBe(0o600)
    expect(unknown.err).toBe('tilde: There is no profile home; there is work. Create one: tilde login\n')
    expect(readFileSync(file, 'utf8')).not.toContain(key.secret)
    expect((await own('Contact.count')).err).toContain('No key was given.')
  })

  // As a service of systemd, where libnss-systemd is not installed.
  const nameless = ['--user', '--map-user=4711']
  test.skipIf(spawnSync('unshare', [...nameless, 'true']).status !== 0)(
    'a user without a name and a home needs no profile, and cannot save one',
    async () => {
      const place = { TILDE_KEY: ROOT, TILDE_URL: host.url, TILDE_TENANT: 'acme' }
      const options = { env: { ...COMPILED, ...place, XDG_CACHE_HOME: tilde.folder } }
      const run = async (...args: string[]) => {
        const child = spawn('unshare', [...nameless, process.execPath, COMMAND, ...args], options)
        return Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
      }

      const [counted, saved] = await Promise.all([run('Contact.count'), run('login', '--key', ROOT)])

      expect(counted).toEqual([[0, null], expect.stringMatching(/^\d+\n$/), ''])
      expect(saved[2]).toBe(
        'tilde: This user has no home folder for the profile. Set HOME or XDG_CONFIG_HOME to a folder.\n',
      )
    },
  )
})

describe('files', () => {
  test('rows are imported from CSV, NDJSON and JSON, also compressed; refused rows are reported', async () => {
    const put = (name: string, content: string | Uint8Array) => writeFileSync(join(tilde.folder, name), content)
    put('a.csv', 'name,email\nA,a@x.org\n,b@x.org\n')
    put('b.ndjson.gz', gzipSync('{"name":"B"}\n{"name":"C"}\n'))

    const csv = await tilde('import', 'a.csv', '--type', 'Lead')
    const packed = await tilde('import', 'b.ndjson.gz', '--type', 'Lead', '--json')
    const piped = await tilde.fed('[{"name":"D"}]', 'import', '-', '--type', 'Lead', '--format', 'json', '--json')

    expect(csv).toMatchObject({ code: 1, out: expect.stringContaining('imported\t1\n') })
    expect(csv.err).toMatch(/^row 1 \(line 3\): .*required/m)
    expect(packed.json).toMatchObject({ success: true, imported: 2, errors: 0 })
    expect(piped.json.imported).toBe(1)
    expect((await tilde('import', 'a.xls', '--type', 'Lead')).err).toContain('The format of a.xls is unknown')
    expect((await tilde('import', 'no.csv', '--type', 'Lead')).err).toMatch(/^tilde: There is no file .*no\.csv\.\n$/)
  })

  test('a type goes out to standard output or to a file', async () => {
    const csv = await tilde('export', 'Lead', '--format', 'csv', '--fields', 'name')
    await tilde('export', 'Lead', '-o', 'leads.ndjson', '--filter', '{"name":"A"}')

    expect(csv.out.split('\n').length).toBeGreaterThan(2)
    const lines = readFileSync(join(tilde.folder, 'leads.ndjson'), 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).name)).toEqual(['A'])
    expect((await tilde('export', 'Leed', '-o', 'no.csv')).code).toBe(2)
    expect(existsSync(join(tilde.folder, 'no.csv'))).toBe(false)
  })

  test('a local store and the service are brought together', async () => {
    const file = join(tilde.folder, 'store.json')
    await tilde('Contact.create', '--name', 'There')
    const first = await tilde('sync', 'store.json', '--types', 'Contact', '--json')
    const store = new LocalStore(JSON.parse(readFileSync(file, 'utf8')))
    const id = store.create('Contact', { name: 'Here' })
    store.create('Contact', {})
    writeFileSync(file, JSON.stringify(store.state))
    const second = await tilde('sync', 'store.json', '--types', 'Contact', '--json')

    expect(first.json.received).toBeGreaterThan(0)
    expect(store.all('Contact').map(({ data }) => data.name)).toContain('There')
    expect(second).toMatchObject({ code: 1, json: { applied: 1, rejected: 1 } })
    expect((await tilde('Contact.get', id, '--json')).json.name).toBe('Here')
  })

  test('a tenant is listed, backed up, restored, forked, verified and deleted', async () => {
    await tilde('Contact.create', '--name', 'Ada')
    const backup = await tilde('backup', 'acme', '-o', 'acme.db')
    const restored = await tilde('restore', 'acme.db', '--as', 'acme-restored')
    const forked = await tilde('fork', 'acme', 'acme-fork')
    const verified = await tilde('verify', 'acme-restored', '--json')
    const listed = await tilde('tenants', 'list')
    const unsure = await tilde('tenants', 'delete', 'acme-fork')
    const deleted = await tilde('tenants', 'delete', 'acme-fork', '--yes')

    expect([backup, restored, forked, deleted].map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(verified.json.ok).toBe(true)
    expect(listed.out).toMatch(/^acme\t\d+\nacme-fork\t\d+\nacme-restored\t\d+\n$/)
    expect(unsure).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
    expect((await tilde('tenants', 'info', 'acme-fork')).code).toBe(1)
    expect((await tilde('cluster', 'status')).err).toContain('This server is not a node of a cluster.')
  })
})

describe('events', () => {
  test('what happened is listed, and what happens is followed', async () => {
    const { json: page } = await tilde('events', '--type', '*.created', '--limit', '1000', '--json')
    const child = tilde.start('events', '--follow', '--type', 'Contact', '--cursor', String(page.cursor), '--json')
    const line = new Promise<string>((done) => child.stdout!.once('data', (chunk) => done(String(chunk))))
    await tilde('Contact.create', '--name', 'Followed')

    expect(JSON.parse(await line)).toMatchObject({ type: 'Contact.created', data: { name: 'Followed' } })
    child.kill('SIGTERM')
  })

  test('events are forwarded to a program on this machine, signed', async () => {
    const secret = 'whsec_dGhpcyBpcyBhIHNlY3JldCBvZiB0ZXN0cw=='
    const got = Promise.withResolvers<any>()
    const receiver = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      response.end()
      verifyWebhook({ headers: request.headers, body }, secret).then(got.resolve, got.reject)
    })
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    const child = tilde.start('webhooks', 'listen', '--forward-to', url, '--events', 'Contact.*', '--secret', secret)
    await new Promise((done) => child.stdout!.once('data', done))
    await tilde('Deal.create', '--name', 'Engine')
    await tilde('Contact.create', '--name', 'Forwarded')

    expect(await got.promise).toMatchObject({ type: 'Contact.created', data: { name: 'Forwarded' } })
    child.kill('SIGTERM')
    receiver.close()
  })

  test('webhooks are made, listed, rotated, tried, repeated and deleted', async () => {
    const { json: hook } = await tilde('webhooks', 'create', 'http://127.0.0.1:9/x', '--events', 'Deal.won', '--json')
    const listed = await tilde('webhooks', 'list')
    const rotated = await tilde('webhooks', 'rotate', hook.$id, '--json')
    const deliveries = await tilde('webhooks', 'deliveries', hook.$id, '--json')
    const tested = await tilde('webhooks', 'test', hook.$id, '--json')
    const again = await tilde('webhooks', 'redeliver', hook.$id, '--json')
    const deleted = await tilde('webhooks', 'delete', hook.$id)

    expect([tested.code, again.code]).toEqual([0, 0])
    expect(hook.secret).toMatch(/^whsec_/)
    expect(listed.out).toContain(hook.$id)
    expect(rotated.json.secret).not.toBe(hook.secret)
    expect(deliveries.json.results).toEqual([])
    expect(deleted.code).toBe(0)
  })
})

describe('types and code', () => {
  test('a type is declared, shown and used', async () => {
    const put = await tilde.fed('{"name":"string!","sail":{"event":"sailed"}}', 'schema', 'put', 'Boat', '-')
    const shown = await tilde('schema', 'Boat')
    const { json: boat } = await tilde('Boat.create', '--name', 'Beagle', '--json')

    expect(put.code).toBe(0)
    expect(shown.out).toContain('name\tstring!\n')
    expect((await tilde('Boat.sail', boat.$id, '--json')).json.$version).toBe(2)
    expect((await tilde('schema')).out).toMatch(/^Contact\tcrm\tcontacts\t/m)
    expect((await tilde('completion', 'words', '--', 'Boat.s')).out).toBe('Boat.sail\n')
    expect((await tilde('completion', 'words', '--', 'Boa')).out).toBe('Boat.\n')
  })

  test('code runs next to the data; a dry run leaves no trace', async () => {
    const dry = await tilde(
      'do',
      '--code',
      "await $.Contact.create({name: 'Dry'}); console.log('hi')",
      '--dry-run',
      '--json',
    )
    const counted = await tilde.fed("await $.Contact.count({name: 'Dry'})", 'do', '--code', '-')

    expect(dry.json).toMatchObject({ logs: ['hi'], events: [{ type: 'Contact.created' }] })
    expect(counted).toMatchObject({ code: 0, out: '0\n' })
    expect(await tilde('do')).toMatchObject({ code: 2, err: expect.stringContaining('Give a verb') })
  })
})

describe('the command itself', () => {
  test('without a command it says which there are, and fails', async () => {
    const { code, out, err } = await tilde()

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect((await tilde('help')).out).toBe(err)
    expect((await tilde('Deal.win', '--help')).out).toContain('tilde Deal.win ID')
    expect((await tilde('version')).out).toMatch(/^tilde \d+\.\d+\.\d+ \(Node v\d+/)
    expect((await tilde('--version')).out).toBe((await tilde('version')).out)
  })

  test('a reader that has seen enough is not a failure', async () => {
    const child = tilde.start('schema')
    child.stdout!.destroy()
    const code = await new Promise((done) => child.on('exit', done))

    expect(code).toBe(0)
  })

  test('doctor finds what is wrong', async () => {
    const well = await tilde('doctor', '--json')
    const ill = await tilde('doctor', '--key', 'tb_wrong', '--json')

    expect(well.json.map(({ check }: { check: string }) => check)).toEqual(['node', 'server', 'clock', 'key', 'disk'])
    expect(well.json.find(({ check }: { check: string }) => check === 'key').state).toBe('ok')
    expect(ill).toMatchObject({ code: 2 })
    expect(ill.json.find(({ check }: { check: string }) => check === 'key').state).toBe('wrong')
  })

  test('a project is made once', async () => {
    const made = await tilde('init', 'fleet')
    const again = await tilde('init', 'fleet')

    expect(made.out).toContain('Next: cd fleet && npm install && npm run dev')
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('already exists')])
  })
})
