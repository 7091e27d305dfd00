#!/usr/bin/env node
// Old syntax only: this file must also run on the Node versions that it refuses.
import { readFileSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNewEnough, isUsable, pinnedNode, runWith } from './node.js'

const self = fileURLToPath(import.meta.url)
const manifest = JSON.parse(readFileSync(join(dirname(self), '..', 'package.json'), 'utf8'))
// The sources use syntax of Node 24; the published JavaScript does not.
const fromSources = String(manifest.imports['#main']).endsWith('.ts')
const OLDEST = fromSources ? '24.2' : '22.18'

if (isNewEnough(process.versions.node, OLDEST)) {
  quieten()
  // The compile cache makes the command start four times as fast.
  const cache = cacheFolder()
  if (cache !== null) {
    module.enableCompileCache(cache)
    // Threads read this variable only; a replacement thread starts faster with the cache.
    process.env.NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE || cache
  }
  await import('#main')
} else {
  const node = process.env.TILDE_REEXECUTED === '1' ? null : pinnedNode(dirname(self))
  const command = [self].concat(process.argv.slice(2))
  if (node !== null && isUsable(node, OLDEST)) runWith(node, command, { TILDE_REEXECUTED: '1' })
  else refuse(node)
}

function cacheFolder() {
  if (process.env.XDG_CACHE_HOME) return join(process.env.XDG_CACHE_HOME, 'tilde')
  try {
    return join(homedir(), '.cache', 'tilde')
  } catch {
    // A user id without a name has no home unless HOME is set. A folder that others write to is not safe for code.
    return null
  }
}

/** Node 22 warns that its SQLite is experimental; standard error is for messages to the operator. */
function quieten() {
  const emitWarning = process.emitWarning
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning(warning, ...rest)
  }
}

function refuse(node) {
  const pinned = node === null ? '' : `${node} does not run on this machine. `
  const advice = fromSources
    ? 'Install a newer Node (https://nodejs.org), or run "npm ci" in the repository, which installs one.'
    : 'Install a newer Node (https://nodejs.org) and run the command again.'
  console.error(`tilde needs Node ${OLDEST} or newer, and this is ${process.version}. ${pinned}${advice}`)
  process.exitCode = 2
}
