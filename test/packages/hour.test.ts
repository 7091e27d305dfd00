import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BROWSER, startBrowser } from '../console/browser.ts'
import { Receiver } from '../receiver.ts'
import { install, pack, ROOT_KEY, serve } from './installed.ts'

let packed: Awaited<ReturnType<typeof pack>>
let home: Awaited<ReturnType<typeof install>>
let fleet: string
let tilde: string
const children: ChildProcess[] = []
const env = (more: { [name: string]: string } = {}) => ({ PATH: process.env.PATH, HOME: home.folder, ...more })
const run = (args: string[], cwd = fleet, more?: { [name: string]: string }) =>
  promisify(execFile)(process.execPath, args, { cwd, env: env(more), encoding: 'utf8' })

beforeAll(async () => {
  packed = await pack()
  home = await install(packed.tarballs)
  fleet = join(home.folder, 'fleet')
  tilde = join(home.folder, 'node_modules/@tildebase/cli/bin/tilde.js')
}, 600_000)
afterAll(async () => {
  for (const child of children.filter(({ exitCode }) => exitCode === null)) {
    child.kill()
    await once(child, 'exit')
  }
  home?.remove()
  packed?.remove()
})

/** The client that is installed beside the project, not the one of this repository. */
async function installedClient(): Promise<typeof import('@tildebase/client')> {
  const folder = join(home.folder, 'node_modules/@tildebase/client')
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return import(/* @vite-ignore */ pathToFileURL(join(folder, exports['.'].default)).href)
}

/** Starts a program of the project, and waits for what it says. */
async function started(args: string[], awaited: RegExp, more?: { [name: string]: string }) {
  const child = spawn(process.execPath, args, { cwd: fleet, env: env(more), stdio: ['ignore', 'pipe', 'inherit'] })
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

test.skipIf(BROWSER === null)("a new user's first hour with the packed packages", { timeout: 300_000 }, async () => {
  const { tildebase } = await installedClient()

  // A project.
  await run([tilde, 'init', 'fleet'], home.folder)
  const ship = join(fleet, 'tilde/types/ship.ts')
  const receiver = await Receiver.start()
  mkdirSync(join(fleet, 'tilde/webhooks'))
  writeFileSync(
    join(fleet, 'tilde/webhooks/harbour.ts'),
    `import { webhook } from '@tildebase/nouns'\nexport default webhook('Harbour', { url: '${receiver.url}', events: ['Ship.launched'] })\n`,
  )
  const dev = await started([tilde, 'dev', '--port', '0'], /Watching/)
  const url = /listens on (\S+)/.exec(dev.text)![1]!
  const key = readFileSync(join(fleet, 'data/root.key'), 'utf8').trim()
  const local = { TILDE_URL: url, TILDE_KEY: key, TILDE_TENANT: 'dev' }
  const $: any = tildebase({ tenant: 'dev', apiKey: key, baseUrl: url })

  // Data, a live page, a workflow and a webhook.
  expect((await run(['seed.ts'], fleet, local)).stdout).toContain('2 ships')
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
  const text = readFileSync(ship, 'utf8')
  writeFileSync(
    ship,
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
  const second = await serve(home.folder, process.execPath, { TILDE_WEBHOOKS_INSECURE: '1' })
  const there = { TILDE_URL: second.url, TILDE_KEY: ROOT_KEY, TILDE_TENANT: 'production' }
  await run([tilde, 'schema', 'push'], fleet, there)
  expect((await run([tilde, 'schema', 'push'], fleet, there)).stdout).toBe('No changes.\n')
  const production: any = tildebase({ tenant: 'production', apiKey: ROOT_KEY, baseUrl: second.url })
  expect((await production.Ship.create({ name: 'Victory', metres: 69 })).metres).toBe(69)

  expect(await browser.closeTabs()).toEqual([])
  await browser.close()
  await second.stop()
  await receiver.stop()
})
