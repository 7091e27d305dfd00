import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { expect, test } from 'vitest'

const MOST = 12_000

test('the client bundles for browsers under 12 kB gzipped', async () => {
  const entry = join(import.meta.dirname, 'tildebase.ts')
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
