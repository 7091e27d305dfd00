import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Contender, person, shotsAt } from './contender.ts'
import { addressOf, stopProcess } from './process.ts'

const SLICE = 5_000

/** The floor: what the machine can do at best. */
export const floor: Contender = {
  name: 'floor',
  durability: 'synced before every answer',
  async start(rows) {
    const folder = mkdtempSync(join(tmpdir(), 'tildebase-floor-'))
    const program = fileURLToPath(new URL('./floor-server.ts', import.meta.url))
    const child = spawn(process.execPath, [program, join(folder, 'floor.db')], { stdio: ['ignore', 'pipe', 'inherit'] })
    const url = await addressOf(child)
    const ids: string[] = []
    for (let from = 0; from < rows; from += SLICE) {
      const slice = Array.from({ length: Math.min(SLICE, rows - from) }, (_, i) => person(from + i))
      const response = await fetch(`${url}/persons`, { method: 'POST', body: JSON.stringify(slice) })
      const made = (await response.json()) as { $id: string }[]
      ids.push(...made.filter((_, i) => i % 100 === 0).map(({ $id }) => $id))
    }
    const paths = ids.map((id) => `/persons/${id}`)
    const headers = {}
    const list = (_: string, source: string) => `/persons?source=${source}`
    return {
      url,
      process: child,
      shots: {
        ...shotsAt({ items: '/persons', paths, headers, update: 'PUT', list }),
        verb: { method: 'POST', paths: paths.map((path) => `${path}/see`), headers },
      },
      async stop() {
        await stopProcess(child)
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
}
