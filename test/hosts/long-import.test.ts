import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type Stage, stageAt } from './ask.ts'
import { SERVICE, startWorkerd, type Workerd } from './workerd.ts'

/** More than one part of an import holds; `TILDE_ROWS=1000000` for a long run. */
const ROWS = Number(process.env.TILDE_ROWS ?? 24_000)
const KILLS = 2
/** Half of what the platform gives an isolate. */
const HEAP_MIB = 64
let workerd: Workerd
let stage: Stage

beforeAll(async () => {
  workerd = await startWorkerd({ ...SERVICE, heapMib: HEAP_MIB })
  stage = stageAt(() => workerd.url)
})
afterAll(() => workerd?.stop())

verifies(
  'import.long',
  'a file of any length comes in, through kills, moves to another tenant and goes out',
  async () => {
    const tilde = tildeWith({ TILDE_TENANT: 'long', TILDE_KEY: ROOT, TILDE_ROOT_KEY: ROOT })
    const port = new URL(workerd.url).port
    await pipeline(Readable.from(rows()), createWriteStream(join(tilde.folder, 'long.ndjson')))

    const child = tilde.start('import', 'long.ndjson', '--type', 'Contact', '--json', '--url', workerd.url)
    const out = new Response(Readable.toWeb(child.stdout!) as never).text()
    for (let kill = 1; kill <= KILLS; kill++) {
      const enough = (ROWS * kill) / (KILLS + 1)
      await expect.poll(countOf, { timeout: 600_000, interval: 100 }).toBeGreaterThan(enough)
      await workerd.crash(port)
    }
    const report = JSON.parse(await out)

    expect(report).toMatchObject({ success: true, imported: ROWS, errors: 0 })
    expect(await countOf()).toBe(ROWS)
    const exported = await stage.request('GET', '/~long/export/Contact?format=ndjson')
    const names = exported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).name)
    expect(digest(names.toSorted())).toBe(digest([...Array(ROWS).keys()].map((i) => `C${i}`).toSorted()))

    await tilde('backup', 'long', '--to', 'saved', '--url', workerd.url)
    const restored = await tilde('restore', 'saved', '--as', 'moved', '--json', '--url', workerd.url)
    expect(restored.json).toMatchObject({ tenant: 'moved', events: ROWS })
    expect((await stage.request('GET', '/operator/tenants/moved/verify')).body).toMatchObject({
      ok: true,
      events: ROWS,
    })
  },
  1_800_000,
)

/** Every hundredth row refers to one that comes much later. */
function* rows(): Generator<string> {
  for (let i = 0; i < ROWS; i++) {
    const manager = i % 100 === 0 && i + 15_000 < ROWS ? { manager: `contact_c${i + 15_000}` } : {}
    yield `${JSON.stringify({ $id: `contact_c${i}`, name: `C${i}`, note: 'x'.repeat(300), ...manager })}\n`
  }
}

async function countOf(): Promise<number> {
  const reply = await stage.request('GET', '/~long/Contact/count').catch(() => null)
  return reply?.body?.count ?? 0
}

function digest(names: readonly string[]): string {
  return createHash('sha256').update(names.join('\n')).digest('hex')
}
