import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { environment, makeSystem, whyNot as whyNoSystem } from './machine.ts'

/** Why this machine cannot boot another, or null. */
export function whyNot(): string | null {
  const hasNspawn = spawnSync('systemd-nspawn', ['--version']).status === 0
  return whyNoSystem() ?? (hasNspawn ? null : 'systemd-nspawn is missing: apt-get install systemd-container')
}

/** A Debian 12 with Node 22 whose first process is systemd. Its network is only a loopback, so every port is free. */
export interface Booted {
  /** Runs a shell command as root, in its own network by default. npm finds its registry in the outer one. */
  run(command: string, network?: 'own' | 'outer', env?: { readonly [name: string]: string }): Promise<Ended>
  /** The id of its first process, of which others can enter the namespaces. */
  readonly pid: number
  reboot(): Promise<void>
  remove(): Promise<void>
}

interface Ended {
  readonly status: number
  /** All that it printed. */
  readonly text: string
}

/** The namespaces of a machine without that of its network. */
const NAMESPACES = ['--mount', '--pid', '--uts', '--ipc']

export async function bootMachine(): Promise<Booted> {
  const root = makeSystem({ debian: 'bookworm', node: '22.23.3', npm: '10.9.4' }, 'booted')
  const install = ['apt-get', '-qq', 'install', '-y', '--no-install-recommends', 'systemd', 'dbus']
  execFileSync('chroot', [root, ...install], { stdio: 'ignore' })
  let first = await boot(root)
  return {
    run: (command, network = 'own', env = {}) => runIn(first.pid, command, network, env),
    get pid() {
      return first.pid
    },
    async reboot() {
      await shutDown(first.child)
      first = await boot(root)
    },
    async remove() {
      await shutDown(first.child)
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Starts systemd, and waits until all that it starts has started. */
async function boot(root: string): Promise<{ readonly child: ChildProcess; readonly pid: number }> {
  const options = [`--directory=${root}`, '--boot', '--private-network', '--register=no', '--keep-unit']
  const child = spawn('systemd-nspawn', options, { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  for (;;) {
    await pause(100)
    if (child.exitCode !== null) throw new Error(`The machine did not start:\n${text}`)
    const { stdout } = spawnSync('ps', ['--ppid', String(child.pid), '-o', 'pid='], { encoding: 'utf8' })
    const pid = Number(stdout)
    if (pid > 0 && (await runIn(pid, 'systemctl is-system-running', 'own', {})).status === 0) return { child, pid }
  }
}

function runIn(
  pid: number,
  command: string,
  network: 'own' | 'outer',
  env: { readonly [name: string]: string },
): Promise<Ended> {
  const all = { ...environment(), HOME: '/root', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin', ...env }
  const words = [
    ...['--target', String(pid), ...NAMESPACES, ...(network === 'own' ? ['--net'] : [])],
    ...['env', '-i', ...Object.entries(all).map(([name, value]) => `${name}=${value}`), 'sh', '-ec', command],
  ]
  return new Promise((done) => {
    const child = execFile('nsenter', words, { cwd: '/' }, (_, out, err) =>
      done({ status: child.exitCode ?? 1, text: out + err }),
    )
  })
}

/** systemd stops every service before it ends. */
async function shutDown(child: ChildProcess): Promise<void> {
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await ended
}
