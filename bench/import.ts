import { contact, send, startServer } from './bulk/server.ts'

/**
 * How fast rows come in, and what it costs others meanwhile. Run it with `node bench/import.ts [rows] [format…]`; each
 * format has its own server, so that the growth of its memory is known.
 */
const ROWS = Number(process.argv[2] ?? 100_000)
const WANTED = process.argv.slice(3)

await measure('NDJSON', 'application/x-ndjson', (i) => `${JSON.stringify(contact(i))}\n`)
await measure('JSON', 'application/json', (i) => `${i === 0 ? '[' : ','}${JSON.stringify(contact(i))}`, ']')
await measure(
  'CSV',
  'text/csv',
  (i) => `${i === 0 ? `${Object.keys(contact(0)).join(',')}\n` : ''}${line(contact(i))}\n`,
)
await measure('history', 'application/x-ndjson', (i) => `${JSON.stringify(pastChange(i))}\n`, '', 'history')
await measure('bad', 'application/x-ndjson', () => `${JSON.stringify({ email: 'x'.repeat(250) })}\n`)

async function measure(
  title: string,
  type: string,
  row: (i: number) => string,
  end = '',
  what = 'Contact',
): Promise<void> {
  if (WANTED.length > 0 && !WANTED.includes(title)) return
  const server = await startServer()
  await send(server.url, '/~other/Contact', { method: 'POST', body: '{"name":"Ada"}' })
  await server.quiet()
  const start = server.memory().now
  const latencies: number[] = []
  let running = true
  const probe = (async () => {
    while (running) {
      const began = performance.now()
      await (await send(server.url, '/~other/Contact?limit=1')).text()
      latencies.push(performance.now() - began)
      await new Promise((done) => setTimeout(done, 20))
    }
  })()
  const [began, used] = [performance.now(), server.cpu()]
  const body = (ReadableStream as unknown as { from(source: AsyncIterable<Uint8Array>): ReadableStream }).from(
    rows(row, end),
  )
  const answer = await send(server.url, `/~bench/import/${what}`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  })
  const { imported, errors } = (await answer.json()) as { imported: number; errors: number }
  const seconds = (performance.now() - began) / 1_000
  const busy = server.cpu() - used
  running = false
  await probe
  latencies.sort((a, b) => a - b)
  const [p50, p99] = [0.5, 0.99].map((part) => latencies[Math.floor(latencies.length * part)]!.toFixed(1))
  console.log(
    `${ROWS} rows, ${title}: ${Math.round(ROWS / seconds)} rows/s, ${Math.round(ROWS / busy)} per second of processor (${imported} imported, ${errors} errors); ` +
      `memory ${start} MiB, at most ${server.memory().most} MiB; another tenant's read p50 ${p50} ms, p99 ${p99} ms`,
  )
  await server.stop()
}

/** A past of a tenth as many contacts, each of which changes nine times. */
function pastChange(i: number): object {
  const contacts = Math.ceil(ROWS / 10)
  const at = { type: 'Contact', source: `crm:contact:${i % contacts}`, timestamp: new Date(1.6e12 + i * 60_000) }
  if (i < contacts) return { ...at, verb: 'create', data: contact(i) }
  return { ...at, verb: 'update', data: { phone: String(i), score: i % 100 } }
}

async function* rows(row: (i: number) => string, end: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for (let i = 0; i < ROWS; i += 200) {
    let text = ''
    for (let k = i; k < Math.min(i + 200, ROWS); k++) text += row(k)
    yield encoder.encode(text)
  }
  yield encoder.encode(end)
}

function line(entity: object): string {
  return Object.values(entity)
    .map((value) => (typeof value === 'object' ? `"${JSON.stringify(value).replaceAll('"', '""')}"` : String(value)))
    .join(',')
}
