import { setTimeout as pause } from 'node:timers/promises'
import { isPlainObject, Problem } from '@tildebase/nouns'
import type { Link } from '../link/link.ts'
import { progressText } from './progress.ts'

/** An answer of the service, whatever it is. */
export type Followed = { readonly [field: string]: unknown } | null

/** A write that takes longer than a request may. */
interface LongWrite {
  readonly id: string
  readonly state: 'running' | 'done' | 'failed' | 'cancelled'
  readonly progress: number
  readonly total: number
  readonly result: Followed
  readonly error: { readonly code: string; readonly message: string } | null
}

const EVERY_MS = 300

/** The answer itself; or if the service continues it as a task, the result of the task at its end, with progress. */
export async function followTask({ $ }: Link, answer: unknown): Promise<Followed> {
  if (!isLongWrite(answer)) return isPlainObject(answer) ? answer : null
  const begun = performance.now()
  let task = answer
  for (; task.state === 'running'; task = await $.request('GET', `/tasks/${encodeURIComponent(answer.id)}`)) {
    show(progressText(task.progress, task.total || null, performance.now() - begun, 'events'))
    await pause(EVERY_MS)
  }
  show('')
  if (task.state === 'done') return task.result
  throw new Problem(task.error?.code ?? 'conflict', task.error?.message ?? `The task ${task.id} was cancelled.`)
}

function isLongWrite(answer: unknown): answer is LongWrite {
  return isPlainObject(answer) && typeof answer.state === 'string' && 'progress' in answer && 'title' in answer
}

function show(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
