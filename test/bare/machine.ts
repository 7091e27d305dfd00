import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const REPOSITORY = join(import.meta.dirname, '..', '..')
const FOLDER = join(REPOSITORY, '.tmp', 'bare')
const MIRROR = process.env.TILDE_DEBIAN_MIRROR || 'http://deb.debian.org'
/** A certificate of the machine's network, which its npm and apt may need. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/** Why this machine cannot make others, or null: it takes root and debootstrap, which makes a minimal Debian. */
export function whyNot(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs root on Linux'
  if (spawnSync('debootstrap', ['--version']).status !== 0) return 'debootstrap is missing: apt-get install debootstrap'
  return spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0 ? null : 'unshare is not allowed'
}

/** A Debian, a Node, the npm that comes with it, and a user. */
export interface Kind {
  readonly debian: 'bookworm' | 'trixie'
  readonly node: string
  readonly npm: string
  /** `named` is in /etc/passwd; a container often runs with an id that is not. */
  readonly user: 'named' | 'nameless'
}

export interface Machine {
  /** Starts a shell command in the repository, as the user of the machine. */
  start(command: string, env?: { readonly [name: string]: string }): ChildProcess
  /** Runs one to its end: how it ended, all that it printed, and how many seconds it took. */
  run(command: string): Promise<{ readonly status: number; readonly text: string; readonly seconds: number }>
  /** Ends a command and all that it has started. */
  stop(child: ChildProcess): Promise<void>
  remove(): void
}

const HOME = '/home/tilde'
const USERS = { named: 1_000, nameless: 4_711 }

/** Makes a minimal Debian with a clone of this repository at its last commit. */
export function makeMachine({ user, ...kind }: Kind): Machine {
  const root = makeSystem(kind, user)
  // Who installed Node 26 on such a system had to install this library first.
  if (kind.node.startsWith('26.')) execFileSync('chroot', [root, 'apt-get', '-qq', 'install', '-y', 'libatomic1'])
  const uid = USERS[user]
  execFileSync('git', ['clone', '--quiet', REPOSITORY, join(root, HOME, 'tildebase')])
  execFileSync('chown', ['-R', `${uid}:${uid}`, join(root, HOME)])
  const start: Machine['start'] = (command, env = {}) => {
    const words = Object.entries({ ...environment(), ...env }).map(([name, value]) => `${name}=${value}`)
    const inside = ['chroot', `--userspec=${uid}:${uid}`, root, 'env', '-i', '-C', `${HOME}/tildebase`, ...words]
    const mounts = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec "$@"'
    // The mounts and the processes end with the command.
    const apart = ['--mount', '--pid', '--fork', 'sh', '-c', mounts, root]
    return spawn('unshare', [...apart, ...inside, 'sh', '-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
  }
  return {
    start,
    async run(command) {
      const begun = performance.now()
      const child = start(command)
      let text = ''
      for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (text += chunk))
      const [status] = await once(child, 'close')
      return { status: status ?? 1, text, seconds: Math.round((performance.now() - begun) / 1_000) }
    },
    async stop(child) {
      const ended = once(child, 'close')
      // The first process of a namespace takes the others with it; unshare, its parent, waits for it.
      const first = execFileSync('ps', ['--ppid', String(child.pid), '-o', 'pid='], { encoding: 'utf8' })
      process.kill(Number(first), 'SIGKILL')
      await ended
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** A minimal Debian with Node and npm, in a folder of its own. */
export function makeSystem({ debian, node, npm }: Omit<Kind, 'user'>, name: string): string {
  const root = join(FOLDER, `${debian}-${node}-${name}`)
  rmSync(root, { recursive: true, force: true })
  // Not cpSync: it does not keep the mode of /tmp, and apt needs that.
  execFileSync('cp', ['-a', minimalDebian(debian), root])
  installNode(root, node, npm)
  return root
}

/** The system that debootstrap makes, with git and what npm needs to trust the registry; made once. */
function minimalDebian(debian: string): string {
  const made = join(FOLDER, debian)
  if (existsSync(made)) return made
  const root = `${made}-part-${process.pid}`
  rmSync(root, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const options = ['--variant=minbase', '--include=ca-certificates,git']
  execFileSync('debootstrap', [...options, debian, root, `${MIRROR}/debian`], { stdio: 'ignore' })
  const sources = [`${MIRROR}/debian ${debian}`, `${MIRROR}/debian-security ${debian}-security`]
  writeFileSync(join(root, 'etc/apt/sources.list'), sources.map((source) => `deb ${source} main\n`).join(''))
  for (const file of ['/etc/resolv.conf', '/etc/hosts', CERTIFICATES])
    if (existsSync(file)) cpSync(file, join(root, file))
  execFileSync('chroot', [root, 'apt-get', '-qq', 'update'])
  execFileSync('chroot', [root, 'useradd', '--uid', String(USERS.named), '--create-home', 'tilde'])
  // Another file of tests may have made it meanwhile.
  if (existsSync(made)) rmSync(root, { recursive: true, force: true })
  else renameSync(root, made)
  return made
}

/** Node and npm as packages of the registry, side by side as an installation of Node has them. */
function installNode(root: string, node: string, npm: string): void {
  const packages = { [`node-linux-${process.arch}@${node}`]: '', [`npm@${npm}`]: 'lib/node_modules/npm' }
  for (const [name, place] of Object.entries(packages)) {
    const folder = join(root, 'usr/local', place)
    mkdirSync(folder, { recursive: true })
    const packed = mkdtempSync(join(FOLDER, 'packed-'))
    execFileSync('npm', ['pack', '--silent', '--pack-destination', packed, name], { stdio: 'ignore' })
    const [tarball] = readdirSync(packed)
    execFileSync('tar', ['-xzf', join(packed, tarball!), '-C', folder, '--strip-components=1'])
    rmSync(packed, { recursive: true })
  }
  execFileSync('ln', ['-sf', '../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm')])
  execFileSync('ln', ['-sf', '../lib/node_modules/npm/bin/npx-cli.js', join(root, 'usr/local/bin/npx')])
  execFileSync('chmod', ['755', join(root, 'usr/local/lib/node_modules/npm/bin/npm-cli.js')])
}

/** Nothing of this process, except how its network is reached. */
export function environment(): { readonly [name: string]: string } {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const network = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']
  return {
    HOME,
    PATH: '/usr/local/bin:/usr/bin:/bin',
    npm_config_registry: registry.trim(),
    npm_config_cafile: CERTIFICATES,
    NODE_EXTRA_CA_CERTS: CERTIFICATES,
    ...Object.fromEntries(network.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
  }
}
