import { Problem } from '@tildebase/nouns'
import type { Tenant } from '@tildebase/tenant'
import type { Verdict } from '@tildebase/tenant/internal'
import type { BlobStore } from '@tildebase/tenant/ports'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { empty, json, render } from '../../doors/reply.ts'
import { logPart } from '../../doors/watch/log-request.ts'
import { contentFault, contentResponse, demandHash, takeContent } from '../../host/files/contents.ts'
import { afterOf, replayedReply, restoringReply } from '../../host/operator.ts'
import type { Bucket } from '../env.ts'
import { restoring } from '../object/admit.ts'
import type { ObjectMarks } from '../object/marks.ts'
import { MORE, type ObjectTask } from '../object/object-command.ts'
import { newestBackup } from './backup.ts'

/** Letters of a slice, about. */
const SLICE = 4_194_304
const MOST_FAULTS = 1_000

/** Does what the operator asks of a tenant as a whole. */
export async function runTask(task: ObjectTask, request: HttpRequest, context: TaskContext): Promise<HttpResponse> {
  const { slug, marks } = context
  const [exists, isRestoring] = [context.exists(), context.isRestoring()]
  if (task.do === 'replay') return takeInLog(request, task, context)
  if (task.do === 'create' || task.do === 'restore') {
    if (isRestoring) throw restoring(slug)
    if (exists) throw new Problem('conflict', `The tenant ${slug} already exists.`, { id: slug })
    if (task.do === 'restore') return restore(task, context)
    marks.set('created', true)
    return render(json(201, { tenant: slug }))
  }
  if (!exists && !isRestoring) throw new Problem('not_found', `There is no tenant ${slug}.`, { id: slug })
  if (task.do === 'delete') {
    await context.erase()
    return render(empty(204))
  }
  if (isRestoring && task.do === 'info') return progressOf(context)
  if (isRestoring) throw restoring(slug)
  const tenant = context.tenant()
  switch (task.do) {
    case 'info':
      return render(json(200, { ...tenant.admin.info(), bytes: context.bytes() }))
    case 'verify':
      return render(json(200, { tenant: slug, ...(await verified(tenant, context.blobs)) }))
    case 'readContent':
      demandHash(task.hash)
      return contentResponse(slug, task.hash, tenant.admin.content(task.hash), context.blobs)
    case 'writeContent':
      return takeContent(task.hash, request, context.blobs, (content) => tenant.admin.takeIn(content))
    case 'log': {
      const pages = tenant.admin.log(await logPart(tenant, task.question))
      return { status: 200, headers: LINES, body: streamed(pages) }
    }
    case 'slice':
      return slice(tenant.admin.log(await logPart(tenant, task.question)))
  }
}

const LINES = { 'content-type': 'application/x-ndjson' }

/** Compares the log, and the bytes of files with their hashes. */
async function verified(tenant: Tenant, blobs: BlobStore | undefined): Promise<Verdict> {
  const verdict = tenant.admin.verify()
  const faults = [...verdict.faults]
  for (const content of blobs ? tenant.admin.contents() : []) {
    const fault = faults.length < MOST_FAULTS ? await contentFault(blobs!, content) : null
    if (fault !== null) faults.push({ seq: null, message: fault })
  }
  return { ...verdict, ok: faults.length === 0, faults }
}

/** How far a restore has come. */
function progressOf({ slug, marks, exists, tenant }: TaskContext): HttpResponse {
  const { of = null, failed } = marks.get('restoring') ?? {}
  return restoringReply(slug, exists() ? tenant().admin.head.seq : 0, of, failed)
}

/** Begins to restore a backup. The alarm continues with it, a few segments at a time. */
async function restore(
  { from, asOf }: Extract<ObjectTask, { do: 'restore' }>,
  { slug, marks, bucket, wake, exists, demandFree }: TaskContext,
): Promise<HttpResponse> {
  if (!bucket) throw new Problem('not_supported', 'This host has no bucket of backups: bind BACKUPS.')
  if (asOf !== null && from === slug) {
    throw new Problem('invalid_parameter', 'A moment of a tenant is restored under another name.', { field: 'asOf' })
  }
  const prefix = await newestBackup(bucket, from)
  if (prefix === null) throw new Problem('not_found', `There is no backup of ${from}.`, { id: from })
  demandFree()
  if (exists()) throw new Problem('conflict', `The tenant ${slug} already exists.`, { id: slug })
  marks.set('created', true)
  marks.set('restoring', { of: null, source: { prefix, first: 1, until: asOf, secrets: from === slug } })
  wake()
  return render(json(202, { tenant: slug, restoring: true, events: 0 }))
}

