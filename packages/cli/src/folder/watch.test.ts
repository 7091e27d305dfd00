import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { watchFolder } from './watch.ts'

const ROOTS = Array.from({ length: 200 }, (_, i) => `root-${i}`)

test('a file is noticed in a new folder, whenever another program made that inside of another new one', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tilde-watch-'))
  const heard = new Set<string>()
  const stops = ROOTS.map((root) => {
    mkdirSync(join(home, root))
    return watchFolder(join(home, root), (file) => heard.add(`${root} ${file}`))
  })
  // The inner folder comes at various moments after the outer one, also while that is being looked at.
  const program = `for (const [i, root] of ${JSON.stringify(ROOTS)}.entries()) {
    fs.mkdirSync(root + '/more')
    for (const end = performance.now() + i / 200; performance.now() < end; );
    fs.mkdirSync(root + '/more/types')
  }`
  await once(spawn(process.execPath, ['-e', program], { cwd: home, stdio: 'inherit' }), 'exit')
  await expect.poll(() => ROOTS.every((root) => heard.has(`${root} more`))).toBe(true)

  for (const root of ROOTS) writeFileSync(join(home, root, 'more', 'types', 'port.ts'), '')
  await expect.poll(() => ROOTS.filter((root) => !heard.has(`${root} port.ts`)), { timeout: 5_000 }).toEqual([])

  for (const stop of stops) stop()
  rmSync(home, { recursive: true })
})
