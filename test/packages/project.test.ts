import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMPILERS, install, NODES, pack, ROOT_KEY, run, serve } from './installed.ts'

let packed: Awaited<ReturnType<typeof pack>>
let fleet: Awaited<ReturnType<typeof install>>

/** What `tilde init` writes, installed from the packed packages. */
beforeAll(async () => {
  packed = await pack()
  const home = await install(packed.tarballs)
  await run('npx', ['--no-install', 'tildebase', 'init', 'fleet'], { cwd: home.folder })
  const entries = readdirSync(join(home.folder, 'fleet'), { recursive: true, withFileTypes: true })
  const written = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const files = Object.fromEntries(
    written.map((file) => [relative(join(home.folder, 'fleet'), file), readFileSync(file, 'utf8')]),
  )
  home.remove()
  fleet = await install(packed.tarballs, files)
}, 600_000)
afterAll(() => {
  packed?.remove()
  fleet?.remove()
})

test.each(Object.entries(COMPILERS))('a new project type-checks with %s', async (_, compiler) => {
  expect((await run(process.execPath, [compiler, '-p', '.'], { cwd: fleet.folder })).out).toBe('')
})

test.each(NODES)('its tests pass, and its folder is pushed to a server for its seed, on %s', async (node) => {
  await run(node, ['--test'], { cwd: fleet.folder, node })
  const server = await serve(fleet.folder, node)
  try {
    const env = { TILDE_URL: server.url, TILDE_KEY: ROOT_KEY, TILDE_TENANT: 'dev' }
    await run('npx', ['--no-install', 'tilde', 'schema', 'push'], { cwd: fleet.folder, node, env })
    const { out } = await run(node, ['seed.ts'], { cwd: fleet.folder, node, env })

    expect(out).toBe('Beagle is Afloat.\nEndeavour is Afloat.\n2 ships\n')
  } finally {
    await server.stop()
  }
})

test('a mistake in a hook does not compile', async () => {
  const file = join(fleet.folder, 'tilde/hooks/ship.ts')
  const hooks = readFileSync(file, 'utf8')
  writeFileSync(file, hooks.replace('ship.captain', 'ship.captian'))

  await expect(run(process.execPath, [COMPILERS['TypeScript 7'], '-p', '.'], { cwd: fleet.folder })).rejects.toThrow(
    "Property 'captian' does not exist",
  )
  writeFileSync(file, hooks)
})
