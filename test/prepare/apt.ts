import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Without any font, a browser ends at the first letter. */
const FONTS = 'fonts-dejavu-core'

/** Installs packages of Debian for all users. False where that is not possible or not allowed. */
export function installWithApt(packages: readonly string[]): boolean {
  if (!has('apt-get')) return false
  const root = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  if (root.length > 0 && !run('sudo', '-n', 'true')) return false
  run(...root, 'apt-get', '-qq', 'update')
  return run(...root, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', 'install', '-y', ...packages)
}

/**
 * Downloads packages of Debian and what they depend on, as an ordinary user, and unpacks them into `folder`. Its `bin`
 * gets a script for each program that lets it find its libraries there.
 */
export function unpackWithApt(packages: readonly string[], folder: string): boolean {
  return downloadWithApt([...packages, FONTS], folder) && writeScripts(packages, folder)
}

/** Downloads packages of Debian and what they depend on, as an ordinary user, and unpacks them into `root` of `folder`. */
export function downloadWithApt(packages: readonly string[], folder: string): boolean {
  if (!has('apt-get') || !has('dpkg')) return false
  const state = join(folder, 'apt')
  for (const part of ['lists/partial', 'archives/partial']) mkdirSync(join(state, part), { recursive: true })
  const options = [
    ...[
      '-o',
      `Dir::State::lists=${state}/lists`,
      '-o',
      `Dir::Cache=${state}`,
      '-o',
      'Dir::State::status=/var/lib/dpkg/status',
    ],
    ...['-o', 'Debug::NoLocking=1', '-o', 'APT::Sandbox::User=', '-qq'],
  ]
  run('apt-get', ...options, 'update')
  if (!run('apt-get', ...options, 'install', '--download-only', '--no-install-recommends', '-y', ...packages))
    return false
  for (const file of globSync(join(state, 'archives', '*.deb'))) {
    if (!run('dpkg', '-x', file, join(folder, 'root'))) return false
  }
  return true
}

/** The folders of shared libraries below a folder of unpacked packages, as LD_LIBRARY_PATH takes them. */
export function libraryPath(root: string): string {
  return [...new Set(globSync(join(root, '{usr/,}lib/**/*.so*')).map((file) => dirname(file)))].join(':')
}

/** Where the program of a package is when it is not what its script in /usr/bin would start. */
const BINARIES: { readonly [name: string]: string } = {
  'chromium-headless-shell': 'usr/lib/chromium/chromium-headless-shell',
  'libnss-wrapper': 'usr/lib/*/libnss_wrapper.so',
  postgresql: 'usr/lib/postgresql/*/bin/initdb',
}

function writeScripts(packages: readonly string[], folder: string): boolean {
  const root = join(folder, 'root')
  const libraries = libraryPath(root)
  mkdirSync(join(folder, 'bin'), { recursive: true })
  const fonts = join(folder, 'fonts.conf')
  writeFileSync(
    fonts,
    `<fontconfig><dir>${root}/usr/share/fonts</dir><cachedir>${folder}/fonts</cachedir></fontconfig>`,
  )
  return packages.every((name) => {
    const binary = [BINARIES[name], `usr/bin/${name}`, `bin/${name}`]
      .flatMap((path) => (path === undefined ? [] : globSync(join(root, path))))
      .find((path) => existsSync(path))
    if (binary === undefined) return false
    const env = `LD_LIBRARY_PATH='${libraries}' FONTCONFIG_FILE='${fonts}'`
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${env} exec '${binary}' "$@"\n`, { mode: 0o755 })
    return true
  })
}

function has(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

function run(...[command, ...args]: string[]): boolean {
  return spawnSync(command!, args, { stdio: 'ignore' }).status === 0
}
