import { lookup as resolve } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Outbound, OutboundAnswer, OutboundRequest } from '@tildebase/tenant/ports'
import { isPublic } from './addresses.ts'
import { type Exchange, HttpClient } from './http-client.ts'

const MOST_PER_HOST = 256
const MOST_READ = 65_536

/** Sends outgoing requests: to public addresses only and by https, except in insecure mode. */
export function createOutbound(options: { readonly insecure: boolean }): Outbound {
  const client = new HttpClient(options.insecure ? undefined : guardedLookup)
  const queues = new Map<string, Queue>()
  return {
    refuses: (url) => (options.insecure ? null : faultOf(new URL(url))),
    async post(request) {
      const url = new URL(request.url)
      const fault = options.insecure ? null : faultOf(url)
      if (fault) return { error: fault }
      const queue = queues.get(url.host) ?? new Queue(MOST_PER_HOST)
      queues.set(url.host, queue)
      // The time of a request counts from when it has its place: waiting for others is not the endpoint's fault.
      await queue.enter()
      try {
        return await post(client, url, request)
      } finally {
        queue.leave()
        if (queue.isEmpty) queues.delete(url.host)
      }
    },
  }
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

const CUT = 'The answer ended early, or is too long.'

function post(client: HttpClient, url: URL, asked: OutboundRequest, fresh = false): Promise<OutboundAnswer> {
  const { headers, body, timeoutMs, answerLimit } = asked
  const started = Date.now()
  return new Promise((done) => {
    let isLate = false
    let giveUp: (reason: Error) => void = () => {}
    // One clock over looking up, connecting, sending and waiting.
    const timer = setTimeout(() => {
      isLate = true
      giveUp(new Error(`No answer within ${timeoutMs} ms.`))
    }, timeoutMs)
    const onAnswer = ({ answer, error, mayRepeat }: Exchange) => {
      const { status, isComplete, length } = answer
      if (isComplete || error) clearTimeout(timer)
      if (error && mayRepeat && !isLate) {
        // The other side may close a kept connection just when it is used again: this is not a failure.
        done(post(client, url, { ...asked, timeoutMs: Math.max(timeoutMs - (Date.now() - started), 1) }, true))
      } else if (error) done({ error: status > 0 ? CUT : error.message || 'The connection failed.' })
      else if (answerLimit === undefined) done({ status })
      else if (length > answerLimit) done({ error: CUT })
      else if (isComplete) done({ status, text: answer.text })
      // A little more is read, so that the connection can be used again; a long answer costs it.
      return length <= (answerLimit ?? MOST_READ)
    }
    try {
      giveUp = client.post({ url, headers, body }, fresh, onAnswer, answerLimit !== undefined)
    } catch (reason) {
      clearTimeout(timer)
      done({ error: (reason as Error).message })
    }
  })
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
