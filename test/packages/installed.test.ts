import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, startBrowser } from '../console/browser.ts'
import { giveKey } from '../console/stage.ts'
import { COMPILERS, install, NODES, pack, ROOT_KEY, run, serve, sizeOf } from './installed.ts'
import { PAGE, PROGRAM } from './programs.ts'

const STRICT = [
  '--noEmit',
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--target',
  'es2022',
]

let packed: Awaited<ReturnType<typeof pack>>
let home: Awaited<ReturnType<typeof install>>
beforeAll(async () => {
  packed = await pack()
  home = await install(packed.tarballs, { 'program.ts': PROGRAM, 'page.ts': PAGE })
  // The types of Node are those that a program brings.
  await run('npm', ['install', '--loglevel=error', '--no-save', '@types/node@22'], { cwd: home.folder })
}, 600_000)
afterAll(() => {
  packed?.remove()
  home?.remove()
})

describe('what is packed', () => {
  test('holds JavaScript, declarations, maps, a page and the licence, and no tests', async () => {
    for (const tarball of packed.tarballs) {
      const files = (await run('tar', ['-tzf', tarball], { cwd: home.folder })).out.trim().split('\n')

      expect(files).toEqual(expect.arrayContaining(['package/README.md', 'package/LICENSE', 'package/package.json']))
      expect(files.filter((file) => /\.(?:test|contract|nests)\./.test(file))).toEqual([])
    }
    const client = readdirSync(join(home.folder, 'node_modules/@tildebase/client/lib'))
    expect(client).toEqual(expect.arrayContaining(['index.js', 'index.js.map', 'index.d.ts', 'index.d.ts.map']))
  })

  test('says where it comes from, what it runs on and what it offers', () => {
    for (const name of ['@tildebase/cli', '@tildebase/client', '@tildebase/server', 'tildebase']) {
      const manifest = JSON.parse(readFileSync(join(home.folder, 'node_modules', name, 'package.json'), 'utf8'))

      expect(manifest).toMatchObject({
        license: 'Apache-2.0',
        engines: { node: expect.stringMatching(/^>=/) },
        repository: { directory: expect.stringMatching(/^packages\//) },
        files: expect.any(Array),
      })
      expect(manifest).not.toHaveProperty('devDependencies')
      expect(JSON.stringify(manifest.exports)).not.toContain('.ts"}')
    }
  })

  test('takes less than 100 MB when it is installed', () => {
    expect(sizeOf(join(home.folder, 'node_modules'))).toBeLessThan(100_000_000)
  })

  test('points its maps to sources that are there', () => {
    const lib = join(home.folder, 'node_modules/@tildebase/client/lib')
    for (const map of readdirSync(lib).filter((file) => file.endsWith('.map'))) {
      const { sources } = JSON.parse(readFileSync(join(lib, map), 'utf8'))

      expect(readFileSync(join(lib, sources[0]), 'utf8')).not.toBe('')
    }
  })
})

describe.each(Object.entries(COMPILERS))('%s', (_, compiler) => {
  test.each([
    ['nodenext', 'nodenext', 'program.ts', ['--types', 'node']],
    ['bundler', 'esnext', 'program.ts', ['--types', 'node']],
    ['bundler', 'esnext', 'page.ts', ['--typeRoots', 'none', '--lib', 'es2022,dom,dom.iterable,dom.asynciterable']],
  ])(
    'accepts the packages in strict mode, with the resolution %s and the module %s: %s',
    async (way, module, file, more) => {
      const args = [compiler, ...STRICT, '--module', module, '--moduleResolution', way, ...more, file]

      expect((await run(process.execPath, args, { cwd: home.folder })).out).toBe('')
    },
  )
})

describe.each(NODES.map((node) => [node.replace(/^.*node_modules\//, ''), node]))('on %s', (_, node) => {
  test('npx tildebase serves, and a program uses the client and the embedded engine', async () => {
    const server = await serve(home.folder, node)
    try {
      const emit = ['--target', 'es2022', '--module', 'nodenext', '--types', 'node', 'program.ts']
      await run(process.execPath, [COMPILERS['TypeScript 7'], ...emit], { cwd: home.folder })
      const args = ['--disable-warning=ExperimentalWarning', 'program.js']
      const env = { NODE_OPTIONS: '', URL: server.url, KEY: ROOT_KEY }
      const { out, err } = await run(node, args, { cwd: home.folder, node, env })

      expect([out, err]).toEqual(['["Beagle",11,1]\nQualified\n', ''])
      expect((await fetch(`${server.url}/console`)).status).toBe(200)
      expect((await fetch(`${server.url}/docs`)).status).toBe(200)
      expect(server.said.err.split('\n').filter((line) => line && !line.startsWith('npm '))).toEqual([])
    } finally {
      await server.stop()
    }
  })

  test('tilde runs its commands against a server', async () => {
    const server = await serve(home.folder, node)
    const env = { TILDE_URL: server.url, TILDE_ROOT_KEY: ROOT_KEY }
    const tilde = (...args: string[]) => run('npx', ['--no-install', 'tilde', ...args], { cwd: home.folder, node, env })
    try {
      const { version } = JSON.parse(readFileSync(join(home.folder, 'node_modules/tildebase/package.json'), 'utf8'))
      expect((await tilde('version')).out).toMatch(new RegExp(`^tilde ${version} `))
      await tilde('Contact.create', '--tenant', 'acme', '--name', 'Ada')
      expect((await tilde('Contact.find', '--tenant', 'acme', '--fields', 'name')).out).toContain('Ada')
      expect((await tilde('do', '--tenant', 'acme', '--code', '$.Contact.count()')).out).toContain('1')
      expect((await tilde('doctor', '--tenant', 'acme')).out).toMatch(
        /^node\s+ok\s+v[\d.]+; 22\.18 or newer is needed$/m,
      )
    } finally {
      await server.stop()
    }
  })
})

test('an older Node is refused with a sentence', async () => {
  const OLD = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.17.1' } })"
  writeFileSync(join(home.folder, 'old.mjs'), OLD)
  const args = ['--import', './old.mjs', 'node_modules/tildebase/bin/tildebase.js']

  await expect(run(process.execPath, args, { cwd: home.folder })).rejects.toThrow(
    /tilde needs Node 22\.18 or newer, and this is .*Install a newer Node/,
  )
})

test('vite bundles the client for browsers in at most 12 kB', async () => {
  const { output } = (await build({
    root: home.folder,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: true,
      lib: { entry: 'page.ts', formats: ['es'] },
      rollupOptions: { treeshake: true },
    },
  }).then((built) => (Array.isArray(built) ? built[0] : built))) as { output: readonly { code: string }[] }

  expect(output).toHaveLength(1)
  expect(output[0]!.code).not.toMatch(/from\s*"/)
  expect(gzipSync(output[0]!.code).length).toBeLessThan(12_000)
})

describe.skipIf(BROWSER === null)('in a browser', () => {
  test('the console of the installed server opens a tenant', async () => {
    const server = await serve(home.folder, process.execPath)
    const browser = await startBrowser()
    try {
      const headers = { authorization: `Bearer ${ROOT_KEY}`, 'content-type': 'application/json' }
      const post = async (path: string, body: object) =>
        (await fetch(`${server.url}/~acme/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
      await post('Contact', { name: 'Ada Lovelace' })
      const { secret } = (await post('api-keys', { name: 'console' })) as { secret: string }
      const tab = await browser.open()
      await tab.page.goto(`${server.url}/console#/~acme/Contact`)
      await giveKey(tab, secret)

      await tab.page.getByText('Ada Lovelace').first().waitFor()
      expect(tab.faults).toEqual([])
    } finally {
      await browser.close()
      await server.stop()
    }
  })
})
