import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const SHARED = '/dev/shm'
const GIBIBYTE = 2 ** 30
const NAME = /^tildebase-tests-(\d+)$/

/**
 * A folder in memory for the temporary files of a run, or null where the machine has none that is large enough. On a disk each
 * commit waits: a thousand take 2.4 seconds instead of 0.4. The caller removes the folder.
 */
export function memoryFolder(): string | null {
  if (!isRoomy()) return null
  removeAbandoned()
  const folder = join(SHARED, `tildebase-tests-${process.pid}`)
  mkdirSync(folder)
  // As /tmp: a database runs as a user of its own.
  chmodSync(folder, 0o1777)
  return folder
}

/** Tests also run programs from their folders. Their processes and browsers need most of the memory. */
function isRoomy(): boolean {
  if (process.platform !== 'linux') return false
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const [, , type, options = ''] = mounts.findLast((line) => line.split(' ')[1] === SHARED)?.split(' ') ?? []
  if (type !== 'tmpfs' || options.split(',').some((one) => one === 'noexec' || one === 'ro')) return false
  const { bavail, bsize } = statfsSync(SHARED)
  return bavail * bsize >= 4 * GIBIBYTE && process.availableMemory() >= 8 * GIBIBYTE
}

/** Folders of runs that were killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(SHARED)) {
    const [, id] = NAME.exec(name) ?? []
    if (id !== undefined && !isAlive(Number(id))) rmSync(join(SHARED, name), { recursive: true, force: true })
  }
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (reason) {
    return (reason as NodeJS.ErrnoException).code === 'EPERM'
  }
}
