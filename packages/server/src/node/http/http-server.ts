import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { Problem } from '@tildebase/nouns'
import type { Gateway } from '../../doors/gateway.ts'
import { type BodyWay, type HttpRequest, type HttpResponse, withCommon } from '../../doors/http.ts'
import type { Connection } from '../../doors/limits/admission.ts'
import { refusal } from '../../doors/respond.ts'
import { scheduler } from '../../doors/turns.ts'
import type { AddressBounds, CountedRequest } from '../limits/addresses.ts'
import type { AnswerMemory, AnswerOwner } from '../limits/answers.ts'
import { bodyOf, hasBody, type UploadOptions } from './body.ts'
import { peerOf } from './client-address.ts'
import { http } from './http-module.ts'
import { compressed, sendFlowing, sendWhole } from './send-answer.ts'
import { refuseSocket, refuseUnreadable } from './unreadable.ts'

export interface HttpOptions extends UploadOptions {
  readonly gateway: Gateway
  readonly addresses: AddressBounds
  readonly answerMemory: AnswerMemory
  /** How the body of a request is read. */
  readonly bodyWay: (request: Pick<HttpRequest, 'method' | 'path' | 'headers'>) => BodyWay
  /** Whether the service is about to end: it then takes nothing new. */
  readonly isStopping: () => boolean
  /** Passes a request on to where its tenant is. False when it is to be answered here. */
  readonly elsewhere?:
    | ((request: IncomingMessage, response: ServerResponse, address: string) => boolean | Promise<boolean>)
    | undefined
  /** Whether clients should connect again for their next request: each answer ends its connection. */
  readonly isLeaving: () => boolean
  readonly report: (reason: unknown, requestId: string) => void
}

export interface Http {
  readonly server: Server
  /** Done when no answer is in progress any more, and no request has arrived that was not read yet. */
  idle(): Promise<void>
  /** Takes no connection any more. Those that are there stay. */
  stopAccepting(): void
  /** Done when there is no connection any more. */
  disconnected(): Promise<void>
}

/** A filter of 500 nodes fits into a path. */
const HEADERS = 65_536
/** No valid key, or too many requests. */
const REFUSED = new Set([401, 429])
/** Paths that answer to the last. */
const LASTING = new Set(['/healthz', '/readyz', '/metrics'])

/** An HTTP server in front of a gateway. */
export function createHttp(options: HttpOptions): Http {
  let underWay = 0
  let waiting: (() => void)[] = []
  const sockets = new Set<Socket>()
  const watching: (() => void)[] = []
  const receive = (request: IncomingMessage, response: ServerResponse) => {
    if (options.addresses.isOver(request.socket)) return
    underWay++
    const ended: (() => void)[] = []
    response.on('close', () => {
      for (const listener of ended) listener()
      if (--underWay > 0) return
      for (const done of waiting) done()
      waiting = []
    })
    void serve(request, response, (listener) => void ended.push(listener), options)
  }
  const server = http.createServer(
    {
      maxHeaderSize: HEADERS,
      requestTimeout: 0,
      // Looked at every five seconds: headers that are not complete end within fifteen.
      headersTimeout: 10_000,
      connectionsCheckingInterval: 5_000,
      keepAliveTimeout: 65_000,
      optimizeEmptyRequests: true,
    },
    receive,
  )
  // A client that asks first whether to send its body is answered when the headers have been admitted.
  server.on('checkContinue', receive)
  server.on('clientError', refuseUnreadable)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0) for (const done of watching.splice(0)) done()
    })
    const refused = options.addresses.takeSocket(socket)
    if (refused) refuseSocket(socket, refused)
  })
  const answered = () => new Promise<void>((done) => (underWay === 0 ? done() : waiting.push(done)))
  const idle = async () => {
    do {
      await answered()
      // Before its end each turn has read what had arrived on the connections.
      await turn()
    } while (underWay > 0)
  }
  const disconnected = () => new Promise<void>((done) => (sockets.size === 0 ? done() : watching.push(done)))
  // Not the close of an HTTP server: that would end idle connections, on which a request may be arriving.
  const stopAccepting = () => void NetServer.prototype.close.call(server)
  return { server, idle, stopAccepting, disconnected }
}

/** Calls the listener when the answer has left, or its client. One listener on the response serves all of them. */
type OnEnd = (listener: () => void) => void

/** What shares turns: the requests of a tenant, or else of an address. */
function laneOf({ url = '', socket }: IncomingMessage): string {
  return url.startsWith('/~') ? url.slice(2, 66).split(/[/?]/, 1)[0]! : peerOf(socket)
}

/** Whom an answer is counted for. */
function ownerOf(request: IncomingMessage, address: string): AnswerOwner {
  const { authorization, cookie } = request.headers
  return { tenant: laneOf(request), key: authorization ?? cookie ?? address }
}

