import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6, type Socket } from 'node:net'

/** Finds out where requests come from: the peer, or whom a trusted proxy names. */
export class ClientAddresses {
  readonly #proxies = new BlockList()
  /** Knows requests that a node of ours passes on. Absent outside a cluster. */
  readonly isNode: ((request: IncomingMessage) => boolean) | undefined

  /** `proxies` are addresses such as 10.0.0.7 or ranges such as 10.0.0.0/8. */
  constructor(proxies: readonly string[], isNode?: (request: IncomingMessage) => boolean) {
    this.isNode = isNode
    for (const proxy of proxies) {
      const [address = '', bits] = proxy.split('/')
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#proxies.addAddress(address, family)
      else this.#proxies.addSubnet(address, Number(bits), family)
    }
  }

  isProxy(address: string): boolean {
    return isIP(address) !== 0 && this.#proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }

  /** Whether what a request says about its client is to be believed. */
  isTrusted(request: IncomingMessage): boolean {
    return this.isProxy(peerOf(request.socket)) || (this.isNode?.(request) ?? false)
  }

  /** The client that a node of ours names, which has found it out already. */
  namedByNode({ headers }: IncomingMessage): string {
    return groupOf(String(headers['x-forwarded-for'] ?? ''))
  }

  /** The address of a request, as bounds count it. */
  of({ socket, headers }: IncomingMessage): string {
    const peer = peerOf(socket)
    if (!this.isProxy(peer)) return groupOf(peer)
    const named = String(headers['x-forwarded-for'] ?? '').split(',')
    // Each proxy appends the address that it saw: only what our own proxies wrote is to be believed.
    for (let at = named.length - 1; at >= 0; at--) {
      const address = plain(named[at]!.trim())
      if (isIP(address) === 0) break
      if (!this.isProxy(address)) return groupOf(address)
    }
    return groupOf(peer)
  }
}

/** The address at the other end of a socket. */
export function peerOf({ remoteAddress = '' }: Socket): string {
  return plain(remoteAddress)
}

/** An IPv6 client has a network of 64 bits, which counts as one address. */
export function groupOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const gap = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array<string>(gap).fill('0'), ...right].slice(0, 4).join(':')
}

function plain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address
}
