import { lookup as resolve } from 'node:dns'
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import type { Outbound, OutboundAnswer, OutboundRequest } from '@tildebase/tenant/ports'
import { isPublic } from './addresses.ts'

const MOST_PER_HOST = 256
const MOST_TARGETS = 1_000
const MOST_READ = 65_536

/** Sends outgoing requests: to public addresses only and by https, except in insecure mode. */
export function createOutbound(options: { readonly insecure: boolean }): Outbound {
  const lookup = options.insecure ? undefined : guardedLookup
  const agents = {
    'http:': new HttpAgent({ keepAlive: true, maxFreeSockets: 8, lookup }),
    'https:': new HttpsAgent({ keepAlive: true, maxFreeSockets: 8, lookup }),
  }
  const queues = new Map<string, Queue>()
  const targets = new Map<string, Target>()
  const targetOf = (text: string): Target => {
    const known = targets.get(text)
    if (known) return known
    const url = new URL(text)
    const { auth, ...address } = urlToHttpOptions(url)
    const target = {
      host: url.host,
      fault: options.insecure ? null : faultOf(url),
      send: url.protocol === 'https:' ? requestHttps : requestHttp,
      options: { ...address, method: 'POST', agent: agents[url.protocol as keyof typeof agents] },
      headers: ['host', url.host, ...(auth ? ['authorization', `Basic ${Buffer.from(auth).toString('base64')}`] : [])],
    }
    if (targets.size >= MOST_TARGETS) targets.clear()
    targets.set(text, target)
    return target
  }
  return {
    refuses: (url) => (options.insecure ? null : faultOf(new URL(url))),
    async post(request) {
      const target = targetOf(request.url)
      const { host, fault } = target
      if (fault) return { error: fault }
      const queue = queues.get(host) ?? new Queue(MOST_PER_HOST)
      queues.set(host, queue)
      // The time of a request counts from when it has its place: waiting for others is not the endpoint's fault.
      await queue.enter()
      try {
        return await post(target, request)
      } finally {
        queue.leave()
        if (queue.isEmpty) queues.delete(host)
      }
    },
  }
}

/** An address that requests are sent to, taken apart once. */
interface Target {
  readonly host: string
  readonly fault: string | null
  readonly send: typeof requestHttp
  readonly options: RequestOptions
  /** Names and values in turns, which Node writes as they are. */
  readonly headers: readonly string[]
}

/** What forbids a url before its name is looked up. An address in it never is, whatever its spelling: URL knows them all. */
export function faultOf(url: URL): string | null {
  if (url.protocol !== 'https:') return 'Only https is allowed.'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (/(?:^|\.)localhost\.?$/.test(host)) return PRIVATE
  return isIP(host) !== 0 && !isPublic(host) ? PRIVATE : null
}

const PRIVATE = 'The address is not public: webhooks are not sent to loopback, private or link-local addresses.'

/** Looks a name up, at connection time and on every connection, and lets no address pass that is not public. */
export const guardedLookup: LookupFunction = (hostname, options, done) => {
  resolve(hostname, { ...options, all: true }, (reason, addresses) => {
    if (reason) return done(reason, [])
    if (!addresses.every(({ address }) => isPublic(address))) return done(new Error(PRIVATE), [])
    if (options.all) done(null, addresses)
    else done(null, addresses[0]!.address, addresses[0]!.family)
  })
}

function post(target: Target, asked: OutboundRequest): Promise<OutboundAnswer> {
  const { headers, body, timeoutMs } = asked
  return new Promise((done) => {
    const started = Date.now()
    const lines = [
      ...target.headers,
      ...Object.entries(headers).flat(),
      'content-length',
      String(Buffer.byteLength(body)),
    ]
    const request = target.send({ ...target.options, headers: lines }, (response) => {
      const status = response.statusCode ?? 0
      if (asked.answerLimit === undefined) {
        done({ status })
        drain(response, () => clearTimeout(timer))
      } else
        read(response, asked.answerLimit).then((text) => {
          clearTimeout(timer)
          done(text === null ? { error: 'The answer ended early, or is too long.' } : { status, text })
        })
    })
    let isLate = false
    // One clock over looking up, connecting, sending and waiting.
    const timer = setTimeout(() => {
      isLate = true
      request.destroy(new Error(`No answer within ${timeoutMs} ms.`))
    }, timeoutMs)
    request.on('error', (reason) => {
      clearTimeout(timer)
      // The other side may close a kept connection just when it is used again: this is not a failure.
      if (!request.reusedSocket || isLate) return done({ error: reason.message || 'The connection failed.' })
      done(post(target, { ...asked, timeoutMs: Math.max(timeoutMs - (Date.now() - started), 1) }))
    })
    request.end(body)
  })
}

/** Reads a little of the answer, so that its connection can be used again; a long one costs the connection. */
function drain(response: IncomingMessage, over: () => void): void {
  let read = 0
  response.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read > MOST_READ) response.destroy()
  })
  response.on('error', () => {})
  response.on('close', over)
}

/** The text of an answer, or null when it is too long or breaks off. */
async function read(response: IncomingMessage, limit: number): Promise<string | null> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response) {
      length += chunk.length
      if (length > limit) return null
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString()
  } catch {
    return null
  }
}

/** Lets so many through at once; the others wait in the order they came. */
class Queue {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #inside = 0

  constructor(most: number) {
    this.#most = most
  }

  get isEmpty(): boolean {
    return this.#inside === 0 && this.#waiting.length === 0
  }

  async enter(): Promise<void> {
    if (this.#inside >= this.#most) await new Promise<void>((go) => this.#waiting.push(go))
    this.#inside++
  }

  leave(): void {
    this.#inside--
    this.#waiting.shift()?.()
  }
}
