import { setTimeout as pause } from 'node:timers/promises'
import { isPlainObject, Problem } from '@tildebase/nouns'
import type { Link } from '../link/link.ts'

/** An answer of the service, whatever it is. */
export type Followed = { readonly [field: string]: unknown } | null

const EVERY_MS = 300
const ENDED = new Set(['done', 'succeeded', 'failed', 'cancelled'])

/** The answer itself; or if the service continues it as a task, the result of the task at its end. */
export async function followTask({ $ }: Link, answer: unknown): Promise<Followed> {
  if (!isTask(answer)) return isPlainObject(answer) ? answer : null
  for (let task = answer; ; ) {
    const state = String(task.status ?? task.state ?? '').toLowerCase()
    if (ENDED.has(state)) {
      progress('')
      if (state === 'done' || state === 'succeeded') return isPlainObject(task.result) ? task.result : null
      const { error, message = `The task ${task.task} ${state}.` } = isPlainObject(task.error) ? task.error : task
      throw new Problem(typeof error === 'string' ? error : 'unavailable', String(message))
    }
    if (typeof task.done === 'number') progress(`${task.done}${typeof task.of === 'number' ? ` of ${task.of}` : ''}`)
    await pause(EVERY_MS)
    task = await $.request('GET', `/tasks/${encodeURIComponent(String(answer.task))}`)
  }
}

/** 202 with a task: its id, and how far it is. */
function isTask(answer: unknown): answer is { readonly [field: string]: unknown; readonly task: string } {
  return isPlainObject(answer) && typeof answer.task === 'string' && !('$id' in answer)
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
