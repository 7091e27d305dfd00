import { lookup as resolve } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { Outbound } from '@tildebase/tenant/ports'
import { isPublic } from './addresses.ts'
import type { Connections } from './outbound-connections.ts'

const MOST_PER_HOST = 256
/** Of these, what one tenant takes at once: as many are left for others. */
const MOST_PER_OWNER = 128
const MOST_TARGETS = 1_000

/** Sends outgoing requests: to public addresses only and by https, except in insecure mode. */
export function createOutbound(options: { readonly insecure: boolean }): Outbound {
  const targets = new BoundedMap<string, Target>(MOST_TARGETS)
  const origins = new Map<string, Origin>()
  // The client is loaded by the first request: most servers send none.
  let opening: Promise<OpenConnections> | undefined
  const targetOf = (text: string): Target => {
    const known = targets.get(text)
    if (known) return known
    const target = toTarget(new URL(text), options.insecure)
    targets.set(text, target)
    return target
  }
  const originOf = async (name: string): Promise<Origin> => {
    opening ??= loadConnections(options.insecure ? undefined : guardedLookup)
    const connectionsTo = await opening
    const connections = connectionsTo(name, () => forgetIdle(name))
    const origin = origins.get(name) ?? { queue: new Queue(MOST_PER_HOST, MOST_PER_OWNER), connections }
    origins.set(name, origin)
    return origin
  }
  const forgetIdle = (name: string): void => {
    const origin = origins.get(name)
    if (origin?.queue.isEmpty && origin.connections.isEmpty) origins.delete(name)
  }
  return {
    refuses: (url) => toTarget(new URL(url), options.insecure).fault,
    async send(request) {
      const { origin: name, fault, path, headers } = targetOf(request.url)
      if (fault) return { error: fault }
      const origin = origins.get(name) ?? (await originOf(name))
      // The time of a request counts from when it has its place: waiting for others is not the endpoint's fault.
      const { owner = '' } = request
      await origin.queue.enter(owner)
      try {
        return await origin.connections.send(path, [...headers, ...Object.entries(request.headers).flat()], request)
      } finally {
        origin.queue.leave(owner)
        forgetIdle(name)
      }
    },
  }
}

/** Requests to one origin: those that wait, and the connections of the others. */
interface Origin {
  readonly queue: Queue
  readonly connections: Connections
}

/** An address that requests are sent to, taken apart once. */
interface Target {
  readonly origin: string
  readonly fault: string | null
  readonly path: string
  /** Names and values in turns. */
  readonly headers: readonly string[]
}

function toTarget(url: URL, insecure: boolean): Target {
  const credentials = credentialsIn(url)
  const fault = insecure ? insecureFaultOf(url) : faultOf(url)
  return {
    origin: url.origin,
    fault: credentials === null ? 'The user or the password in the address is not percent-encoded.' : fault,
    path: url.pathname + url.search,
    headers: credentials ? ['authorization', `Basic ${Buffer.from(credentials).toString('base64')}`] : [],
  }
}

/** The user and the password in a url; empty when it has none, null when they cannot be decoded. */
function credentialsIn({ username, password }: URL): string | null {
  try {
    return username + password === '' ? '' : [username, password].map(decodeURIComponent).join(':')
  } catch {
    return null
  }
}

function insecureFaultOf({ protocol }: URL): string | null {
  return ['http:', 'https:'].includes(protocol) ? null : 'Only http and https are allowed.'
}

type OpenConnections = (origin: string, emptied: () => void) => Connections

async function loadConnections(lookup: LookupFunction | undefined): Promise<OpenConnections> {
  const { Connections, createConnect } = await import('./outbound-connections.ts')
  const connect = createConnect(lookup)
  return (origin, emptied) => new Connections(origin, connect, emptied)
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

interface Owned {
  inside: number
  readonly waiting: (() => void)[]
}

/** Lets so many through at once, and fewer of one owner. The owners take turns, and each keeps its order. */
class Queue {
  readonly #most: number
  readonly #mostOfOne: number
  /** Those with anything inside or waiting, the one whose turn is longest ago first. */
  readonly #owners = new Map<string, Owned>()
  #inside = 0

  constructor(most: number, mostOfOne: number) {
    this.#most = most
    this.#mostOfOne = mostOfOne
  }

  get isEmpty(): boolean {
    return this.#owners.size === 0
  }

  async enter(owner: string): Promise<void> {
    const owned = this.#owners.get(owner) ?? { inside: 0, waiting: [] }
    this.#owners.set(owner, owned)
    if (this.#hasRoom(owned)) return this.#take(owned)
    await new Promise<void>((go) => owned.waiting.push(go))
  }

  leave(owner: string): void {
    const owned = this.#owners.get(owner)!
    this.#inside--
    owned.inside--
    if (owned.inside === 0 && owned.waiting.length === 0) this.#owners.delete(owner)
    this.#letNext()
  }

  #letNext(): void {
    for (const [owner, owned] of this.#owners) {
      const [go] = owned.waiting
      if (go === undefined || !this.#hasRoom(owned)) continue
      owned.waiting.shift()
      this.#take(owned)
      this.#owners.delete(owner)
      this.#owners.set(owner, owned)
      go()
      return
    }
  }

  #hasRoom(owned: Owned): boolean {
    return this.#inside < this.#most && owned.inside < this.#mostOfOne
  }

  #take(owned: Owned): void {
    this.#inside++
    owned.inside++
  }
}
