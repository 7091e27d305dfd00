import { setTimeout as pause } from 'node:timers/promises'
import type { Wire } from '@tildebase/client'
import { progressText } from './progress.ts'

const EVERY_MS = 500

/** A task of the operator that the service works on. */
interface Task {
  readonly task: string
  readonly step: string
  readonly done?: number
  readonly of?: number | null
  readonly unit?: 'bytes' | 'events'
}

/** Shows how far the service is with what was asked of a tenant, until it is done; only on a terminal. */
export async function withProgress<T>(
  wire: Wire,
  slug: string,
  work: Promise<T>,
  stderr: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Promise<T> {
  if (!stderr.isTTY) return work
  const over = new AbortController()
  const showing = show(wire, slug, over.signal, (text) => stderr.write(`\r\x1b[K${text}`))
  try {
    return await work
  } finally {
    over.abort()
    await showing
    stderr.write('\r\x1b[K')
  }
}

async function show(wire: Wire, slug: string, signal: AbortSignal, tell: (text: string) => void): Promise<void> {
  let step = ''
  let begun = 0
  while (!signal.aborted) {
    await pause(EVERY_MS, null, { signal }).catch(() => {})
    if (signal.aborted) return
    try {
      const { results } = await wire.json(`/operator/tenants/${encodeURIComponent(slug)}/tasks`, { signal })
      const task = (results as Task[]).at(-1)
      if (task === undefined) continue
      if (step !== `${task.task} ${task.step}`) begun = performance.now()
      step = `${task.task} ${task.step}`
      tell(taskText(task, performance.now() - begun))
    } catch {
      // A host that does not tell, or a request that came too late: the work itself says what is wrong.
    }
  }
}

/** `verify: copy  ████░░░░  50%  …` */
function taskText({ task, step, done, of = null, unit = 'bytes' }: Task, ms: number): string {
  return `${task}: ${step}  ${done === undefined ? '…' : progressText(done, of, ms, unit)}`
}
