import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { stageAll } from '../../build/stage.ts'
import { layOutImage } from '../../deploy/image.ts'
import { whyNot } from '../needs.ts'
import { compile, ROOT_KEY, sizeOf } from './installed.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
const read = (file: string) => readFileSync(join(REPOSITORY, file), 'utf8')
const DOCKERFILE = read('Dockerfile')

describe('the files for deployment', () => {
  test('the Dockerfile has no faults, and its image runs as an ordinary user', () => {
    expect(validate(DOCKERFILE)).toEqual([])
    expect(DOCKERFILE).toMatch(/^USER 65532:65532$/m)
    expect(DOCKERFILE).toMatch(/^VOLUME \/data$/m)
    expect(DOCKERFILE).toMatch(/^HEALTHCHECK /m)
  })

  test('compose and Kubernetes run the same image, read-only, with a volume at /data', () => {
    const { tildebase, caddy } = parse(read('deploy/compose.yaml')).services
    const [, page] = /^export (.*)\ndocker compose -f deploy\/compose.yaml up -d$/m.exec(read('docs/operations.md'))!
    const [, , set] = parseAllDocuments(read('deploy/kubernetes/tildebase.yaml')).map((part) => part.toJS())
    const [container] = set.spec.template.spec.containers

    expect(tildebase).toMatchObject({ read_only: true, cap_drop: ['ALL'], volumes: ['data:/data'], tmpfs: ['/tmp'] })
    expect(names(page!, /(\w+)=/g)).toEqual(names(read('deploy/compose.yaml'), /\$\{(\w+):\?/g))
    expect(caddy.depends_on.tildebase.condition).toBe('service_healthy')
    expect(container.image).toBe(tildebase.image)
    expect(container.image).toBe(`tildebase:${JSON.parse(read('package.json')).version}`)
    expect(set.spec.replicas).toBe(1)
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
    expect(set.spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532 })
    expect(container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual(['/data', '/tmp'])
  })
})

const noCaddy = whyNot('caddy')
test.skipIf(noCaddy)(`Caddy accepts its file${noCaddy ?? ''}`, () => {
  const env = { ...process.env, TILDE_DOMAIN: 'tilde.example.com' }
  const words = ['validate', '--adapter', 'caddyfile', '--config', join(REPOSITORY, 'deploy', 'Caddyfile')]

  expect(spawnSync('caddy', words, { env }).status).toBe(0)
})

// Namespaces are a matter of Linux.
describe.runIf(process.platform === 'linux')('the files of the image', () => {
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tildebase-image-'))
    await compile()
    await stageAll(join(folder, 'packages'))
    layOutImage(join(folder, 'image'), join(folder, 'packages'))
    putNode(join(folder, 'image'))
    // A volume starts as a copy of what the image has in its place.
    cpSync(join(folder, 'image', 'data'), join(folder, 'data'), { recursive: true })
    if (process.getuid?.() === 0) chownSync(join(folder, 'data'), 65_532, 65_532)
    chmodSync(folder, 0o755)
  }, 600_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('are less than 100 MB without Node', () => {
    expect(sizeOf(join(folder, 'image', 'app'))).toBeLessThan(100_000_000)
  })

  test('serve as another user, with a root file system that cannot be written to', async () => {
    const server = contained(['--port', '0'], words('ENTRYPOINT'))
    const port = await portOf(server)
    try {
      const headers = { authorization: `Bearer ${ROOT_KEY}`, 'content-type': 'application/json' }
      const url = `http://127.0.0.1:${port}`
      const made = await fetch(`${url}/~acme/Contact`, { method: 'POST', headers, body: '{"name":"Ada"}' })
      const probe = (at: string) => endOf(contained([], words('HEALTHCHECK.*CMD'), { TILDE_PORT: at }))
      const write = "require('fs').writeFileSync('/app/x', '')"

      expect(made.status).toBe(201)
      expect((await fetch(`${url}/console`)).status).toBe(200)
      expect([await probe(port), await probe('1')]).toEqual([0, 1])
      expect(await endOf(contained([], ['/nodejs/bin/node', '-e', `try { ${write} } catch { process.exit(7) }`]))).toBe(
        7,
      )
      expect(globSync('tenants/**/acme.db', { cwd: join(folder, 'data') })).toHaveLength(1)
    } finally {
      const ended = endOf(server)
      server.kill('SIGTERM')
      expect(await ended).toBe(0)
    }
  })

  /** Runs a command in the image as a container engine would: its own view of the files, read-only, and another user. */
  function contained(args: readonly string[], command: readonly string[], more: Record<string, string> = {}) {
    const root = join(folder, 'image')
    const data = join(folder, 'data')
    const privileged = process.getuid?.() === 0
    const script = `
      mount --bind ${root} ${root} && mount -o remount,ro,bind ${root} &&
      mount -t tmpfs -o mode=1777 tmpfs ${root}/tmp && mount --bind ${data} ${root}/data &&
      exec chroot ${privileged ? '--userspec=65532:65532' : ''} ${root} "$@"`
    const unshare = [...(privileged ? [] : ['-r']), '--mount', 'sh', '-c', script, 'sh', ...command, ...args]
    const env = { PATH: process.env.PATH, ...environment(), TILDE_ROOT_KEY: ROOT_KEY, ...more }
    return spawn('unshare', unshare, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  }
})

/** What a pattern finds in a text, in order. */
function names(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name!).toSorted()
}

function portOf(server: ChildProcess): Promise<string> {
  return new Promise((done, failed) => {
    let out = ''
    server.stdout!.on('data', (chunk) => {
      out += chunk
      const port = /http:\/\/[^\s:]+:(\d+)/.exec(out)?.[1]
      if (port) done(port)
    })
    server.once('exit', (code) => failed(new Error(`The image ended with ${code}: ${out}`)))
  })
}

async function endOf(child: ChildProcess): Promise<number | null> {
  return (await once(child, 'exit'))[0]
}

/** What an instruction of the Dockerfile starts. */
function words(instruction: string): string[] {
  return JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(DOCKERFILE)![1]!)
}

/** The variables that the Dockerfile sets. */
function environment(): { [name: string]: string } {
  const [, text] = /^ENV ((?:.*\\\n)*.*)$/m.exec(DOCKERFILE)!
  return Object.fromEntries(
    text!.split(/\s*\\?\n\s*|\s+(?=[A-Z_]+=)/).map((pair) => pair.split('=') as [string, string]),
  )
}

/** The Node of this process and its libraries, where the base of the image has them. */
function putNode(root: string): void {
  mkdirSync(join(root, 'nodejs', 'bin'), { recursive: true })
  copyFileSync(process.execPath, join(root, 'nodejs', 'bin', 'node'))
  const listed = execFileSync('ldd', [process.execPath], { encoding: 'utf8' })
  for (const [library] of listed.matchAll(/\/\S+/g)) {
    mkdirSync(dirname(join(root, library)), { recursive: true })
    copyFileSync(library, join(root, library))
  }
}
