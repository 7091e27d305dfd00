import type { IncomingMessage } from 'node:http'
import { Problem } from '@tildebase/nouns'
import type { Body } from '../http.ts'

export interface UploadOptions {
  /** The largest body that is held as a whole. */
  readonly bodyLimit: number
  /** How long a sender may send nothing in the middle of a body. */
  readonly bodyTimeout: number
}

/** A body that is held as a whole may take as many times the longest pause. */
const MOST_PAUSES = 10
/** How long the rest of a refused body is read and thrown away. */
const LINGER_MS = 30_000

/** The body of a request: bit by bit for those who take it so, else as a whole. */
export function bodyOf(request: IncomingMessage, streams: boolean, options: UploadOptions): Body | Promise<Body> {
  if (!hasBody(request)) return null
  if (streams) return flowing(request, options.bodyTimeout)
  if (Number(request.headers['content-length']) > options.bodyLimit) throw tooLarge(options.bodyLimit)
  return whole(request, options)
}

/** Whether there is more of the body to come. */
export function isUnfinished(request: IncomingMessage): boolean {
  return hasBody(request) && !request.complete && !request.destroyed
}

/**
 * Goes on once the body is over that was answered before its end, and throws away what comes: most senders read the
 * answer only then, and a connection that is closed on them loses it.
 */
export function afterBody(request: IncomingMessage, goOn: () => void): void {
  const late = setTimeout(() => request.destroy(), LINGER_MS).unref()
  const over = () => {
    clearTimeout(late)
    request.off('end', over).off('close', over)
    goOn()
  }
  request.on('end', over).on('close', over).resume()
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

function whole(request: IncomingMessage, { bodyLimit, bodyTimeout }: UploadOptions): Promise<Body> {
  return new Promise((done, failed) => {
    const chunks: Buffer[] = []
    let length = 0
    const latest = Date.now() + MOST_PAUSES * bodyTimeout
    const pause = setTimeout(() => failed(tooSlow(bodyTimeout)), bodyTimeout)
    const settle = (work: () => void) => {
      clearTimeout(pause)
      work()
    }
    request.on('data', (chunk: Buffer) => {
      pause.refresh()
      length += chunk.length
      if (length > bodyLimit) settle(() => failed(tooLarge(bodyLimit)))
      else if (Date.now() > latest) settle(() => failed(tooSlow(bodyTimeout)))
      else chunks.push(chunk)
    })
    request.on('end', () => settle(() => done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))))
    request.on('error', () => settle(() => failed(new Problem('invalid_body', 'The body broke off before its end.'))))
  })
}

/** The chunks as they come. Time is counted only while one is waited for: a reader may take as long as it likes. */
function flowing(request: IncomingMessage, timeout: number): AsyncIterableIterator<Uint8Array> {
  // Whoever stops reading still wants to answer: the socket must survive it.
  const chunks: AsyncIterator<Uint8Array> = request.iterator({ destroyOnReturn: false })
  let isStalled = false
  return {
    next: () =>
      new Promise((done, failed) => {
        const pause = setTimeout(() => {
          isStalled = true
          failed(tooSlow(timeout))
        }, timeout)
        chunks
          .next()
          .then(done, failed)
          .finally(() => clearTimeout(pause))
      }),
    async return() {
      // One that is stalled would end only after the chunk that does not come.
      if (!isStalled) await chunks.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function tooLarge(limit: number): Problem {
  return new Problem('too_large', `The body may have ${limit} bytes. Use /import for more.`, { limit })
}

function tooSlow(timeout: number): Problem {
  return new Problem('body_timeout', `The body did not go on for ${timeout / 1_000} seconds. Send it again.`)
}
