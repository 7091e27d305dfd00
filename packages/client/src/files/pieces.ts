import { type FileValue, Problem } from '@tildebase/nouns'
import { backOff, pause } from '../transport/retry.ts'
import type { Sending, Wire } from '../transport/wire.ts'
import type { UploadOptions } from '../types/file-types.ts'

/** Larger content is sent in pieces: when a connection is lost, only one piece is sent again. */
export const PIECE = 4_194_304
const MOST_PIECES = 5_000
const TRIES = 6

/** Sends content piece by piece, by the protocol tus. */
export async function sendPieces(
  wire: Wire,
  root: string,
  content: Blob,
  { name = (content as Partial<File>).name ?? 'file', resume, onProgress, signal }: UploadOptions,
): Promise<FileValue> {
  const { size, type } = content
  const uploads = `${root}/uploads`
  const send = async (method: string, path: string, headers: Sending['headers'], body?: Blob) => {
    const raw = body && { type: 'application/offset+octet-stream', body }
    const sending = { method, headers: { 'tus-resumable': '1.0.0', ...headers }, raw, signal }
    return (await wire.send(path, sending)).headers
  }
  const begin = async () => {
    const headers = await send('POST', uploads, {
      'upload-length': `${size}`,
      'upload-metadata': `filename ${base64(name)}${type && `,filetype ${base64(type)}`}`,
    })
    return headers.get('location')!.split('/').at(-1)!
  }
  const upload = resume ?? (await begin())
  const path = `${uploads}/${encodeURIComponent(upload)}`
  const piece = Math.max(PIECE, Math.ceil(size / MOST_PIECES))
  for (let failures = 0, isKnown = resume === undefined, offset = 0; ; ) {
    try {
      const state = isKnown
        ? await send('PATCH', path, { 'upload-offset': `${offset}` }, content.slice(offset, offset + piece))
        : // Not HEAD: a refusal says why.
          await send('GET', path, {})
      // Looking is not progress: a piece may be refused after each look.
      if (isKnown) failures = 0
      isKnown = true
      offset = Number(state.get('upload-offset'))
      onProgress?.({ sent: offset, size, upload })
      const hash = state.get('upload-hash')
      if (hash !== null) return { hash, size, type, name }
    } catch (reason) {
      // The answer to a piece got lost, or the service has not noticed yet that its connection is gone.
      if (!(reason instanceof Problem && reason.code === 'conflict') || ++failures === TRIES) throw reason
      isKnown = false
      await pause(backOff(failures), signal)
    }
  }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
