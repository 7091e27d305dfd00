import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { afterAll, expect, test } from 'vitest'

const MOST = 12_000
const NOUN = `noun('Ship', { name: 'string!', launch: { event: 'launched', set: { afloat: true } }, afloat: 'boolean' })`
const folder = mkdtempSync(join(import.meta.dirname, '..', 'size-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['the client', `export { tildebase } from '@tildebase/client'`],
  ['everything of the client', `export * from '@tildebase/client'`],
  [
    'the client with own types, signing in and the operator',
    `import { tildebase } from '@tildebase/client'
     import { operator } from '@tildebase/client/operator'
     import { signIn, signInWithPasskey } from '@tildebase/client/sign-in'
     import { noun } from '@tildebase/nouns'
     const Ship = ${NOUN}
     export const $ = tildebase({ tenant: 'acme', apiKey: 'tb_x', nouns: { Ship } })
     export const more = [operator, signIn, signInWithPasskey]`,
  ],
  [
    'the client with OAuth',
    `import { tildebase } from '@tildebase/client'
     import { finishOAuth, oauthAuth, startOAuth } from '@tildebase/client/sign-in'
     export const more = [tildebase, finishOAuth, oauthAuth, startOAuth]`,
  ],
])('%s bundles for browsers under 12 kB gzipped', async (name, program) => {
  const entry = join(folder, `${name.replaceAll(/\W+/g, '-')}.ts`)
  writeFileSync(entry, program)

  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: { lib: { entry, formats: ['es'] }, write: false, minify: true },
  })
  const [{ output }] = built as unknown as [Rolldown.RolldownOutput]
  const chunks = output.filter((chunk) => chunk.type === 'chunk')
  const code = chunks.map((chunk) => chunk.code).join('\n')

  expect(code).toContain('Bearer')
  expect(chunks.flatMap(({ imports }) => imports)).toEqual([])
  expect(gzipSync(code).length).toBeLessThan(MOST)
})
