import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { ClientAddresses } from './client-address.ts'

const addresses = new ClientAddresses(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])

test.each([
  ['198.51.100.7', undefined, '198.51.100.7'],
  ['198.51.100.7', '192.0.2.1', '198.51.100.7'],
  ['::ffff:198.51.100.7', undefined, '198.51.100.7'],
  ['127.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['::ffff:10.1.2.3', '203.0.113.9, 192.0.2.1, 10.9.9.9', '192.0.2.1'],
  ['127.0.0.1', 'nonsense', '127.0.0.1'],
  ['127.0.0.1', undefined, '127.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2'],
  ['2001:db8::1', undefined, '2001:db8:0:0'],
  ['fd00::1', '2001:db8:1:2::9', '2001:db8:1:2'],
])('a request from %s, forwarded for %s, counts for %s', (remoteAddress, forwarded, expected) => {
  const request = { socket: { remoteAddress }, headers: forwarded ? { 'x-forwarded-for': forwarded } : {} }

  expect(addresses.of(request as unknown as IncomingMessage)).toBe(expected)
})

test.each([
  ['a client', '198.51.100.7', {}, false],
  ['a proxy of the operator', '10.0.0.7', {}, true],
  ['a node of the cluster', '198.51.100.7', { 'x-node': 'proof' }, true],
])('what %s says about its client is believed or not', (_, remoteAddress, headers, expected) => {
  const known = new ClientAddresses(['10.0.0.0/8'], (request) => request.headers['x-node'] === 'proof')

  expect(known.isTrusted({ socket: { remoteAddress }, headers } as unknown as IncomingMessage)).toBe(expected)
})