/** About how many bytes of memory an answer takes. Most streams take little: they are read as fast as they are sent. */
function lengthOf({ body, holds = 0 }: HttpResponse): number {
  return typeof body === 'string' || body instanceof Uint8Array ? body.length : holds
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  onEnd: OnEnd,
  options: HttpOptions,
): Promise<void> {
  let answer: HttpResponse
  let counted: CountedRequest | null = null
  let accepted: string | undefined
  if (options.isLeaving()) response.shouldKeepAlive = false
  try {
    demandPlain(request)
    const isRefused = () => options.isStopping() && !LASTING.has(request.url ?? '')
    // A node of a cluster passes requests on to the last.
    if (!options.elsewhere && isRefused()) throw stopping()
    // A request through a proxy may name the whole address.
    const url = (request.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '')
    const mark = url.indexOf('?')
    const path = mark === -1 ? url : url.slice(0, mark)
    const query = mark === -1 ? '' : url.slice(mark + 1)
    counted = options.addresses.takeRequest(request)
    onEnd(counted.release)
    const { address } = counted
    if (options.elsewhere) {
      const isPassed = options.elsewhere(request, response, address)
      if (isPassed === true || (isPassed !== false && (await isPassed))) return
      if (isRefused()) throw stopping()
    }
    options.answerMemory.demandRoom(ownerOf(request, address))
    // Nothing is waited for that is there already: a turn of the queue costs as much as a statement.
    const ask = askOf(request, path, query)
    const connection = connectionOf(request, response, { path, address, onEnd }, options)
    const given = options.gateway.answer(ask, connection)
    answer = given instanceof Promise ? await given : given
    const drop = () => void response.destroy()
    onEnd(options.answerMemory.hold(ownerOf(request, address), lengthOf(answer), drop))
    accepted = request.headers['accept-encoding']
  } catch (reason) {
    const requestId = randomUUID()
    answer = withCommon(refusal(reason, requestId, options.report), requestId, request.headers.origin)
  }
  // A flood of requests that are all refused is not read to its end.
  if (counted?.isPipelined && REFUSED.has(answer.status)) counted.endSocket()
  const failed = (reason: unknown) => {
    options.report(reason, answer.headers['x-request-id'] ?? '')
    response.destroy()
  }
  const leave = () => {
    const packed = compressed(answer, accepted)
    if (packed instanceof Promise) packed.then((whole) => send(request, response, whole, options), failed)
    else send(request, response, packed, options)
  }
  if (scheduler.isFree('answer')) leave()
  else await scheduler.inTurn('answer', laneOf(request), leave)
}

function send(request: IncomingMessage, response: ServerResponse, given: HttpResponse, options: HttpOptions): void {
  let answer = given
  // A connection that stalls is not worth keeping, nor one of a service that stops, nor one whose body was not asked for.
  if (
    answer.status === 408 ||
    options.isStopping() ||
    options.isLeaving() ||
    options.addresses.isOver(request.socket) ||
    isUnasked(request, response)
  )
    answer = { ...answer, headers: { ...answer.headers, connection: 'close' } }
  const { body } = answer
  if (body === null || typeof body === 'string' || body instanceof Uint8Array)
    sendWhole(request, response, answer, body, options.refusals)
  else void sendFlowing(request, response, answer, body, options)
}

/** Refuses what a proxy in front of the service may understand in another way. */
function demandPlain({ httpVersionMajor, rawHeaders }: IncomingMessage): void {
  if (httpVersionMajor < 1) throw new Problem('invalid_request', 'The request line must name HTTP/1.1.')
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  if (hosts > 1) throw new Problem('invalid_request', 'The request has more than one Host header.', { field: 'Host' })
}

function askOf(request: IncomingMessage, path: string, query: string): HttpRequest {
  const { headers, method = 'GET' } = request
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
  const host = headers.host ?? ''
  return { method, scheme, host, path, query, headers: headers as HttpRequest['headers'], body: null }
}

function connectionOf(
  request: IncomingMessage,
  response: ServerResponse,
  { path, address, onEnd }: { readonly path: string; readonly address: string; readonly onEnd: OnEnd },
  options: HttpOptions,
): Connection {
  return {
    address,
    readBody(tenant) {
      if (isUnasked(request, response)) {
        response.writeContinue()
        asked.add(request)
      }
      const { method = 'GET', headers } = request
      const way = options.bodyWay({ method, path, headers: headers as HttpRequest['headers'] })
      return bodyOf(request, way, { tenant, address, onEnd }, options)
    },
    onEnd,
    onClose: (listener) =>
      onEnd(() => {
        if (!response.writableFinished) listener()
      }),
  }
}

/** Requests that asked whether to send their body, and were answered with yes. */
const asked = new WeakSet<IncomingMessage>()

/** Whether the client waits to be asked for its body. */
function isUnasked(request: IncomingMessage, { headersSent }: ServerResponse): boolean {
  return request.headers.expect !== undefined && hasBody(request) && !asked.has(request) && !headersSent
}

function stopping(): Problem {
  return new Problem('unavailable', 'The service is stopping. Try again in a moment.', { retryAfter: 5 })
}
