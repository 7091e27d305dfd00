import { BlockList, isIP } from 'node:net'

/** Non-public ranges: loopback, private, link-local, shared, documentation, multicast, reserved. */
const CLOSED_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const

/** Of IPv6 only global unicast is allowed, without ranges that embed other addresses or are reserved. */
const OPEN_V6 = ['2000::', 3] as const
const CLOSED_V6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const closed = new BlockList()
for (const [address, bits] of CLOSED_V4) closed.addSubnet(address, bits, 'ipv4')
for (const [address, bits] of CLOSED_V6) closed.addSubnet(address, bits, 'ipv6')
const open = new BlockList()
open.addSubnet(...OPEN_V6, 'ipv6')

/** Whether an IP address, in its usual spelling, is one of the public internet. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !closed.check(address, 'ipv4')
    case 6:
      return open.check(address, 'ipv6') && !closed.check(address, 'ipv6')
    default:
      return false
  }
}
