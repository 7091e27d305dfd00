import { filesOf } from '@tildebase/client'
import type { JsonObject } from '@tildebase/nouns'
import { invalidate } from '../service/cache.ts'
import { titleOf } from '../service/schema.ts'
import { ClosedError, send, statusOf } from '../service/service.ts'
import { session } from '../service/session.ts'
import { newCorrelation, pending, sayDone } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { say } from '../toast.ts'
import type { Entity } from '../values/entity.ts'
import { type Noun, singular } from '../values/noun.ts'
import { attaching, type Upload, uploads } from './state.ts'
import { forgetUpload, keepUpload, keptUpload } from './unfinished.ts'
import { wireWith } from './wire.ts'

/** Sends files to the only field that can take them; people choose one of several. */
export function sendOrAsk(noun: Noun, entity: Entity, files: readonly File[], fields: readonly string[]): void {
  const [only] = fields
  if (only === undefined) {
    say(t('A {} has no field for files that you can change.', singular(noun)), { tone: 'bad' })
  } else if (fields.length > 1) {
    attaching.value = { noun, entity, files }
  } else if (files.length > 1 && noun.fields[only]?.list !== true) {
    say(t('This field holds one file. Drop one file only.'), { tone: 'bad' })
  } else {
    sendFiles(noun, entity, only, files)
  }
}

interface Job {
  readonly id: number
  readonly noun: Noun
  readonly entity: Entity
  readonly field: string
  readonly file: File
  /** Names the file and its target, so that the same file continues after a reload. */
  readonly print: string
  readonly key: string
  upload: string | undefined
  control: AbortController
}

let newest = 0
/** The end of what is sent to a field: a list gets its files in their order. */
const lanes = new Map<string, Promise<void>>()

/** Sends files to a field of an entity, one after the other. */
function sendFiles(noun: Noun, entity: Entity, field: string, files: readonly File[]): void {
  for (const file of files) {
    newest += 1
    const print = [session.value?.tenant, entity.$id, field, file.name, file.size, file.lastModified].join(' ')
    const control = new AbortController()
    const upload = keptUpload(print)
    const job: Job = { id: newest, noun, entity, field, file, print, key: newCorrelation(), upload, control }
    show(job)
    queue(job)
  }
}

function show(job: Job): void {
  const line: Upload = {
    id: job.id,
    name: job.file.name,
    title: titleOf(job.entity, job.noun),
    sent: 0,
    size: job.file.size,
    state: 'waiting',
    failure: null,
    pause() {
      job.control.abort()
      change(job, { state: 'paused' })
    },
    resume() {
      job.control = new AbortController()
      change(job, { state: 'waiting', failure: null })
      queue(job)
    },
    cancel() {
      job.control.abort()
      end(job)
      if (job.upload !== undefined) void remove(job.upload)
    },
  }
  uploads.value = [...uploads.value, line]
  if (uploads.value.length === 1) window.addEventListener('beforeunload', warn)
}

function queue(job: Job): void {
  const lane = `${job.entity.$id} ${job.field}`
  const { signal } = job.control
  const next = (lanes.get(lane) ?? Promise.resolve()).then(() => (signal.aborted ? undefined : run(job, signal)))
  lanes.set(lane, next)
}

async function run(job: Job, signal: AbortSignal): Promise<void> {
  const { noun, entity, field, file } = job
  change(job, { state: 'sending' })
  pending.value += 1
  try {
    await upload(job, signal)
    end(job)
    sayDone(t('{} is attached to {}.', file.name, titleOf(entity, noun)), job.key)
  } catch (reason) {
    if (reason instanceof ClosedError) return end(job)
    if (!signal.aborted) change(job, { state: 'failed', failure: reason as Error })
  } finally {
    pending.value -= 1
    invalidate(new Set([noun.name]))
  }

  async function upload({ upload: resume }: Job, signal: AbortSignal): Promise<void> {
    const at = (id: string) => `/${noun.name}/${id}`
    const wire = wireWith(job.key)
    const target = {
      root: '',
      type: noun.name,
      at,
      get: (id: string) => wire.json(at(id)),
      update: (id: string, body: JsonObject, { ifVersion }: { ifVersion?: number | undefined }) =>
        wire.json(at(id), {
          method: 'PUT',
          body,
          headers: { 'if-match': ifVersion === undefined ? undefined : `"${ifVersion}"` },
          signal,
        }),
    }
    try {
      await filesOf(wire, target).upload(entity.$id, field, file, {
        resume,
        signal,
        // A small file that is sent again after a lost answer is attached once.
        idempotencyKey: job.key,
        onProgress({ sent, upload }) {
          if (upload !== null) {
            job.upload = upload
            keepUpload(job.print, upload)
          }
          if (!signal.aborted) change(job, { sent })
        },
      })
    } catch (reason) {
      if (resume === undefined || ![404, 410].includes(statusOf(reason))) throw reason
      // The service has removed the unfinished upload, or it is another key’s: begin again.
      forgetUpload(job.print)
      job.upload = undefined
      await upload(job, signal)
    }
  }
}

function change({ id }: Job, news: Partial<Upload>): void {
  uploads.value = uploads.value.map((one) => (one.id === id ? { ...one, ...news } : one))
}

function end(job: Job): void {
  forgetUpload(job.print)
  uploads.value = uploads.value.filter(({ id }) => id !== job.id)
  if (uploads.value.length === 0) window.removeEventListener('beforeunload', warn)
}

/** The service removes what was not finished, sooner or later; here it is at once. */
function remove(upload: string): Promise<unknown> {
  return send('DELETE', `/uploads/${upload}`, { headers: { 'tus-resumable': '1.0.0' } }).catch(() => undefined)
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

// What was sent to one tenant is not continued in another.
session.subscribe(() => {
  for (const { pause } of uploads.value) pause()
  uploads.value = []
  window.removeEventListener('beforeunload', warn)
})
