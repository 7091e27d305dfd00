import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '../test/duckdb.ts'
import { contact, send, startServer } from './bulk/server.ts'

/** How fast whole collections go out, in how much memory, and how small. Run it with `node bench/export.ts [rows]`. */
const ROWS = Number(process.argv[2] ?? 200_000)

const server = await startServer()
const folder = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
await fill()
await server.quiet()
console.log(`${ROWS} contacts; the server holds ${server.memory().now} MiB before the first export`)
for (const format of ['json', 'ndjson', 'csv', 'parquet']) await measure(format)
const began = performance.now()
await (await send(server.url, '/~bench/manifest')).text()
const first = performance.now() - began
await (await send(server.url, '/~bench/manifest')).text()
console.log(
  `manifest: ${first.toFixed(0)} ms the first time, ${(performance.now() - began - first).toFixed(1)} ms the next`,
)
await compare()
await server.stop()
rmSync(folder, { recursive: true, force: true })

async function fill(): Promise<void> {
  for (let i = 0; i < ROWS; i += 20_000) {
    const rows = Array.from({ length: Math.min(20_000, ROWS - i) }, (_, k) => contact(i + k))
    await send(server.url, '/~bench/import/Contact', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(rows),
    })
  }
}

async function measure(format: string): Promise<void> {
  const [began, used] = [performance.now(), server.cpu()]
  const response = await send(server.url, `/~bench/export/Contact?format=${format}`)
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body!) chunks.push(chunk)
  const seconds = (performance.now() - began) / 1_000
  const busy = server.cpu() - used
  writeFileSync(join(folder, `ours.${format}`), Buffer.concat(chunks))
  console.log(
    `${format}: ${Math.round(ROWS / seconds)} rows/s, ${Math.round(ROWS / busy)} per second of processor, ${size(`ours.${format}`)} MiB; memory at most ${server.memory().most} MiB`,
  )
}

/** DuckDB writes the same table, as a measure of the size. */
async function compare(): Promise<void> {
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  const [ours, theirs] = [join(folder, 'ours.parquet'), join(folder, 'theirs.parquet')]
  await db.run(`COPY (SELECT * FROM read_parquet('${ours}')) TO '${theirs}' (FORMAT parquet, COMPRESSION snappy)`)
  console.log(`parquet, snappy: ours ${size('ours.parquet')} MiB, DuckDB's ${size('theirs.parquet')} MiB`)
}

function size(name: string): string {
  return (statSync(join(folder, name)).size / 1_048_576).toFixed(1)
}
