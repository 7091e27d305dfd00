import { Problem } from '@tildebase/nouns'
import { addressOf, checkKey, withSession } from '../service/service.ts'
import { session } from '../service/session.ts'
import { t } from '../texts/text.ts'

export interface Report {
  readonly success: boolean
  readonly imported: number
  readonly errors: number
  readonly details: readonly { readonly row: number; readonly line?: number | undefined; readonly error: string }[]
  readonly detailsTruncated?: boolean
  /** Names in the rows that are neither declared nor stored, each with the nearest field. */
  readonly warnings?: readonly { readonly field: string; readonly nearest: string | null }[]
}

export interface ImportOptions {
  readonly type: string
  readonly dryRun: boolean
  readonly upsert: string | null
}

/** Sends all rows in one request and reports how much of it is sent, which fetch cannot do. */
export function uploadAll(
  rows: readonly { readonly text: string }[],
  options: ImportOptions,
  onSent: (share: number) => void,
  signal: AbortSignal,
): Promise<Report> {
  const body = new Blob(rows.map(({ text }) => text))
  const query = { dryRun: options.dryRun ? 'true' : null, upsert: options.upsert }
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest()
    request.open('POST', addressOf(`/import/${options.type}`, query))
    if (session.value)
      for (const [name, value] of withSession(session.value, 'POST')) request.setRequestHeader(name, value)
    request.setRequestHeader('content-type', 'application/x-ndjson')
    request.upload.onprogress = ({ loaded, total }) => onSent(total === 0 ? 0 : loaded / total)
    request.onload = () => {
      checkKey(request.status)
      if (request.status < 400) done(JSON.parse(request.responseText))
      else failed(problemOf(request))
    }
    request.onerror = () => failed(new Error(t('The connection broke while the file was sent.')))
    request.onabort = () => failed(new Problem('cancelled', t('The import was cancelled.')))
    signal.addEventListener('abort', () => request.abort())
    request.send(body)
  })
}

function problemOf({ status, responseText }: XMLHttpRequest): Problem {
  try {
    const { error, message, ...about } = JSON.parse(responseText)
    return new Problem(String(error), String(message), { ...about, status })
  } catch {
    return new Problem('unexpected_answer', t('The server answered {}.', status), { status })
  }
}
