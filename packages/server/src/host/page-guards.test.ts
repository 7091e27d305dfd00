import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CONSOLE_GUARDS } from './page-guards.ts'

test('the content policy of the console names the hash of the script in its page', () => {
  const page = readFileSync(new URL('../../../console/index.html', import.meta.url), 'utf8')
  const scripts = [...page.matchAll(/<script>(.+?)<\/script>/gs)].map(([, text]) => text!)
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)

  const [, allowed] = /script-src 'self' ([^;]+);/.exec(CONSOLE_GUARDS['content-security-policy'])!

  expect(hashes).toEqual([allowed])
})
