import { createReadStream, rmSync, statSync } from 'node:fs'
import { Problem } from '@tildebase/nouns'
import { detach, forgetTimers, rewind, type Verdict } from '@tildebase/tenant/internal'
import type { Sql } from '@tildebase/tenant/ports'
import { afterOf } from '../../../host/operator.ts'
import { faultsAside } from '../../sqlite/checks/integrity.ts'
import { SUFFIXES } from '../../sqlite/checks/wal-mark.ts'
import { canDefer, syncPath } from '../../sqlite/disk-sync.ts'
import { openSql } from '../../sqlite/sql.ts'
import { type OpenOptions, type OpenTenant, openTenantFile } from '../../tenants/open-tenant.ts'
import type { Refusal } from '../messages.ts'

/** What is done to a file that is not a tenant's own: a copy, or one that was sent. It takes as long as the file is large. */
export type FileTask =
  /** Opens the file as a tenant, and verifies it. */
  | { readonly do: 'verify'; readonly slug: string; readonly path: string }
  /** Takes a copy back to an event, and leaves its keys behind. */
  | { readonly do: 'detach'; readonly path: string; readonly seq: number | null; readonly origin: string }
  /** Leaves behind what is due: the origin of the file may have done it. */
  | { readonly do: 'forgetTimers'; readonly path: string }
  /** Adds the events of a log to a file. With the last of them the tenant is verified. */
  | ReplayFileTask

/** A log, or a slice of one, that is added to the file of a new tenant. */
interface ReplayFileTask {
  readonly do: 'replay'
  readonly slug: string
  /** The lines. */
  readonly path: string
  /** The file that the new tenant is made in, until it is whole. */
  readonly into: string
  /** Whether other slices follow. */
  readonly more: boolean
}

/** How far a new tenant is; of one that is whole, also the contents whose bytes are still to come. */
export interface Replayed {
  readonly events: number
  readonly missing: readonly string[]
}

export type FileResult = Verdict | Replayed | null

/** What came of a task, as the thread that did it tells. */
export type FileOutcome = { readonly result: FileResult } | { readonly refusal: Refusal }

/** How far a task is, as the thread tells meanwhile. */
export interface FileProgress {
  readonly done: number
  readonly of: number
}

type FileTaskOptions = Pick<OpenOptions, 'tenant' | 'secretKey' | 'stats'>

const CACHE_KIB = 16_000
/** The indexes over ids are written at random places. */
const REPLAY_CACHE_KIB = 64_000
const LONGEST_HEAD = 4_096
const MOST_FAULTS = 100

type Tell = (done: number, of: number) => void

/** Does a task; `tell` is called now and then with the events that are done. */
export async function runFileTask(options: FileTaskOptions, task: FileTask, tell: Tell): Promise<FileResult> {
  switch (task.do) {
    case 'verify':
      return verify(options, task.slug, task.path, tell)
    case 'detach':
      return change(task.path, (sql) => {
        if (task.seq !== null) rewind(sql, task.seq)
        detach(sql, task.origin, Date.now())
      })
    case 'forgetTimers':
      return change(task.path, (sql) => sql.transaction(() => forgetTimers(sql, Date.now())))
    case 'replay':
      return replay(options, task)
  }
}

function verify(options: FileTaskOptions, slug: string, path: string, tell: Tell): Verdict {
  try {
    const { tenant, close } = openTenantFile(options, slug, path, { cacheKiB: CACHE_KIB }, () => {})
    try {
      return tenant.admin.verify(tell)
    } finally {
      close()
    }
  } catch (reason) {
    if (reason instanceof Problem && reason.code !== 'unavailable') throw reason
    const { message } = reason as Error
    throw new Problem('validation_error', reason instanceof Problem ? message : `The file is not a tenant: ${message}`)
  }
}

/** The new tenant that slices are added to. It stays open between them: closing it copies its log into the file. */
interface Making {
  readonly into: string
  /** The file that was opened: another one may have its name by now. */
  readonly inode: number
  readonly opened: OpenTenant
}

let making: Making | null = null

async function replay(options: FileTaskOptions, task: ReplayFileTask): Promise<Replayed> {
  const { path, more } = task
  const { admin } = (await made(options, task)).tenant
  let events: number
  try {
    events = (await admin.replay(createReadStream(path), async () => {}, { more, alone: true })).events
  } catch (reason) {
    leave()
    throw reason
  }
  if (more) return { events, missing: [] }
  leave()
  return { events, missing: await demandWhole(options, task) }
}

/** Verifies a new tenant: its file in another thread, next to its states in this one. Returns the contents that are missing. */
async function demandWhole(options: FileTaskOptions, { slug, into }: ReplayFileTask): Promise<string[]> {
  const inFile = faultsAside(into)
  // Until it is closed the file does not change: all that is written stays in its log, where SQLite leaves that to the host.
  if (!canDefer()) await inFile.catch(() => {})
  const file = { cacheKiB: REPLAY_CACHE_KIB, deferred: true, disk: { mostPages: Number.POSITIVE_INFINITY } }
  const { tenant, close } = openTenantFile(options, slug, into, file, () => {})
  try {
    const derived = tenant.admin.derivedFaults()
    const faults = [...(await inFile).map((message) => ({ seq: null, message: `The file: ${message}` })), ...derived]
    if (faults.length === 0) return tenant.admin.missingContents()
    throw new Problem('validation_error', `The restored tenant is not whole: ${faults[0]!.message}`, {
      details: faults.slice(0, MOST_FAULTS),
    })
  } finally {
    await inFile.catch(() => {})
    close()
  }
}

/** The tenant that a slice is added to. */
async function made(options: FileTaskOptions, { slug, path, into }: ReplayFileTask): Promise<OpenTenant> {
  const isNew = await isFirst(path)
  if (isNew || making?.into !== into || making.inode !== inodeOf(into)) leave()
  if (isNew) for (const suffix of SUFFIXES) rmSync(`${into}${suffix}`, { force: true })
  if (making === null) {
    const opened = openTenantFile(options, slug, into, { cacheKiB: REPLAY_CACHE_KIB, deferred: true }, () => {})
    making = { into, inode: inodeOf(into), opened }
  }
  return making.opened
}

function leave(): void {
  making?.opened.close()
  making = null
}

/** The number of a file; 0 when there is none. */
function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0
}

/** Whether a log begins with the first event of its tenant. What is not a log is refused later. */
async function isFirst(path: string): Promise<boolean> {
  let head = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8', end: LONGEST_HEAD })) head += chunk
  return afterOf(head) === 0
}

function change(path: string, work: (sql: Sql) => void): null {
  const sql = openSql(path, { cacheKiB: CACHE_KIB })
  try {
    work(sql)
  } finally {
    sql.close()
  }
  // All of it, as the thread of the tenant would otherwise do before the file becomes its own.
  syncPath(path)
  return null
}
