// Runs a program of the repository: node build/node.js [options of Node] PROGRAM [arguments]. It uses the machine's own Node
// where that reads the sources, and else the pinned one. Old syntax only: Node 20 must read this file.
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isUsable, pinnedNode, runWith } from '../packages/cli/bin/node.js'

const OLDEST = '24.2'
const FOLDER = dirname(fileURLToPath(import.meta.url))

// npm may put the pinned Node first in the path; this variable names the one that npm itself runs on.
const own = [process.env.npm_node_execpath, process.execPath].find((node) => node && isUsable(node, OLDEST))
const pinned = own ? null : pinnedNode(FOLDER)
if (own) runWith(own, process.argv.slice(2), {})
else if (pinned !== null && isUsable(pinned, OLDEST))
  runWith(pinned, process.argv.slice(2), { PATH: dirname(pinned) + delimiter + process.env.PATH })
else if (!existsSync(join(FOLDER, '..', 'node_modules'))) {
  console.error('Run "npm ci" first. It installs what this needs, also a newer Node.')
  process.exitCode = 2
} else {
  const reason = pinned === null ? 'npm did not install the pinned one' : `${pinned} does not run on this machine`
  console.error(`This needs Node ${OLDEST} or newer. This is ${process.version}, and ${reason}.`)
  console.error('Install a newer Node (https://nodejs.org) and run the command again.')
  process.exitCode = 2
}
