import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http'
import { request as requestHttps, Agent as SecureAgent } from 'node:https'
import type { HttpRequest } from '../../doors/http.ts'
import type { NodeRow } from '../protocol/replicated-log.ts'
import { ASK_AGAIN, NODE_PROOF, type NodeProofs, type NodeRole } from './node-proof.ts'

/** What came of passing a request on. `retry`: nothing of it has reached a tenant, so it can go elsewhere. */
export type Forwarded = 'answered' | 'retry' | 'unknown'

const HOPS = 'x-tilde-hops'

const CONNECT_MS = 2_000
const ASK_MS = 30_000
/** Headers of one connection, not of a request. */
const OWN = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'te', 'trailer'],
  ...[NODE_PROOF, HOPS, ASK_AGAIN],
])

/** Passes requests on to other nodes, body and answer as they flow. */
export class Forwarder {
  readonly #proofs: NodeProofs
  readonly #isOperator: (secret: string) => boolean
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1_024 })
  readonly #secure = new SecureAgent({ keepAlive: true, maxSockets: 1_024 })
  readonly #underWay = new Map<string, Set<ClientRequest>>()

  constructor(proofs: NodeProofs, isOperator: (secret: string) => boolean) {
    this.#proofs = proofs
    this.#isOperator = isOperator
  }

  forward(node: NodeRow, request: IncomingMessage, response: ServerResponse, address: string): Promise<Forwarded> {
    const url = new URL(node.url)
    const isSecure = url.protocol === 'https:'
    const send = isSecure ? requestHttps : requestHttp
    const headers: { [name: string]: string | string[] } = {}
    for (const [name, value] of Object.entries(request.headers))
      if (value !== undefined && !OWN.has(name)) headers[name] = value
    const role = this.#roleOf(request)
    // The operator key stays here: the other node has it, and takes our word.
    if (role === 'operator') delete headers.authorization
    headers[NODE_PROOF] = this.#proofs.proofFor(node, role, request.method ?? '', request.url ?? '')
    headers[HOPS] = String(hopsOf(request) + 1)
    headers['x-forwarded-for'] = address
    // A node that is about to stop may not take it any more: the body is sent when it says that it does.
    if (node.draining && hasBody(request)) headers.expect = '100-continue'
    const out = send({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || (isSecure ? 443 : 80),
      method: request.method,
      path: request.url,
      headers,
      agent: isSecure ? this.#secure : this.#agent,
    })
    this.#track(node.session, out)
    return this.#exchange(out, headers.expect !== undefined, request, response)
  }

  /** Asks another node something, as the operator would. */
  ask(node: NodeRow, path: string, body: object): Promise<Response> {
    return this.#fetch(node, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  /** Sends a request of this node to a tenant of another, with a key of the tenant or as the operator. */
  pass(node: NodeRow, { method, path, headers, body }: HttpRequest, secret: string | null): Promise<Response> {
    const type = headers['content-type']
    return this.#fetch(node, path, {
      method,
      headers: {
        ...(secret !== null && { authorization: `Bearer ${secret}` }),
        ...(type !== undefined && { 'content-type': type }),
      },
      ...(method !== 'GET' && { body: body as Uint8Array<ArrayBuffer> }),
    })
  }

  /** Ends requests to nodes that are no longer alive, so that their answers are not awaited. */
  keep(sessions: ReadonlySet<string>): void {
    for (const [session, requests] of this.#underWay) {
      if (sessions.has(session)) continue
      for (const out of requests) out.destroy(new Error('The node is dead.'))
    }
  }

  close(): void {
    this.#agent.destroy()
    this.#secure.destroy()
  }

  /** Sends a request of this node: as the operator, unless it has a key of a tenant. */
  #fetch(node: NodeRow, path: string, init: RequestInit & { readonly headers: Record<string, string> }) {
    const url = new URL(`${node.url}${path}`)
    const role = init.headers.authorization === undefined ? 'operator' : 'client'
    const proof = this.#proofs.proofFor(node, role, init.method ?? 'GET', `${url.pathname}${url.search}`)
    const headers = { ...init.headers, [NODE_PROOF]: proof }
    return fetch(url, { ...init, headers, redirect: 'error', signal: AbortSignal.timeout(ASK_MS) })
  }

  #roleOf({ headers }: IncomingMessage): NodeRole {
    const secret = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
    return secret !== undefined && this.#isOperator(secret) ? 'operator' : 'client'
  }

  #track(session: string, out: ClientRequest): void {
    const requests = this.#underWay.get(session) ?? new Set()
    this.#underWay.set(session, requests.add(out))
    out.once('close', () => {
      requests.delete(out)
      if (requests.size === 0) this.#underWay.delete(session)
    })
  }

  /** With `asks` the body is sent when the other node asks for it. */
  #exchange(out: ClientRequest, asks: boolean, request: IncomingMessage, response: ServerResponse): Promise<Forwarded> {
    return new Promise((settle) => {
      const abandon = () => void out.destroy()
      const done = (outcome: Forwarded) => {
        response.off('close', abandon)
        settle(outcome)
      }
      let isSent = false
      const sendBody = () => {
        if (isSent) return
        isSent = true
        request.pipe(out)
      }
      out.once('continue', () => {
        if (request.headers.expect !== undefined) response.writeContinue()
        sendBody()
      })
      out.once('socket', (socket) => {
        if (!socket.connecting) return asks ? out.flushHeaders() : sendBody()
        const timer = setTimeout(() => socket.destroy(new Error('The node does not accept connections.')), CONNECT_MS)
        socket.once(socket instanceof Object && 'encrypted' in socket ? 'secureConnect' : 'connect', () => {
          clearTimeout(timer)
          if (asks) out.flushHeaders()
          else sendBody()
        })
        socket.once('close', () => clearTimeout(timer))
      })
      response.once('close', abandon)
      out.once('response', (answer) => {
        if (answer.headers[ASK_AGAIN] !== undefined && (!isSent || !hasBody(request))) {
          answer.resume()
          request.unpipe(out)
          return done('retry')
        }
        response.writeHead(answer.statusCode ?? 502, headersOf(answer))
        answer.pipe(response)
        // A stream that breaks off must not look like one that ended.
        answer.once('error', () => response.destroy())
        answer.once('end', () => done('answered'))
        answer.once('close', () => {
          if (!answer.complete) response.destroy()
          done('answered')
        })
      })
      out.once('error', () => {
        if (response.headersSent) {
          response.destroy()
          return done('answered')
        }
        request.unpipe(out)
        const isHarmless = !isSent || ((request.method === 'GET' || request.method === 'HEAD') && !hasBody(request))
        done(isHarmless ? 'retry' : 'unknown')
      })
    })
  }
}

/** How many nodes have passed a request on. */
export function hopsOf({ headers }: IncomingMessage): number {
  // A client may have written anything.
  const hops = headers[HOPS]
  return typeof hops === 'string' && /^\d{1,3}$/.test(hops) ? Number(hops) : 0
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** Names and values in turns, as they came. */
function headersOf({ rawHeaders }: IncomingMessage): string[] {
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!OWN.has(rawHeaders[i]!.toLowerCase())) kept.push(rawHeaders[i]!, rawHeaders[i + 1]!)
  return kept
}
