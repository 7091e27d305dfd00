import { Problem } from '@tildebase/client'
import { addressOf, checkKey, withSession } from '../service.ts'
import { session } from '../session.ts'

export interface Report {
  readonly success: boolean
  readonly imported: number
  readonly errors: number
  readonly details: readonly { readonly row: number; readonly line?: number; readonly error: string }[]
  readonly detailsTruncated?: boolean
  /** Names in the rows that are neither declared nor stored, each with the nearest field. */
  readonly warnings?: readonly { readonly field: string; readonly nearest: string | null }[]
}

export interface ImportOptions {
  readonly type: string
  readonly dryRun: boolean
  readonly upsert: string | null
  readonly onSent: (part: number) => void
}

const KINDS: { readonly [extension: string]: string } = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv',
}

/** Imports a file as it is. */
export function upload(file: File, options: ImportOptions): Promise<Report> {
  const [, extension = 'json', gz] = /\.(\w+?)(\.gz)?$/i.exec(file.name) ?? []
  return post(file, KINDS[extension.toLowerCase()] ?? 'application/json', gz !== undefined, options)
}

/** Imports drafts, one line each. */
export function uploadRows(rows: readonly object[], options: ImportOptions): Promise<Report> {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  return post(new Blob([lines]), 'application/x-ndjson', false, options)
}

/** Sends a body and reports how much of it is sent, which fetch cannot do. */
function post(body: Blob, kind: string, isGzip: boolean, options: ImportOptions): Promise<Report> {
  const query = { dryRun: options.dryRun ? 'true' : null, upsert: options.upsert }
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest()
    request.open('POST', addressOf(`/import/${options.type}`, query))
    if (session.value)
      for (const [name, value] of withSession(session.value, 'POST')) request.setRequestHeader(name, value)
    request.setRequestHeader('content-type', kind)
    if (isGzip) request.setRequestHeader('content-encoding', 'gzip')
    request.upload.onprogress = ({ loaded, total }) => options.onSent(total === 0 ? 0 : loaded / total)
    request.onload = () => {
      checkKey(request.status)
      if (request.status < 400) done(JSON.parse(request.responseText))
      else failed(problemOf(request))
    }
    request.onerror = () => failed(new Error('The connection broke while the file was sent.'))
    request.send(body)
  })
}

function problemOf({ status, responseText }: XMLHttpRequest): Problem {
  try {
    const { error, message, ...about } = JSON.parse(responseText)
    return new Problem(String(error), String(message), { ...about, status })
  } catch {
    return new Problem('unexpected_answer', `The server answered ${status}.`, { status })
  }
}
