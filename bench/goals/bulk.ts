import { contact, type Server, send, startServer } from '../bulk/server.ts'
import { tildebase } from '../compare/tildebase.ts'
import { demandTools, WRK } from '../compare/tools.ts'
import { fire } from '../compare/wrk.ts'
import { print } from './figure.ts'

const ROWS = Number(process.env.BENCH_ROWS ?? 200_000)
const WANTED = process.env.BENCH_ONLY

/** Import, the first search after it, an export as Parquet, and batches. */
export async function bulk(): Promise<void> {
  demandTools(WRK)
  if (WANTED !== 'batch') await rows()
  if (WANTED !== 'rows') await batches()
}

async function rows(): Promise<void> {
  const server = await startServer()
  try {
    const lines = encoded()
    const imported = await timed(server, async () => {
      const body = new ReadableStream({ pull: (to) => (lines.length > 0 ? to.enqueue(lines.shift()) : to.close()) })
      const headers = { 'content-type': 'application/x-ndjson' }
      const answer = await send(server.url, '/~bench/import/Contact', { method: 'POST', headers, body })
      const report = (await answer.json()) as { imported: number }
      if (report.imported !== ROWS) throw new Error(`Only ${report.imported} rows were imported.`)
    })
    print(
      { text: `import of ${ROWS} contacts`, unit: 'rows/s', atLeast: 20_000 },
      ROWS / imported.seconds,
      perRow(imported),
    )

    const filter = encodeURIComponent(JSON.stringify({ $text: 'engineer fair' }))
    const search = await timed(server, () => read(server, `/~bench/Contact?filter=${filter}`))
    print({ text: 'first search after it', unit: 's', atMost: 1 }, search.seconds)

    await server.quiet()
    const exported = await timed(server, () => read(server, '/~bench/export/Contact?format=parquet'))
    print({ text: 'export as Parquet', unit: 'rows/s', atLeast: 150_000 }, ROWS / exported.seconds, perRow(exported))
  } finally {
    await server.stop()
  }
}

async function batches(): Promise<void> {
  const running = await tildebase(0).start(1_000)
  try {
    await fire(running, running.shots.batch!, 2, 16)
    const { perSecond, cpuPerRequest } = await fire(running, running.shots.batch!, 5, 16)
    const more = `${cpuPerRequest.toFixed(1)} ms of CPU time each`
    print({ text: 'batch of 100 creates', unit: '/s', atLeast: 150 }, perSecond, more)
  } finally {
    await running.stop()
  }
}

function encoded(): Uint8Array[] {
  const encoder = new TextEncoder()
  return Array.from({ length: Math.ceil(ROWS / 200) }, (_, part) => {
    const some = Array.from({ length: Math.min(200, ROWS - part * 200) }, (_, i) => contact(part * 200 + i))
    return encoder.encode(some.map((one) => `${JSON.stringify(one)}\n`).join(''))
  })
}

async function read(server: Server, path: string): Promise<void> {
  const answer = await send(server.url, path)
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}.`)
  for await (const _ of answer.body!);
}

async function timed(server: Server, work: () => Promise<void>): Promise<{ seconds: number; cpu: number }> {
  const [begun, used] = [performance.now(), server.cpu()]
  await work()
  return { seconds: (performance.now() - begun) / 1_000, cpu: server.cpu() - used }
}

function perRow({ cpu }: { readonly cpu: number }): string {
  return `${((cpu * 1e6) / ROWS).toFixed(1)} µs of CPU time per row`
}
