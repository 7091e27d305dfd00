import { contact } from './bulk/server.ts'
import { type BenchServer, KEY, startServer } from './hosts/server.ts'

/** How long it takes to fork a tenant, change many entities there, and merge that: `node bench/merge.ts [entities]`. */
const ENTITIES = Number(process.argv[2] ?? 10_000)
const BATCH = 100

const server = await startServer(0)
const rows = Array.from({ length: ENTITIES }, (_, at) => contact(at))
await server.ask('POST', '/~bench/import/Contact', rows)
const ids = await contactIds(server)
console.log(`${ids.length} contacts; the server holds ${server.rss().toFixed(0)} MiB`)

await measured('fork', () => send('POST', '/operator/tenants/bench/fork', { to: 'bench-fork' }))
await measured('change each contact in the fork, in batches of 100', changeAll)
const { $id, operationCount, conflicts } = await measured('create the changeset', () =>
  send('POST', '/~bench/changesets', { from: 'bench-fork' }),
)
console.log(`  ${operationCount} operations, ${conflicts.length} conflicts`)
const { diff } = await measured('review: diff and conflicts', () => send('GET', `/~bench/changesets/${$id}`))
console.log(`  ${diff.length} entities in the diff`)
const { secret } = await send('POST', '/~bench/api-keys', { name: 'reviewer', scopes: 'admin:all' })
const { state } = await measured('approve', () => send('POST', `/~bench/changesets/${$id}/approve`, {}, secret))
console.log(`  ${state}`)
await measured('undo', () => send('POST', `/~bench/undo/${$id}`, {}, secret))
await server.stop()

async function changeAll(): Promise<void> {
  for (let at = 0; at < ids.length; at += BATCH) {
    const operations = ids.slice(at, at + BATCH).map((id) => ({
      method: 'PUT',
      path: `/Contact/${id}`,
      body: { title: 'Merged', notes: `Changed in the fork: ${id}` },
    }))
    await send('POST', '/~bench-fork/batch', { operations })
  }
}

/** Runs one step, and says how long it took, how much it computed and how much memory the server had at most. */
async function measured<T>(name: string, work: () => Promise<T>): Promise<T> {
  server.resetPeak()
  const [began, used] = [performance.now(), server.cpu()]
  const result = await work()
  const seconds = ((performance.now() - began) / 1_000).toFixed(2)
  console.log(
    `${name}: ${seconds} s, ${((server.cpu() - used) / 1_000).toFixed(2)} s of processor, at most ${server.peak().toFixed(0)} MiB`,
  )
  return result
}

async function contactIds({ url }: BenchServer): Promise<string[]> {
  const response = await fetch(`${url}/~bench/export/Contact?format=json&fields=$id`, { headers: headersFor(KEY) })
  return ((await response.json()) as { $id: string }[]).map(({ $id }) => $id)
}

async function send(method: string, path: string, body?: object, key = KEY): Promise<any> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { ...headersFor(key), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer).slice(0, 400)}`)
  return answer
}

function headersFor(key: string) {
  return { authorization: `Bearer ${key}` }
}
