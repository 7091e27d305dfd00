import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readSettings, startHost } from '@tildebase/server'

/**
 * Counts the files and functions that one warm request executes, in one thread, by V8's precise coverage. `--list` prints
 * them. Background work that happens to run between the request and its answer is counted too, so each request is the
 * smallest of several.
 */
const KEY = 'key-of-the-bench-which-is-long-enough'
const WARM_UP = 200
const TRIES = 7
const SOURCES = join(import.meta.dirname, '..', 'packages')

interface Path {
  readonly files: ReadonlySet<string>
  readonly functions: number
}

const data = mkdtempSync(join(tmpdir(), 'tildebase-path-'))
const host = await startHost(readSettings({ port: '0', workers: '0', data }, { TILDE_ROOT_KEY: KEY }))
const session = new Session()
session.connect()
await session.post('Profiler.enable')

const send = async (method: string, path: string, key: string, body?: object) => {
  const answer = await fetch(`${host.url}/~bench${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body ? JSON.stringify(body) : null,
  })
  return (await answer.json()) as { readonly $id: string; readonly secret: string }
}

const { secret } = await send('POST', '/api-keys', KEY, { name: 'bench', scopes: 'write:crm' })
const { $id } = await send('POST', '/Contact', secret, { name: 'Ada', email: 'ada@example.com' })
let n = 0
const requests = {
  create: () => send('POST', '/Contact', secret, { name: 'Ada', email: `ada-${++n}@example.com`, stage: 'Lead' }),
  update: () => send('PUT', `/Contact/${$id}`, secret, { title: `Engineer ${++n}` }),
  get: () => send('GET', `/Contact/${$id}`, secret),
  list: () => send('GET', '/Contact?stage=Lead&limit=2', secret),
}

console.log('request  files  functions')
for (const [name, request] of Object.entries(requests)) {
  for (let i = 0; i < WARM_UP; i++) await request()
  const { files, functions } = await shortest(request)
  console.log(`${name.padEnd(8)} ${String(files.size).padStart(5)}  ${String(functions).padStart(9)}`)
  if (process.argv.includes('--list')) for (const file of [...files].sort()) console.log(`  ${file}`)
}
await host.stop()
rmSync(data, { recursive: true, force: true })

async function shortest(request: () => Promise<unknown>): Promise<Path> {
  const paths: Path[] = []
  for (let i = 0; i < TRIES; i++) {
    await new Promise((done) => setTimeout(done, 50))
    paths.push(await executed(request))
  }
  return paths.reduce((least, path) => (path.functions < least.functions ? path : least))
}

/** The files and functions of ours that run while a request is answered. */
async function executed(request: () => Promise<unknown>): Promise<Path> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await request()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const ours = result.filter(({ url }) => url.startsWith('file:') && fileURLToPath(url).startsWith(SOURCES))
  const files = new Set<string>()
  let functions = 0
  for (const { url, functions: all } of ours) {
    // The first entry of a module is the module itself, which ran when it was loaded.
    const run = all.filter(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0)
    const unnamed = all.slice(1).filter(({ functionName, ranges }) => functionName === '' && ranges[0]!.count > 0)
    if (run.length + unnamed.length === 0) continue
    files.add(relative(SOURCES, fileURLToPath(url)))
    functions += run.length + unnamed.length
  }
  return { files, functions }
}
