import { type Task, type Tildebase, tildebase, type Warning, type Wire, warningText, wireTo } from '@tildebase/client'
import type { NounMap } from '@tildebase/nouns'
import { cell } from '../output/cell.ts'
import { progressText } from '../output/progress.ts'
import { UsageError } from '../parse/usage-error.ts'
import type { Settings } from '../settings.ts'

/** The tenant that the command works on. */
export interface Link {
  readonly $: Tildebase<NounMap>
  readonly wire: Wire
  /** `/~acme`: the path of the tenant. */
  readonly root: string
}

const RETRIES = 2

/** A link to the tenant that the settings name. */
export function linkTo({ url, tenant, key, wait }: Settings): Link {
  const apiKey = needed(key, 'No key was given. Use --key, set TILDE_KEY, or run: tilde login')
  const slug = needed(tenant, 'No tenant was given. Use --tenant or set TILDE_TENANT.')
  const tasks = { onTask: wait ? taskShower() : leave }
  const options = { baseUrl: checked(url), apiKey, retries: RETRIES, onWarnings: toStandardError, ...tasks }
  return { $: tildebase<NounMap>({ ...options, tenant: slug }), wire: wireTo(options), root: `/~${slug}` }
}

/** A connection to the service, with the operator key. */
export function operatorWire({ url, operatorKey }: Settings): Wire {
  const apiKey = needed(operatorKey, 'This command needs the operator key. Use --key or set TILDE_ROOT_KEY.')
  return wireTo({ baseUrl: checked(url), apiKey, retries: RETRIES })
}

/** On standard error, because programs read the result. */
function toStandardError(warnings: readonly Warning[]): void {
  for (const warning of warnings) process.stderr.write(`tilde: ${cell(warningText(warning))}\n`)
}

/** Shows the progress of a write that the service continues as a task; only on a terminal. */
function taskShower(): (task: Task) => void {
  const begun = performance.now()
  return ({ state, progress, total }) => {
    if (!process.stderr.isTTY) return
    const text = progressText(progress, total || null, performance.now() - begun, 'events')
    process.stderr.write(`\r\x1b[K${state === 'running' ? text : ''}`)
  }
}

/** A task that the command does not wait for. */
export class TaskBegun extends Error {
  readonly task: Task

  constructor(task: Task) {
    super(`${task.title} continues as the task ${task.id}.`)
    this.task = task
  }
}

function leave(task: Task): void {
  throw new TaskBegun(task)
}

function needed(value: string | undefined, sentence: string): string {
  if (value === undefined || value === '') throw new UsageError(sentence)
  return value
}

function checked(url: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return url
  throw new UsageError(`--url must be a URL such as http://localhost:8787, not ${url}.`)
}
