import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tildebase } from '@tildebase/client'
import { currentSession, signIn } from '@tildebase/client/sign-in'
import { build, createServer } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Served, serve } from '../docs.ts'
import { checkTypes, run, tutorialFiles } from './files.ts'

let server: Served
let folder: string
beforeAll(async () => {
  server = await serve()
  folder = tutorialFiles('docs/guides/vite.md')
})
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true })
})

describe('the tutorial for Vite', () => {
  test('has files that compile and are built', { timeout: 120_000 }, async () => {
    checkTypes(folder, { types: ['node', 'vite/client'] })

    await build({ root: folder, logLevel: 'silent' })

    expect(readFileSync(join(folder, 'dist', 'index.html'), 'utf8')).toContain('/assets/index-')
  })

  test('fills a tenant, twice, and its page signs in through the port of Vite', { timeout: 120_000 }, async () => {
    const env = { TILDE_URL: server.url, TILDE_KEY: server.rootKey }
    for (let i = 0; i < 2; i++) expect(run(folder, process.execPath, ['seed.ts'], env)).toContain('3 deals')
    const vite = await createServer({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      server: { port: 0, host: '127.0.0.1', proxy: { '/~': server.url } },
    })
    await vite.listen()
    const address = vite.httpServer!.address() as { port: number }
    const place = { tenant: 'board', baseUrl: `http://127.0.0.1:${address.port}` }

    const { auth } = await signIn(place, { email: 'ada@example.com', password: 'correct horse battery' })
    const $ = tildebase({ ...place, auth })
    const list = $.Deal.live({ stage: { $nin: ['Won', 'Lost'] } }, { sort: { value: -1 } })
    const first = (await list.next()).value!
    await $.Deal.win(first[0]!.$id)
    const second = (await list.next()).value!
    await list.return()

    expect([first, second].map((deals) => deals.map(({ name }) => name))).toEqual([
      ['Engine', 'Loom', 'Mill'],
      ['Loom', 'Mill'],
    ])
    expect(await currentSession(place)).toBeNull()
    expect(await (await fetch(place.baseUrl)).text()).toContain('src/main.ts')
    await vite.close()
  })
})
