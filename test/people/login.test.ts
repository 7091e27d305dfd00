import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { decide } from './agents.ts'
import { type Browser, person } from './people.ts'

let host: TestHost
let ada: Browser
beforeAll(async () => {
  host = await testHost()
  ada = await person(host, 'acme', { email: 'ada@example.org', role: 'Member' })
  await ada.send('POST', '/~acme/Contact', { name: 'Grace' })
})
afterAll(() => host.stop())

const profilesOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, '.config', 'tilde', 'profiles.json'), 'utf8')).profiles

/** Waits until a string is there. */
async function until(found: () => string | undefined): Promise<string> {
  for (;;) {
    const text = found()
    if (text !== undefined) return text
    await new Promise((done) => setTimeout(done, 20))
  }
}

verifies(
  'cli.login',
  'tilde login opens the browser and keeps what the person allowed',
  async () => {
    const tilde = tildeWith({})
    const asked = join(tilde.folder, 'asked')
    const browser = join(tilde.folder, 'browser')
    writeFileSync(browser, `#!/bin/sh\nprintf '%s' "$1" > '${asked}'\n`)
    chmodSync(browser, 0o755)
    const own = tildeWith({ BROWSER: browser })
    const login = own('login', 'work', '--url', host.url, '--tenant', 'acme', '--scope', 'write:crm')
    const url = new URL(await until(() => (existsSync(asked) ? readFileSync(asked, 'utf8') || undefined : undefined)))
    const answer = await decide(ada, `${url.pathname}${url.search}`)
    const page = await (await fetch(answer.headers.get('location')!)).text()
    const ended = await login
    const list = await own('Contact.find', '--json')
    const { work } = profilesOf(own.folder)

    expect(page).toContain('go back to the terminal')
    expect([ended.code, ended.err]).toEqual([0, expect.stringContaining('Sign in with your browser')])
    expect(JSON.stringify(list.json)).toContain('Grace')
    expect(work).toMatchObject({ key: expect.stringMatching(/^tba_/), refresh: expect.stringMatching(/^tbr_/) })
    expect(statSync(join(own.folder, '.config', 'tilde', 'profiles.json')).mode & 0o777).toBe(0o600)

    // A key that is about to end is renewed once, also when several commands need it at the same time.
    const path = join(own.folder, '.config', 'tilde', 'profiles.json')
    const all = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...all, profiles: { work: { ...work, until: Date.now() } } }))
    const codes = await Promise.all([1, 2, 3].map(async () => (await own('Contact.find')).code))
    const renewed = profilesOf(own.folder).work
    expect(codes).toEqual([0, 0, 0])
    expect(renewed.key).not.toBe(work.key)
    expect((await own('Contact.find')).code).toBe(0)

    expect((await own('logout', 'work')).code).toBe(0)
    expect((await host.as(renewed.key)('GET', '/~acme/Contact')).status).toBe(401)
  },
  60_000,
)

verifies(
  'cli.login.device',
  'without a browser it shows a code, and continues when the person has entered it',
  async () => {
    const tilde = tildeWith({})
    const child = tilde.start('login', '--url', host.url, '--tenant', 'acme')
    child.stdin!.end()
    let said = ''
    child.stderr!.setEncoding('utf8').on('data', (text) => {
      said += text
    })
    const code = await until(() => /enter the code (\S+)/.exec(said)?.[1])
    const done = await decide(ada, `/~acme/oauth/device?user_code=${code}`)
    const [exit] = await once(child, 'exit')

    expect(done.status).toBe(200)
    expect(exit).toBe(0)
    expect(profilesOf(tilde.folder).default.key).toMatch(/^tba_/)
  },
  60_000,
)

test('if sign-in is not possible, it says so and what to do instead', async () => {
  const tilde = tildeWith({})
  const { code, err } = await tilde('login', '--url', host.url, '--tenant', 'nobody')

  expect(code).toBe(2)
  expect(err).toContain('tilde login --key')
})
