import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'

const HERE = import.meta.dirname
/** Next to the program, so that its imports are found; git knows nothing of it. */
const FOLDER = join(HERE, '.tmp')

let host: TestHost

beforeAll(async () => {
  host = await testHost()
})
afterAll(async () => {
  await host.stop()
  rmSync(FOLDER, { recursive: true, force: true })
})

const OPTIONS = {
  target: 'es2024',
  lib: ['es2024', 'dom'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  noEmit: true,
}

test('a strict TypeScript client made from the document compiles and does the most common jobs', async () => {
  const { body: document } = await host.request('GET', '/~acme/openapi.json')
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'schema.d.ts'), astToString(await openapiTypescript(document)))
  writeFileSync(
    join(FOLDER, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: OPTIONS, files: ['jobs.ts', 'schema.d.ts'] }),
  )
  copyFileSync(join(HERE, 'program', 'jobs.ts'), join(FOLDER, 'jobs.ts'))

  expect(await outputOf(join(HERE, '../../node_modules/typescript/bin/tsc'), '-p', FOLDER)).toBe('')
  const done = await outputOf(join(FOLDER, 'jobs.ts'), `${host.url}/~acme`, ROOT)
  expect(JSON.parse(done)).toEqual([
    'create',
    'read',
    'list',
    'update',
    'verb',
    'past',
    'batch',
    'aggregate',
    'import and export',
    'key',
    'events',
    'metric',
    'delete',
  ])
})

/** What a program of Node prints; what it has against its input too. */
async function outputOf(...args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, [...args])).stdout
  } catch (reason) {
    const { stdout, stderr } = reason as { readonly stdout: string; readonly stderr: string }
    return `${stdout}${stderr}`
  }
}
