import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { readSettings } from '@tildebase/server'
import { expect, onTestFinished, test } from 'vitest'
import { ROOT } from '../host.ts'
import { verifies } from '../verifies.ts'
import { tildeWith } from './tilde.ts'

verifies(
  ['cli.serve', 'running.ready', 'running.firstLine', 'cli.precedence', 'cli.data.folder'],
  'serve names its URL in its first line once it is ready, and a flag beats a variable',
  async () => {
    const { url, folder, child } = await served({ TILDE_PORT: 'not a port', TILDE_DATA: './from-env' }, '--port', '0')

    const ready = await fetch(`${url}/readyz`)
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')

    expect(ready.status).toBe(200)
    expect(existsSync(join(folder, 'from-env'))).toBe(true)
    expect(code).toBe(0)
  },
)

verifies(['cli.port', 'cli.host', 'cli.suffix'], 'every setting has a flag, a variable and a default', () => {
  const settings = (flags: { [name: string]: string }, env: { [name: string]: string }) => {
    const { port, host, hostSuffix } = readSettings(flags, env)
    return [port, host, hostSuffix]
  }
  const env = { TILDE_PORT: '1', TILDE_HOST: '0.0.0.0', TILDE_HOST_SUFFIX: 'a.test' }

  expect(settings({}, {})).toEqual([8787, '127.0.0.1', 'localhost'])
  expect(settings({}, env)).toEqual([1, '0.0.0.0', 'a.test'])
  expect(settings({ port: '2', host: '::1', 'host-suffix': 'b.test' }, env)).toEqual([2, '::1', 'b.test'])
})

verifies('cli.suffix', 'labels before the host suffix are the lens', async () => {
  const { url } = await served({}, '--port', '0', '--host-suffix', 'tilde.test')
  const types = async (host: string) => {
    const headers = { host, authorization: `Bearer ${ROOT}` }
    const [response] = await once(get(`${url}/~acme/schema`, { headers }), 'response')
    return ((await json(response)) as { total: number }).total
  }

  expect(await types('crm.tilde.test')).toBeLessThan(await types('tilde.test'))
})

verifies('cli.config', 'a file of nouns and hooks adds types', async () => {
  const { url } = await served({}, '--port', '0', '--config', 'tilde.config.mjs')
  const response = await fetch(`${url}/~acme/Ship`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json' },
    body: '{"name":"Beagle"}',
  })

  expect(await response.json()).toMatchObject({ $type: 'Ship', name: 'Beagle', motto: 'onward' })
})

test.each([
  ['a port that is none', ['--port', 'http'], '--port must be a whole number'],
  ['a flag that is not there', ['--prot', '1'], 'serve has no flag --prot; did you mean --port?'],
  ['a word', ['now'], 'serve accepts only flags, not now.'],
])('%s is reported in one line', async (_, args, sentence) => {
  const { code, out, err } = await tildeWith({})('serve', ...args)

  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain(sentence)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
})

test('a data folder that is in use is not opened', async () => {
  const { folder } = await served({ TILDE_DATA: './data' }, '--port', '0')

  const { code, err } = await tildeWith({})('serve', '--port', '0', '--data', join(folder, 'data'))

  expect(code).toBe(2)
  expect(err.trim()).toBe(
    'tilde: Another service runs on this data folder. Stop it first, or choose another folder with --data.',
  )
})

/** A server in its own process. */
async function served(env: { [name: string]: string }, ...flags: string[]) {
  const tilde = tildeWith({ TILDE_ROOT_KEY: ROOT, ...env })
  writeFileSync(join(tilde.folder, 'tilde.config.mjs'), CONFIG)
  const child: ChildProcess = tilde.start('serve', ...flags)
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stderr!.pipe(process.stderr)
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
  return { url: /http:\/\/\S+/.exec(line)![0], folder: tilde.folder, child }
}

// By its address: this folder has no packages of its own.
const CONFIG = `
const nouns = (await import(${JSON.stringify(import.meta.resolve('@tildebase/nouns'))}))
export default {
  nouns: [nouns.noun('Ship', { name: 'string!', motto: 'string' })],
  hooks: (on) => on.Ship.creating(() => ({ motto: 'onward' })),
}
`
