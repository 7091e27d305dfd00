import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The header that a node shows to other nodes. */
export const NODE_TOKEN = 'x-tilde-node'

/** The header of an answer to another node: nothing was done, and another node may have the tenant. */
export const ASK_AGAIN = 'x-tilde-ask-again'

/** By this nodes recognize each other: only those with the secret key of the cluster can compute it. */
export class NodeToken {
  readonly #bytes: Buffer

  constructor(secretKey: string) {
    this.#bytes = createHmac('sha256', secretKey).update('tildebase node').digest()
  }

  get text(): string {
    return this.#bytes.toString('base64url')
  }

  /** Whether another node of the cluster has sent a request. */
  readonly isNode = ({ headers }: IncomingMessage): boolean => {
    const given = headers[NODE_TOKEN]
    if (typeof given !== 'string') return false
    const bytes = Buffer.from(given, 'base64url')
    return bytes.length === this.#bytes.length && timingSafeEqual(bytes, this.#bytes)
  }
}
