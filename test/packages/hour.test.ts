import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { tildebase } from '@tildebase/client'
import { afterAll, expect, test } from 'vitest'
import { COMMAND } from '../cli/tilde.ts'
import { BROWSER, startBrowser } from '../console/browser.ts'
import { ROOT, testHost } from '../host.ts'
import { Receiver } from '../receiver.ts'

const HOME = join(import.meta.dirname, '..', '..', '.tmp', `hour-${process.pid}`)
const FLEET = join(HOME, 'fleet')
const SHIP = join(FLEET, 'tilde/types/ship.ts')
const children: ChildProcess[] = []
const env = (more: { [name: string]: string } = {}) => ({ PATH: process.env.PATH, HOME, ...more })
const run = (args: string[], cwd = FLEET, more?: { [name: string]: string }) =>
  promisify(execFile)(process.execPath, args, { cwd, env: env(more), encoding: 'utf8' })

afterAll(async () => {
  for (const child of children.filter(({ exitCode }) => exitCode === null)) {
    child.kill()
    await once(child, 'exit')
  }
  rmSync(HOME, { recursive: true, force: true })
})

/** Starts a program of the project, and waits for what it says. */
async function started(args: string[], awaited: RegExp, more?: { [name: string]: string }) {
  const child = spawn(process.execPath, args, { cwd: FLEET, env: env(more), stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const told = { text: '' }
  child.stdout!.setEncoding('utf8').on('data', (text) => {
    told.text += text
  })
  await until(() => awaited.test(told.text))
  return told
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (await holds()) return
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error('It did not come to pass.')
}

test.skipIf(BROWSER === null)("a new user's first hour", { timeout: 300_000 }, async () => {
  // A project.
  mkdirSync(HOME, { recursive: true })
  await run([COMMAND, 'init', 'fleet'], HOME)
  const receiver = await Receiver.start()
  mkdirSync(join(FLEET, 'tilde/webhooks'))
  writeFileSync(
    join(FLEET, 'tilde/webhooks/harbour.ts'),
    `import { webhook } from '@tildebase/nouns'\nexport default webhook('Harbour', { url: '${receiver.url}', events: ['Ship.launched'] })\n`,
  )
  const dev = await started([COMMAND, 'dev', '--port', '0'], /Watching/)
  const url = /listens on (\S+)/.exec(dev.text)![1]!
  const key = readFileSync(join(FLEET, 'data/root.key'), 'utf8').trim()
  const local = { TILDE_URL: url, TILDE_KEY: key, TILDE_TENANT: 'dev' }
  const $: any = tildebase({ tenant: 'dev', apiKey: key, baseUrl: url })

  // Data, a live page, a workflow and a webhook.
  expect((await run(['seed.ts'], FLEET, local)).stdout).toContain('2 ships')
  const app = await started(['app.ts'], /http:/, { ...local, PORT: '0' })
  const browser = await startBrowser()
  const { page } = await browser.open()
  await page.goto(app.text.trim())
  await page.getByText('Beagle: Afloat').waitFor()
  await $.Ship.create({ name: 'Nautilus' })
  await page.getByText('Nautilus: Planned').waitFor()
  await until(async () => (await $.Activity.count()) === 2)
  await until(() => receiver.requests.length === 2)

  // A changed type, with a migration.
  const text = readFileSync(SHIP, 'utf8')
  writeFileSync(
    SHIP,
    text.replace("length: 'number'", "metres: 'number'").replace(/\}\)\s*$/, "}, { renamed: { metres: 'length' } })\n"),
  )
  await until(async () => (await $.Ship.findOne({ name: 'Beagle' })).metres === 27)

  // An agent proposes, and a person approves.
  const { secret } = await $.ApiKey.create({ name: 'agent', scopes: 'propose:all' })
  const agent: any = tildebase({ tenant: 'dev', apiKey: secret, baseUrl: url })
  const beagle = await $.Ship.findOne({ name: 'Beagle' })
  const proposal = await agent.propose('Measure again', (trial: any) => trial.Ship.update(beagle.$id, { metres: 28 }))
  expect((await $.Ship.get(beagle.$id)).metres).toBe(27)
  await $.Changeset.approve(proposal.$id)
  expect((await $.Ship.get(beagle.$id)).metres).toBe(28)

  // The same on a second server.
  const second = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
  const there = { TILDE_URL: second.url, TILDE_KEY: ROOT, TILDE_TENANT: 'production' }
  await run([COMMAND, 'schema', 'push'], FLEET, there)
  expect((await run([COMMAND, 'schema', 'push'], FLEET, there)).stdout).toBe('No changes.\n')
  const { body } = await second.request('GET', '/~production/schema/Ship')
  expect(Object.keys(body.fields)).toContain('metres')

  expect(await browser.closeTabs()).toEqual([])
  await browser.close()
  await second.stop()
  await receiver.stop()
})
