// Loaded by the processes of tests before all else: their threads run the joined packages, which load in half of the time.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HOME } from './command.ts'

const folder = join(HOME, 'node_modules', '@tildebase', 'server')
const { imports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('#threads/')) return next(specifier, context)
    const { default: file } = imports[specifier]
    return { url: pathToFileURL(join(folder, file)).href, shortCircuit: true }
  },
})