/** The first pages of a log, as much as an object can hold. */
function slice(pages: Iterable<string>): HttpResponse {
  let text = ''
  for (const page of pages) {
    text += page
    if (text.length > SLICE && !/\{"end":true[^\n]*\n$/.test(page)) {
      return { status: 200, headers: { ...LINES, [MORE]: 'true' }, body: text }
    }
  }
  return { status: 200, headers: LINES, body: text }
}

async function* streamed(pages: Iterable<string>): AsyncGenerator<string> {
  yield* pages
}

type ReplayTask = Extract<ObjectTask, { do: 'replay' }>

/**
 * Takes in the lines of a log, or a slice of them. A log may continue after the last event of a tenant: that one stays in use.
 * For a new tenant, a mark refuses requests until the last slice has arrived, even if the object restarts.
 */
async function takeInLog(request: HttpRequest, task: ReplayTask, context: TaskContext): Promise<HttpResponse> {
  const { slug, marks } = context
  if (request.body === null) throw new Problem('invalid_body', 'Send the lines of a log as the body.')
  // A slice may arrive while the one before is worked on.
  if (marks.get('restoring')?.inSlices) await context.replayed()
  const mark = marks.get('restoring')
  if (mark?.source) throw restoring(slug)
  const body = request.body instanceof Uint8Array ? only(request.body) : request.body
  if (context.exists() && !context.isRestoring()) return taken(context, task, false, body)
  context.demandFree()
  return context.replaying(async () => {
    const log = await begun(body)
    const isNew = !mark || log.after === 0
    if (isNew && context.exists()) await context.erase()
    marks.set('restoring', { of: task.of ?? mark?.of ?? null, inSlices: task.more || mark?.inSlices === true })
    try {
      const reply = await taken(context, task, true, log.all)
      if (!task.more) marks.clear('restoring')
      return reply
    } catch (reason) {
      // Of slices the earlier ones are kept: it can continue after them. A restore whose first one is refused has not begun.
      if (isNew) await context.erase()
      throw reason
    }
  })
}

async function taken(
  { slug, tenant }: TaskContext,
  task: ReplayTask,
  isNew: boolean,
  body: AsyncIterable<Uint8Array>,
): Promise<HttpResponse> {
  const { admin } = tenant()
  const { events } = await admin.replay(body, pause, task)
  const missing = admin.missingContents()
  return replayedReply(slug, { more: task.more, isNew, events, missing, verified: false })
}

/** Lets requests run: they get 503 with Retry-After. */
function pause(): Promise<void> {
  return new Promise((next) => setTimeout(next))
}

const LONGEST_HEAD = 4_096

/** A log with the event that it continues after, as its head says. What is not a log is refused later. */
async function begun(body: AsyncIterable<Uint8Array>): Promise<{ after: unknown; all: AsyncIterable<Uint8Array> }> {
  const chunks = body[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let head = ''
  while (!head.includes('\n') && head.length < LONGEST_HEAD) {
    const { done, value } = await chunks.next()
    if (done) break
    read.push(value)
    head += new TextDecoder().decode(value.subarray(0, LONGEST_HEAD))
  }
  async function* all() {
    yield* read
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
  }
  return { after: afterOf(head), all: all() }
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** The object of a tenant, as the operator's tasks need it. */
interface TaskContext {
  readonly slug: string
  readonly exists: () => boolean
  readonly isRestoring: () => boolean
  /** Throws where a restore cannot begin, or continue, at this moment. */
  readonly demandFree: () => void
  readonly marks: ObjectMarks
  readonly bucket: Bucket | undefined
  readonly bytes: () => number
  /** Opens the tenant. */
  readonly tenant: () => Tenant
  /** Where the bytes of files are, if there is a bucket. */
  readonly blobs: BlobStore | undefined
  /** Refuses all requests during some work. */
  readonly replaying: <T>(work: () => Promise<T>) => Promise<T>
  /** Settles when work of that kind has ended; null when there is none. */
  readonly replayed: () => Promise<unknown> | null
  /** Has the alarm ring now. */
  readonly wake: () => void
  readonly erase: () => Promise<void>
}
