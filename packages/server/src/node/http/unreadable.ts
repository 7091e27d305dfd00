import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Problem } from '@tildebase/nouns'
import { errorBody, statusOf } from '../../doors/respond.ts'
import { http } from './http-module.ts'

/** How long the client has to read the answer. */
const LINGER_MS = 2_000

/** Answers what cannot be read as HTTP in the form of every other refusal, and closes the connection. */
export function refuseUnreadable(reason: NodeJS.ErrnoException, socket: Duplex): void {
  if (reason.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) return void socket.destroy()
  refuseSocket(socket, problemOf(reason.code))
}

/** Writes a refusal to a socket itself, and closes the connection. */
export function refuseSocket(socket: Duplex, problem: Problem): void {
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(problem, requestId))
  const status = statusOf(problem.code)
  socket.end(
    [
      `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      ...(problem.about.retryAfter === undefined ? [] : [`retry-after: ${problem.about.retryAfter}`]),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  // What is left unread would take the answer back on the way.
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/**
 * Whether an answer is in progress, into which this one would be written. Node checks the same, but does not expose it.
 */
function isAnswering(socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true
}

function problemOf(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('header_too_large', 'The path, the query and the headers are too long together.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('body_timeout', 'The headers are incomplete. Send the request again.')
    default:
      return new Problem('invalid_request', 'This cannot be read as an HTTP request.')
  }
}
