import { Problem } from '@tildebase/nouns'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { json, render } from '../../doors/reply.ts'
import { restoring } from '../object/admit.ts'
import type { ObjectTask } from '../object/object-command.ts'
import type { TaskContext } from './task-context.ts'

type ReplayTask = Extract<ObjectTask, { do: 'replay' }>

/**
 * Takes in the lines of a log, or a slice of them. A log may continue after the last event of a tenant: that one stays in use.
 * For a new tenant, a mark refuses requests until the last slice has arrived, even if the object restarts.
 */
export async function takeInLog(request: HttpRequest, task: ReplayTask, context: TaskContext): Promise<HttpResponse> {
  const { slug, marks } = context
  if (request.body === null) throw new Problem('invalid_body', 'Send the lines of a log as the body.')
  const mark = marks.get('restoring')
  if (mark?.source) throw restoring(slug)
  const body = request.body instanceof Uint8Array ? only(request.body) : request.body
  if (context.exists() && !context.isRestoring())
    return answered(slug, task.more, false, await context.tenant().admin.replay(body, pause, task))
  context.demandFree()
  return context.replaying(async () => {
    const log = await begun(body)
    const isNew = !mark || log.after === 0
    if (isNew && context.exists()) await context.erase()
    marks.set('restoring', { of: task.of ?? mark?.of ?? null })
    try {
      const replayed = await context.tenant().admin.replay(log.all, pause, task)
      if (!task.more) marks.clear('restoring')
      return answered(slug, task.more, true, replayed)
    } catch (reason) {
      // Of slices the earlier ones are kept: it can continue after them. A restore whose first one is refused has not begun.
      if (isNew) await context.erase()
      throw reason
    }
  })
}

function answered(slug: string, more: boolean, isNew: boolean, { events }: { readonly events: number }): HttpResponse {
  if (more) return render(json(202, { tenant: slug, events, ...(isNew && { restoring: true }) }))
  return render(json(201, { tenant: slug, events }))
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
  return { after: afterOf(head.slice(0, head.indexOf('\n'))), all: all() }
}

function afterOf(line: string): unknown {
  try {
    return JSON.parse(line).after
  } catch {
    return undefined
  }
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
