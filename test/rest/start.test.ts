import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer } from '../faults/server.ts'
import { ROOT, testHost } from '../host.ts'
import { COMMAND } from '../prepare/command.ts'
import { verifies } from '../verifies.ts'

/** Starts the command, and returns its output until it is stopped. */
async function said(data: string): Promise<string> {
  const { TILDE_ROOT_KEY: _, ...env } = process.env
  const child = spawn(process.execPath, [COMMAND, 'serve', '--port', '0', '--data', data], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  while (!text.includes('curl')) await once(child.stdout, 'data')
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
  return text
}

verifies(
  'root.printed',
  'the generated key of the operator is printed at the first start, and never again',
  async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-'))

    const [first, second] = [await said(data), await said(data)]

    const key = /tbroot_[0-9A-Za-z]{40}/.exec(first)?.[0]
    expect(key).toBeDefined()
    expect(second).not.toContain(key)
    expect(second).toContain(`-H "Authorization: Bearer $(cat '${join(data, 'root.key')}')"`)
    rmSync(data, { recursive: true })
  },
)

test.each([
  ['nothing', 'const nouns = []', 'exports neither nouns nor hooks'],
  [
    'a noun by itself',
    "export const nouns = { name: 'Ship', notation: {} }",
    'must be an object of nouns, such as { Ship }',
  ],
  ['a list of names', "export const nouns = ['Ship']", 'or a list of them'],
  ['hooks that are not a function', 'export const hooks = {}', 'must be a function'],
])('a config that exports %s is refused in a sentence', async (_, text, sentence) => {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const file = join(data, 'tilde.config.ts')
  writeFileSync(file, text)

  await expect(startServer(data, {}, ['--config', file])).rejects.toThrow(sentence)
  rmSync(data, { recursive: true })
})

verifies('live.alive', 'comments keep a live stream open while nothing happens', async () => {
  const host = await testHost()
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })

  const heard = await new Promise<string>((done) => {
    let text = ''
    const asked = request(
      `${host.url}/~acme/events`,
      { headers: { authorization: `Bearer ${ROOT}`, accept: 'text/event-stream' } },
      (response) => {
        response.on('data', (chunk) => {
          text += chunk
          if (!/^:.*$/m.test(text.slice(text.indexOf('Ada') + 1))) return
          asked.destroy()
          done(text)
        })
      },
    )
    asked.end()
  })
  await host.stop()

  expect(heard).toContain('Contact.created')
  expect(heard).toMatch(/^: .*$/m)
})
