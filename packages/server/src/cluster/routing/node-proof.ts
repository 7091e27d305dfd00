import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Problem } from '@tildebase/nouns'
import type { NodeRow } from '../protocol/replicated-log.ts'

/** The header with which a node proves that it belongs to the cluster. */
export const NODE_PROOF = 'x-tilde-node'

/** The header of an answer to another node: nothing was done, and another node may have the tenant. */
export const ASK_AGAIN = 'x-tilde-ask-again'

/** In which role a node sends a request: for a client, or with the rights of the operator. */
export type NodeRole = 'client' | 'operator'

/** What the signature of a node covers. Whether it drains, and its signs of life, change without it. */
export type NodeIdentity = Pick<NodeRow, 'name' | 'url' | 'layout' | 'version'>

/** The role in which another node has sent a request, and by how much the clocks of the two nodes differ. */
interface Received {
  readonly role: NodeRole
  readonly skew: number
}

/** How far the clocks of two nodes may differ, in milliseconds. */
const LONGEST_SKEW = 5 * 60_000

export interface NodeProofOptions {
  readonly secretKey: string
  readonly operatorKey: string
  /** Where other nodes reach this one. */
  readonly url: string
  readonly now?: () => number
}

/** By this nodes recognize each other: only those with the secret key of the cluster can sign. No key leaves a node. */
export class NodeProofs {
  readonly #key: Buffer
  readonly #operatorKey: string
  readonly #url: string
  readonly #now: () => number
  /** A request is checked once: it may wait for longer than its proof is valid. */
  readonly #received = new WeakMap<IncomingMessage, Received | null>()

  constructor({ secretKey, operatorKey, url, now = Date.now }: NodeProofOptions) {
    this.#key = createHmac('sha256', secretKey).update('tildebase nodes').digest()
    this.#operatorKey = operatorKey
    this.#url = url
    this.#now = now
  }

  /** A new session of a node. It carries the signature of the node, its address included. */
  newSession(node: NodeIdentity): string {
    const id = randomUUID()
    return `${id}.${this.#sign('node', id, ...identityOf(node)).toString('base64url')}`
  }

  /** Whether a node of this cluster wrote the row: others could name an address of their own in it. */
  readonly isGenuine = (node: NodeRow): boolean => {
    const [id = '', signature = ''] = node.session.split('.')
    return this.#matches(signature, 'node', id, ...identityOf(node))
  }

  /** The header for one request. It is valid at that node, for that method and path, for a few minutes. */
  proofFor(node: Pick<NodeRow, 'url'>, role: NodeRole, method: string, path: string): string {
    const at = String(this.#now())
    return `${role}.${at}.${this.#sign('request', role, at, node.url, method, path).toString('base64url')}`
  }

  /** Whether another node of the cluster has sent a request. */
  readonly isNode = (request: IncomingMessage): boolean => {
    const received = this.#sentBy(request)
    return received !== null && received.skew <= LONGEST_SKEW
  }

  /** Lets a request that another node has sent with the rights of the operator continue with the key of this node. */
  receive(request: IncomingMessage): void {
    const received = this.#sentBy(request)
    // A request of a client has its own key, which is valid here, too.
    if (received?.role !== 'operator') return
    if (received.skew > LONGEST_SKEW) throw clocksDiffer()
    request.headers.authorization = `Bearer ${this.#operatorKey}`
  }

  #sentBy(request: IncomingMessage): Received | null {
    const known = this.#received.get(request)
    if (known !== undefined) return known
    const received = this.#check(request)
    this.#received.set(request, received)
    return received
  }

  #check({ headers, method = '', url = '' }: IncomingMessage): Received | null {
    const given = headers[NODE_PROOF]
    if (typeof given !== 'string') return null
    const [role = '', at = '', signature = ''] = given.split('.')
    if (role !== 'client' && role !== 'operator') return null
    if (!this.#matches(signature, 'request', role, at, this.#url, method, url)) return null
    return { role, skew: Math.abs(this.#now() - Number(at)) }
  }

  #matches(signature: string, ...parts: readonly string[]): boolean {
    const given = Buffer.from(signature, 'base64url')
    const expected = this.#sign(...parts)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  #sign(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.#key).update(JSON.stringify(parts)).digest()
  }
}

/** It says so and not that a key is wrong: the time of a node is what must be mended. */
function clocksDiffer(): Problem {
  const message = 'The clocks of two nodes differ by more than five minutes. Set them, then try again.'
  return new Problem('unavailable', message, { retryAfter: 60 })
}

function identityOf({ name, url, layout, version }: NodeIdentity): readonly string[] {
  return [name, url, String(layout), version]
}
