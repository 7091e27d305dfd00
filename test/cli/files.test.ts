import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { hashOf, send } from '../content/content.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
let tilde: Tilde
beforeAll(async () => {
  host = await testHost()
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT })
})
afterAll(() => host.stop())

verifies(
  'file.backup.folder',
  'a folder of segments has the files, and a second backup adds only new ones',
  async () => {
    await host.request('PUT', '/~papers/schema/Deal', { contract: 'file' })
    const { body } = await host.request('POST', '/~papers/Deal', { name: 'x' })
    const path = `Deal/${body.$id}/contract`
    await send(host, 'POST', `/~papers/${path}`, 'first', { 'content-type': 'text/plain' })

    expect((await tilde('backup', 'papers', '--to', 'papers', '--json')).code).toBe(0)
    const first = readdirSync(join(tilde.folder, 'papers', 'files'))
    await send(host, 'POST', `/~papers/${path}`, 'second', { 'content-type': 'text/plain' })
    expect((await tilde('backup', 'papers', '--to', 'papers', '--json')).code).toBe(0)
    const second = readdirSync(join(tilde.folder, 'papers', 'files'))

    expect(first).toEqual([hashOf('first').slice('sha256:'.length)])
    expect(second).toHaveLength(2)
    const restored = await tilde('restore', 'papers', '--as', 'papers-again', '--json')
    expect(restored.err).toBe('')
    expect((await send(host, 'GET', `/~papers-again/${path}`, null)).text).toBe('second')
    expect((await tilde('backup', 'papers', '-o', 'papers.db')).code).toBe(0)
    expect((await tilde('restore', 'papers.db', '--as', 'papers-file', '--json')).json.missing).toEqual([])
    expect((await send(host, 'GET', `/~papers-file/${path}`, null)).text).toBe('second')
  },
)
