import { readdirSync, readFileSync } from 'node:fs'
import type { Running } from './contender.ts'

/** Seconds of processor time that the contender has used, its children and its database included. */
export function cpuOf(running: Running): number {
  const tick = 100
  return family(running).reduce((sum, pid) => {
    const fields = statOf(pid)
    return fields === null ? sum : sum + (Number(fields[11]) + Number(fields[12])) / tick
  }, 0)
}

/** Bytes of memory of the contender, its children and its database included. */
export function rssOf(running: Running): number {
  return family(running).reduce((sum, pid) => sum + Number(statOf(pid)?.[21] ?? 0) * 4_096, 0)
}

/** Waits until the contender has finished the requests that were left behind, which would burden the next run. */
export async function idle(running: Running): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const before = cpuOf(running)
    await new Promise((later) => setTimeout(later, 100))
    if (cpuOf(running) - before < 0.02) return
  }
}

function family({ process: { pid }, pids }: Running): number[] {
  const roots = [pid!, ...(pids?.() ?? [])]
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name)) parents.set(Number(name), Number(statOf(Number(name))?.[1] ?? 0))
  const found = new Set(roots)
  for (let grown = true; grown; ) {
    grown = false
    for (const [child, parent] of parents) if (found.has(parent) && !found.has(child)) grown = !!found.add(child)
  }
  return [...found]
}

/** The fields of /proc/pid/stat after the name, which may hold spaces. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
