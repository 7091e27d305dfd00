import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Contender, person } from './contender.ts'
import { addressOf, concurrently, stopProcess } from './process.ts'

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
    await concurrently(rows, 64, async (i) => {
      const response = await fetch(`${url}/persons`, { method: 'POST', body: JSON.stringify(person(i)) })
      const { $id } = (await response.json()) as { $id: string }
      if (i % 100 === 0) ids.push($id)
    })
    const paths = ids.map((id) => `/persons/${id}`)
    const headers = {}
    return {
      url,
      process: child,
      shots: {
        create: {
          method: 'POST',
          paths: ['/persons'],
          body: JSON.stringify({ ...person(1), email: 'n{i}@example.org' }),
          headers,
        },
        get: { method: 'GET', paths, headers },
        list: { method: 'GET', paths: Array.from({ length: 100 }, (_, i) => `/persons?source=source-${i}`), headers },
        update: { method: 'PUT', paths, body: '{"score":{i}}', headers },
      },
      async stop() {
        await stopProcess(child)
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
}
