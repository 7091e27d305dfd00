import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverJson } from '../../build/reference/server-json.ts'
import { COMMANDS } from '../../packages/cli/src/commands.ts'
import { verifies } from '../verifies.ts'

const ROOT = join(import.meta.dirname, '../..')
const entry = JSON.parse(readFileSync(join(ROOT, 'server.json'), 'utf8'))
const packageOf = (name: string) => JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))

verifies('server.json', 'server.json is what the build makes, and follows the rules of the registry', () => {
  const [remote] = entry.remotes
  const variables = [...remote.url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)

  expect(`${JSON.stringify(entry, null, 2)}\n`).toBe(serverJson())
  expect(entry.$schema).toMatch(
    /^https:\/\/static\.modelcontextprotocol\.io\/schemas\/\d{4}-\d\d-\d\d\/server\.schema\.json$/,
  )
  expect(entry.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
  expect(entry.description.length).toBeLessThanOrEqual(100)
  expect(entry.version).toMatch(/^\d+\.\d+\.\d+/)
  expect(entry.repository).toEqual({ url: expect.stringMatching(/^https:\/\//), source: 'github' })
  expect(remote.type).toBe('streamable-http')
  expect(Object.keys(remote.variables)).toEqual(variables)
})

test('the package that it names has this name, this version and this command', () => {
  const [npm] = entry.packages
  const { name, version, mcpName } = packageOf('tildebase')

  expect([npm.identifier, npm.version, entry.name]).toEqual([name, version, mcpName])
  expect(Object.keys(COMMANDS)).toContain(npm.packageArguments[0].value)
})
