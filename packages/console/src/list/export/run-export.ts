import { ClosedError, send } from '../../service/service.ts'
import { session } from '../../service/session.ts'
import { t } from '../../texts/text.ts'
import { say } from '../../toast.ts'
import type { Entity } from '../../values/entity.ts'
import type { Noun } from '../../values/noun.ts'
import { type Export, type ExportJob, exportJobs, type Format, MOST_IDS } from './export-jobs.ts'
import { saveFile } from './save-file.ts'
import { readSheet } from './sheet.ts'

const META = ['$version', '$createdAt', '$updatedAt', '$createdBy']
const NEWLINE = 10

let lastId = 0

/** Reads an export and saves it when it is whole. It is shown until then, and can be cancelled. */
export function runExport(wanted: Export): void {
  lastId += 1
  const id = lastId
  const file = `${wanted.noun.name}.${wanted.format === 'sheet' ? 'csv' : wanted.format}`
  const leaving = new AbortController()
  const unit = wanted.format === 'parquet' ? 'bytes' : 'rows'
  const total = unit === 'bytes' ? null : 'selected' in wanted.what ? wanted.what.selected.length : wanted.what.total
  const job: ExportJob = {
    id,
    file,
    unit,
    done: 0,
    total,
    failure: null,
    cancel: () => {
      remove(id)
      leaving.abort()
    },
    retry: () => {
      remove(id)
      runExport(wanted)
    },
  }
  exportJobs.value = [...exportJobs.value, job]
  void run(wanted, job, leaving.signal)
}

async function run(wanted: Export, { id, file }: ExportJob, signal: AbortSignal): Promise<void> {
  const stay = (event: BeforeUnloadEvent) => event.preventDefault()
  window.addEventListener('beforeunload', stay)
  try {
    const content = await read(wanted, signal, (patch) => change(id, patch))
    // Cancelled while the last bytes arrived: no file is saved then.
    if (signal.aborted) throw signal.reason
    saveFile(content, file)
    remove(id)
    say(t('{} is in your downloads.', file))
  } catch (reason) {
    if (reason instanceof ClosedError) return remove(id)
    if (signal.aborted) return say(t('The export of {} was cancelled. No file was saved.', file))
    change(id, { failure: reason as Error })
  } finally {
    window.removeEventListener('beforeunload', stay)
  }
}

type OnPart = (patch: Partial<ExportJob>) => void

/** One file, read in parts where all ids do not fit into one request. */
async function read(wanted: Export, signal: AbortSignal, onPart: OnPart): Promise<Blob> {
  const { noun, format, what, shown, time } = wanted
  const parts = 'filter' in what ? [what.filter] : partsOf(what.selected)
  if (format === 'sheet') return readSheet(noun, parts, shown, time, signal, (done) => onPart({ done }))
  // The parts have the same columns, also where their entities have other fields.
  const fields = parts.length > 1 && 'selected' in what && format === 'csv' ? columnsOf(noun, what.selected) : undefined
  const read: Blob[] = []
  let done = 0
  for (const part of parts) {
    const filter = Object.keys(part).length === 0 ? undefined : part
    const query = { format, filter, fields, asOf: time ?? undefined }
    const response = await send('GET', `/export/${noun.name}`, { query, signal })
    const size = Number(response.headers.get('content-length'))
    if (format === 'parquet' && size > 0) onPart({ total: size })
    const chunks: Uint8Array<ArrayBuffer>[] = []
    for (const reader = response.body!.getReader(); ; ) {
      const { done: isEnd, value } = await reader.read()
      if (isEnd) break
      chunks.push(value)
      done += format === 'parquet' ? value.length : linesIn(value)
      onPart({ done })
    }
    read.push(new Blob(chunks))
  }
  return read.length === 1 ? read[0]! : new Blob(await joined(read, format))
}

/** Leaves out what each part has because it is a whole file: the header of a table, the brackets of an array. */
async function joined(parts: readonly Blob[], format: Format): Promise<BlobPart[]> {
  if (format === 'ndjson') return [...parts]
  if (format === 'json') return parts.flatMap((part, at) => [at === 0 ? '[' : ',\n', part.slice(1, -1)]).concat(']')
  const header = new Uint8Array(await parts[0]!.arrayBuffer()).indexOf(NEWLINE) + 1
  return parts.map((part, at) => (at === 0 ? part : part.slice(header)))
}

function partsOf(selected: readonly Entity[]): object[] {
  const ids = selected.map(({ $id }) => $id)
  const count = Math.ceil(ids.length / MOST_IDS)
  return Array.from({ length: count }, (_, at) => ({ $id: { $in: ids.slice(at * MOST_IDS, (at + 1) * MOST_IDS) } }))
}

/** The columns that one export of all would have: those of the store, those of the type, and the others that occur. */
function columnsOf(noun: Noun, selected: readonly Entity[]): string {
  const declared = Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret')
  const names = declared.map(({ name }) => name)
  const known = new Set([...names, ...Object.keys(noun.fields)])
  const others = new Set(selected.flatMap((entity) => Object.keys(entity)))
  const more = [...others].filter((name) => !name.startsWith('$') && !known.has(name)).sort()
  return [...META, ...names, ...more].join()
}

function linesIn(chunk: Uint8Array): number {
  let lines = 0
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1
  return lines
}

function change(id: number, patch: Partial<ExportJob>): void {
  exportJobs.value = exportJobs.value.map((job) => (job.id === id ? { ...job, ...patch } : job))
}

function remove(id: number): void {
  exportJobs.value = exportJobs.value.filter((job) => job.id !== id)
}

// What belongs to one tenant is not shown in another.
session.subscribe(() => {
  for (const job of exportJobs.peek()) job.cancel()
})
