import { Problem } from '@tildebase/nouns'
import { pause } from './retry.ts'

/** A write that the service continues after it has answered. */
export interface Task {
  readonly id: string
  /** What is done: `POST /schema/Car/retype`. */
  readonly title: string
  readonly state: 'running' | 'done' | 'failed' | 'cancelled'
  /** How much of `total` is done. */
  readonly progress: number
  readonly total: number
  /** What is kept of the answer: its status and counts. */
  readonly result: { readonly [name: string]: unknown } | null
  readonly error: { readonly code: string; readonly message: string } | null
}

/** How a client treats writes that the service continues as a task. */
export interface TaskOptions {
  /** False to get the task at once, instead of waiting for the answer of the write. */
  readonly waitForTasks?: boolean | undefined
  /** Called with a task that the client waits for, whenever it has looked. */
  readonly onTask?: ((task: Task) => void) | undefined
}

const FIRST_LOOK_MS = 100
const LONGEST_LOOK_MS = 1_000

/** Whether an answer is a task that continues, and no changeset or fork. */
export function isTask({ status, headers }: Response): boolean {
  return status === 202 && /\/tasks\/task_[^/]*$/.test(headers.get('location') ?? '')
}

/** Waits until a task is done. A Problem if it fails or is cancelled. */
export async function taskDone(
  task: Task,
  look: () => Promise<Task>,
  { onTask }: TaskOptions,
  signal?: AbortSignal,
): Promise<Task> {
  let now = task
  for (let wait = FIRST_LOOK_MS; now.state === 'running'; wait = Math.min(wait * 2, LONGEST_LOOK_MS)) {
    onTask?.(now)
    await pause(wait, signal)
    now = await look()
  }
  onTask?.(now)
  if (now.state === 'done') return now
  const { code, message } = now.error ?? { code: 'conflict', message: `The task ${now.id} was cancelled.` }
  throw new Problem(code, message, { task: now.id })
}
