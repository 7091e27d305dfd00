import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BenchServer, KEY, startServer } from '../hosts/server.ts'
import { KINDS, type Stage } from './kinds.ts'

/**
 * The longest time for which each kind of write holds the thread of its tenant: in milliseconds of computing, and by the clock,
 * which also counts what other programs of the machine take. Run it with `npm run bench -- holds [word of a kind…]`;
 * `BENCH_ENTITIES` chooses how many there are, and `BENCH_PROFILE=1` shows what the thread did in each hold above 50 ms.
 */
const ENTITIES = Number(process.env.BENCH_ENTITIES ?? 140_000)
const ALLOWED_MS = 50
const SLICE = 20_000
const words = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'tildebase-holds-'))
const file = join(folder, 'holds')

console.log(
  `${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}, ${ENTITIES} entities`,
)
console.log('| write | seconds | longest hold, ms computed | by the clock | holds above 50 ms |')
console.log('|---|---|---|---|---|')
writeFileSync(file, '')
const watch = new URL('./watch.js', import.meta.url).href
const { BENCH_PROFILE = '' } = process.env
const server = await startServer(1, { BENCH_HOLDS: file, BENCH_PROFILE, NODE_OPTIONS: `--import=${watch}` })
try {
  const stage = await stageAt(server)
  for (const { name, prepare, run } of KINDS) {
    const isChosen = words.length === 0 || words.some((word) => name.includes(word))
    if (!isChosen) continue
    await prepare?.(stage)
    await idle()
    console.log(await measured(name, () => run(stage)))
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function measured(name: string, work: () => Promise<void>): Promise<string> {
  const begun = Date.now()
  let failure = ''
  await work().catch((reason) => {
    failure = ` (${String(reason.message).slice(0, 100)})`
  })
  const seconds = (Date.now() - begun) / 1_000
  await idle()
  const holds = readHolds().filter(({ at }) => at >= begun)
  const [cpu, wall] = [Math.max(0, ...holds.map((one) => one.cpu)), Math.max(0, ...holds.map((one) => one.wall))]
  const above = holds.filter((one) => one.cpu > ALLOWED_MS).length
  return `| ${name}${failure} | ${seconds.toFixed(1)} | ${cpu.toFixed(0)} | ${wall.toFixed(0)} | ${above} |`
}

function readHolds(): { at: number; wall: number; cpu: number }[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** Waits until the server has computed little for a second: indexes follow what was written. */
async function idle(): Promise<void> {
  for (let calm = 0; calm < 2; ) {
    const before = server.cpu()
    await new Promise((done) => setTimeout(done, 500))
    calm = server.cpu() - before < 60 ? calm + 1 : 0
  }
}

async function stageAt({ url }: BenchServer): Promise<Stage> {
  const as =
    (key: string) =>
    async (method: string, path: string, body?: unknown, more = {}) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more }
      const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
      const response = await fetch(`${url}/~acme${path}`, { method, headers, ...(text !== null && { body: text }) })
      const answer: any = await response.json().catch(() => null)
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer?.message}`)
      if (response.status !== 202 || answer?.progress === undefined) return answer
      for (let task = answer; ; ) {
        if (task.state === 'failed') throw new Error(task.error.message)
        if (task.state !== 'running') return task
        await new Promise((done) => setTimeout(done, 200))
        task = await (await fetch(`${url}/~acme/tasks/${answer.id}`, { headers })).json()
      }
    }
  const send = as(KEY)
  const { secret } = await send('POST', '/api-keys', { name: 'other', scopes: 'admin:all' })
  return {
    entities: ENTITIES,
    send,
    sendAsOther: as(secret),
    async load(type, count, row) {
      for (let from = 0; from < count; from += SLICE) {
        const rows = Array.from({ length: Math.min(SLICE, count - from) }, (_, i) => JSON.stringify(row(from + i)))
        await send('POST', `/import/${type}`, rows.join('\n'), { 'content-type': 'application/x-ndjson' })
      }
    },
    async until(path, test) {
      while (!test(await send('GET', path))) await new Promise((done) => setTimeout(done, 200))
    },
  }
}
