import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMPILERS, install, NODES, pack, ROOT_KEY, run, serve } from './installed.ts'

let packed: Awaited<ReturnType<typeof pack>>
let fleet: Awaited<ReturnType<typeof install>>

/** What `tilde init` writes, installed from the packed packages. */
beforeAll(async () => {
  packed = await pack()
  const home = await install(packed.tarballs)
  await run('npx', ['--no-install', 'tildebase', 'init', 'fleet'], { cwd: home.folder })
  const written = readdirSync(join(home.folder, 'fleet'))
  const files = Object.fromEntries(
    written.map((file) => [file, readFileSync(join(home.folder, 'fleet', file), 'utf8')]),
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

test.each(NODES)('its tests pass, and it serves its types and hooks to its script, on %s', async (node) => {
  await run(node, ['--test'], { cwd: fleet.folder, node })
  const server = await serve(fleet.folder, node, '--config', 'tilde.config.ts')
  try {
    const env = { TILDE_URL: server.url, TILDE_ROOT_KEY: ROOT_KEY }
    const { out } = await run(node, ['script.ts'], { cwd: fleet.folder, node, env })

    expect(out).toMatch(/^Beagle is Afloat\.\nship_\w+ Beagle\n$/)
  } finally {
    await server.stop()
  }
})

test('a mistake in a hook does not compile', async () => {
  const hooks = readFileSync(join(fleet.folder, 'hooks.ts'), 'utf8')
  writeFileSync(join(fleet.folder, 'hooks.ts'), hooks.replace('ship.captain', 'ship.captian'))

  await expect(run(process.execPath, [COMPILERS['TypeScript 7'], '-p', '.'], { cwd: fleet.folder })).rejects.toThrow(
    "Property 'captian' does not exist",
  )
  writeFileSync(join(fleet.folder, 'hooks.ts'), hooks)
})
