import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { installWithApt } from '../../prepare/apt.ts'

/** The programs that the test starts, and the package of Debian that has each. */
const PACKAGES: Readonly<Record<string, string>> = {
  '/usr/lib/postgresql/15/bin/postgres': 'postgresql-15',
  '/usr/bin/patroni': 'patroni',
  '/usr/bin/etcd': 'etcd-server',
  '/usr/bin/etcdctl': 'etcd-client',
  '/usr/sbin/iptables': 'iptables',
  '/usr/bin/cc': 'gcc',
  '/usr/include/stdlib.h': 'libc6-dev',
}

/** Installs what is missing. Throws a sentence where that is not possible. */
export function install(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error('This test creates network namespaces: run it as root on Linux.')
  const missing = Object.entries(PACKAGES).filter(([path]) => !existsSync(path))
  if (spawnSync('ip', ['-V']).status !== 0) missing.push(['ip', 'iproute2'])
  const packages = missing.map(([, name]) => name)
  if (packages.length > 0 && !installWithApt(packages))
    throw new Error(`apt could not install ${packages.join(', ')}: install them and try again.`)
}

/** Builds the library that shifts clocks and slows disks, and returns its path. */
export function buildPreload(folder: string): string {
  const library = join(folder, 'preload.so')
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, join(import.meta.dirname, 'preload.c')])
  return library
}
