import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '@tildebase/nouns'
import type { Gateway } from '../../doors/gateway.ts'
import { type Body, type BodyWay, type HttpRequest, type HttpResponse, withCommon } from '../../doors/http.ts'
import type { Connection } from '../../doors/limits/admission.ts'
import { refusal } from '../../doors/respond.ts'
import { scheduler } from '../../doors/turns.ts'
import type { AddressBounds, CountedRequest, SocketState } from '../limits/addresses.ts'
import type { AnswerMemory, AnswerOwner } from '../limits/answers.ts'
import { bodyOf, hasBody, type UploadOptions } from './body.ts'
import { peerOf } from './client-address.ts'
import { compressed, sendFlowing, sendWhole } from './send-answer.ts'

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

/** No valid key, or too many requests. */
const REFUSED = new Set([401, 429])
/** Where the name of a tenant ends at the latest. */
const LONGEST_LANE = 66
/** Paths that answer to the last. */
const LASTING = new Set(['/healthz', '/readyz', '/metrics'])

/**
 * A request from its arrival until its answer has left. One object, which is also the connection that the gateway knows:
 * what is there already is not awaited, since a turn of the queue costs as much as a statement.
 */
export class Exchange implements Connection {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #socket: SocketState
  readonly #options: HttpOptions
  readonly #endings: (() => void)[] = []
  #counted: CountedRequest | null = null
  #owner: AnswerOwner | null = null
  /** Whether the client asked if it may send its body, and was answered with yes. */
  #isAsked = false
  /** The path and the query as they came, and where the query begins. */
  #path = ''
  #query = ''

  constructor(request: IncomingMessage, response: ServerResponse, socket: SocketState, options: HttpOptions) {
    this.#request = request
    this.#response = response
    this.#socket = socket
    this.#options = options
  }

  get address(): string {
    return this.#counted?.address ?? ''
  }

  /** Reads the request and answers it. Never throws. */
  serve(): void {
    const request = this.#request
    const { addresses, elsewhere, isLeaving } = this.#options
    if (isLeaving()) this.#response.shouldKeepAlive = false
    try {
      demandPlain(request)
      // A node of a cluster passes requests on to the last.
      if (!elsewhere) this.#demandService()
      this.#readUrl()
      this.#counted = addresses.takeRequest(request, this.#socket)
      if (elsewhere) void this.#serveHereOr(elsewhere)
      else this.#answer()
    } catch (reason) {
      this.#refuse(reason)
    }
  }

  /** The answer has left, or the client. */
  end(): void {
    this.#counted?.release()
    for (const listener of this.#endings) listener()
  }

  onEnd(listener: () => void): void {
    this.#endings.push(listener)
  }

  onClose(listener: () => void): void {
    this.#endings.push(() => {
      if (!this.#response.writableFinished) listener()
    })
  }

  readBody(tenant: string): Body | Promise<Body> {
    const request = this.#request
    if (!hasBody(request)) return null
    if (this.#isUnasked()) {
      this.#response.writeContinue()
      this.#isAsked = true
    }
    const { method = 'GET', headers } = request
    const way = this.#options.bodyWay({ method, path: this.#path, headers: headers as HttpRequest['headers'] })
    return bodyOf(request, way, { tenant, address: this.address }, this, this.#options)
  }

  /** Passes the request on to where its tenant is, or answers it. */
  async #serveHereOr(elsewhere: NonNullable<HttpOptions['elsewhere']>): Promise<void> {
    try {
      const isPassed = elsewhere(this.#request, this.#response, this.address)
      if (isPassed === true || (isPassed !== false && (await isPassed))) return
      this.#demandService()
      this.#answer()
    } catch (reason) {
      this.#refuse(reason)
    }
  }

  #demandService(): void {
    if (!this.#options.isStopping() || LASTING.has(this.#request.url ?? '')) return
    throw new Problem('unavailable', 'The service is stopping. Try again in a moment.', { retryAfter: 5 })
  }

  #readUrl(): void {
    const { url: given = '/' } = this.#request
    // A request through a proxy may name the whole address.
    const url = given.startsWith('/') ? given : given.replace(/^https?:\/\/[^/?]*/i, '')
    const mark = url.indexOf('?')
    this.#path = mark === -1 ? url : url.slice(0, mark)
    this.#query = mark === -1 ? '' : url.slice(mark + 1)
  }

