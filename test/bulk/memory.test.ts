import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import { type Server, send, startServer } from '../../bench/bulk/server.ts'
import { verifies } from '../verifies.ts'

const ROW = 100_000
/** 19 MiB, which fill the caches, and 57 MiB that must find their place where those were. */
const SHORT = 200
const LONG = 600
const MIB_OF_LONG = (LONG * ROW) / 1_048_576

verifies(
  ['import.streams', 'export.streams'],
  'the memory of an import and of an export does not grow with their size',
  async ({ skip }) => {
    if (!existsSync('/proc/self/status')) skip('Memory is told by /proc.')
    // The young generation grows without a limit unless one is set; kept rows would fill the old generation.
    const server = await startServer('--max-old-space-size=75', '--max-semi-space-size=2')
    try {
      await importRows(server, 0, SHORT)
      await exportAll(server, SHORT)
      const before = server.memory().most
      await importRows(server, SHORT, LONG)
      const afterImport = server.memory().most
      await exportAll(server, SHORT + LONG)
      const afterExport = server.memory().most

      expect(afterImport - before, 'MiB more for an import of 57 MiB').toBeLessThan(MIB_OF_LONG / 3)
      expect(afterExport - afterImport, 'MiB more for four exports of 76 MiB').toBeLessThan(MIB_OF_LONG / 3)
    } finally {
      await server.stop()
    }
  },
  300_000,
)

async function importRows(server: Server, first: number, count: number): Promise<void> {
  const body = (ReadableStream as unknown as { from(rows: Iterable<Uint8Array>): ReadableStream }).from(
    lines(first, count),
  )
  const answer = await send(server.url, '/~big/import/Contact', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body,
  })
  expect(await answer.json()).toMatchObject({ imported: count })
}

/** Rows that are made as they are asked for. */
function* lines(first: number, count: number): Generator<Uint8Array> {
  for (let i = first; i < first + count; i++) {
    yield new TextEncoder().encode(`${JSON.stringify({ name: `C${i}`, note: String(i).padEnd(ROW, 'x') })}\n`)
  }
}

async function exportAll(server: Server, count: number): Promise<void> {
  for (const format of ['json', 'ndjson', 'csv', 'parquet']) {
    let size = 0
    const response = await send(server.url, `/~big/export/Contact?format=${format}`)
    for await (const chunk of response.body!) size += chunk.length
    if (format !== 'parquet') expect(size).toBeGreaterThan(count * ROW)
  }
}
