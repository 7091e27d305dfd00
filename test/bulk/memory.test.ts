import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import { send, startServer } from '../../bench/bulk/server.ts'
import { verifies } from '../verifies.ts'

const ROW = 100_000
const ROWS = 800

/** Rows of 100 kB, made as they are asked for: 76 MiB in all. */
function* lines(): Generator<Uint8Array> {
  for (let i = 0; i < ROWS; i++) {
    yield new TextEncoder().encode(`${JSON.stringify({ name: `C${i}`, note: String(i).padEnd(ROW, 'x') })}\n`)
  }
}

verifies(
  ['import.streams', 'export.streams'],
  'the memory of an import and of an export does not grow with their size',
  async ({ skip }) => {
    if (!existsSync('/proc/self/status')) skip('Memory is told by /proc.')
    // A heap that the program and half of the data would fill: what is kept for too long ends the process.
    const server = await startServer('--max-old-space-size=75')
    try {
      await (await send(server.url, '/~big/Contact', { method: 'POST', body: '{"name": "First"}' })).text()
      const idle = server.memory().most
      const body = (ReadableStream as unknown as { from(rows: Iterable<Uint8Array>): ReadableStream }).from(lines())

      const answer = await send(server.url, '/~big/import/Contact', {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body,
      })
      const { imported } = (await answer.json()) as { imported: number }
      const afterImport = server.memory().most - idle
      const sizes: number[] = []
      for (const format of ['json', 'ndjson', 'csv', 'parquet']) {
        let size = 0
        const response = await send(server.url, `/~big/export/Contact?format=${format}`)
        for await (const chunk of response.body!) size += chunk.length
        sizes.push(size)
      }
      const afterExport = server.memory().most - idle

      expect(imported).toBe(ROWS)
      expect(Math.min(...sizes.slice(0, 3))).toBeGreaterThan(ROWS * ROW)
      // The heap is bound above; this bounds what lies beside it, which the system gives and takes as it likes.
      expect(afterImport, 'MiB for an import of 76 MiB').toBeLessThan(160)
      expect(afterExport, 'MiB for four exports of 76 MiB').toBeLessThan(260)
    } finally {
      await server.stop()
    }
  },
  300_000,
)