  #answer(): void {
    const { answerMemory, gateway } = this.#options
    const { headers, method = 'GET' } = this.#request
    this.#owner = {
      tenant: laneOf(this.#request),
      key: headers.authorization ?? headers.cookie ?? this.address,
    }
    answerMemory.demandRoom(this.#owner)
    const request: HttpRequest = {
      method,
      scheme: headers['x-forwarded-proto'] === 'https' ? 'https' : 'http',
      host: headers.host ?? '',
      path: this.#path,
      query: this.#query,
      headers: headers as HttpRequest['headers'],
      body: null,
    }
    const given = gateway.answer(request, this)
    if (given instanceof Promise)
      given.then(
        (answer) => this.#answered(answer),
        (reason) => this.#refuse(reason),
      )
    else this.#answered(given)
  }

  #answered(answer: HttpResponse): void {
    try {
      const release = this.#options.answerMemory.hold(this.#owner!, answer, this.#response)
      if (release) this.#endings.push(release)
      this.#leave(answer, this.#request.headers['accept-encoding'])
    } catch (reason) {
      this.#refuse(reason)
    }
  }

  #refuse(reason: unknown): void {
    const requestId = randomUUID()
    const answer = refusal(reason, requestId, this.#options.report)
    this.#leave(withCommon(answer, requestId, this.#request.headers.origin), undefined)
  }

  /** Sends an answer, at once if the thread is free. */
  #leave(answer: HttpResponse, accepted: string | undefined): void {
    // A flood of requests that are all refused is not read to its end.
    if (this.#counted?.isPipelined && REFUSED.has(answer.status)) this.#socket.isOver = true
    if (scheduler.isFree()) this.#pack(answer, accepted)
    else void scheduler.inTurn('answer', laneOf(this.#request), () => this.#pack(answer, accepted))
  }

  #pack(answer: HttpResponse, accepted: string | undefined): void {
    const packed = compressed(answer, accepted)
    if (packed instanceof Promise)
      packed.then(
        (whole) => this.#send(whole),
        (reason) => {
          this.#options.report(reason, answer.headers['x-request-id'] ?? '')
          this.#response.destroy()
        },
      )
    else this.#send(packed)
  }

  #send(given: HttpResponse): void {
    const { isStopping, isLeaving, refusals } = this.#options
    // A connection that stalls is not worth keeping, nor one of a service that stops, nor one whose body was not asked for.
    const isLast = given.status === 408 || this.#socket.isOver || isStopping() || isLeaving() || this.#isUnasked()
    const answer = isLast ? { ...given, headers: { ...given.headers, connection: 'close' } } : given
    const { body } = answer
    if (body === null || typeof body === 'string' || body instanceof Uint8Array)
      sendWhole(this.#request, this.#response, answer, body, refusals)
    else void sendFlowing(this.#request, this.#response, answer, body, this.#options)
  }

  /** Whether the client waits to be asked for its body. */
  #isUnasked(): boolean {
    const { headers } = this.#request
    return headers.expect !== undefined && hasBody(this.#request) && !this.#isAsked && !this.#response.headersSent
  }
}

/** What shares turns: the requests of a tenant, or else of an address. */
function laneOf({ url = '', socket }: IncomingMessage): string {
  if (!url.startsWith('/~')) return peerOf(socket)
  let end = 2
  while (end < LONGEST_LANE && end < url.length && url[end] !== '/' && url[end] !== '?') end++
  return url.slice(2, end)
}

/** Refuses what a proxy in front of the service may understand in another way. */
function demandPlain({ httpVersionMajor, rawHeaders }: IncomingMessage): void {
  if (httpVersionMajor !== 1) throw new Problem('invalid_request', 'The request line must name HTTP/1.1.')
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  if (hosts > 1) throw new Problem('invalid_request', 'The request has more than one Host header.', { field: 'Host' })
}
