import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { Exchange, type HttpOptions } from './exchange.ts'
import { http } from './http-module.ts'
import { refuseSocket, refuseUnreadable } from './unreadable.ts'

export interface Http {
  readonly server: Server
  /** Done when no answer is in progress any more, and no request has arrived that was not read yet. */
  idle(): Promise<void>
  /** Takes no connection any more, after those that wait in the socket. Those that are there stay. */
  stopAccepting(): Promise<void>
  /** Done when there is no connection any more. */
  disconnected(): Promise<void>
}

/** A filter of 500 nodes fits into a path. */
const HEADERS = 65_536
/** How long connections that wait are accepted when the server stops. */
const LAST_ACCEPTS_MS = 1_000
const SHORT_TURN_MS = 0.5

/** An HTTP server in front of a gateway. */
export function createHttp(options: HttpOptions): Http {
  let underWay = 0
  let waiting: (() => void)[] = []
  const sockets = new Set<Socket>()
  let accepted = 0
  const watching: (() => void)[] = []
  const receive = (request: IncomingMessage, response: ServerResponse) => {
    const socket = options.addresses.stateOf(request.socket)
    if (socket.isOver) return
    underWay++
    const exchange = new Exchange(request, response, socket, options)
    response.on('close', () => {
      exchange.end()
      if (--underWay > 0) return
      for (const done of waiting) done()
      waiting = []
    })
    exchange.serve()
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
    accepted++
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
  const stopAccepting = async () => {
    // The kernel resets connections that wait in a socket that is closed. A turn accepts one of them at most, and the first
    // may end before it has looked. In a short turn hardly any has come since.
    const begun = performance.now()
    for (let calm = 0, at = begun; calm < 2 && at - begun < LAST_ACCEPTS_MS; ) {
      const before = accepted
      await turn()
      const now = performance.now()
      calm = accepted === before && now - at < SHORT_TURN_MS ? calm + 1 : 0
      at = now
    }
    // Not the close of an HTTP server: that would end idle connections, on which a request may be arriving.
    NetServer.prototype.close.call(server)
  }
  return { server, idle, stopAccepting, disconnected }
}
