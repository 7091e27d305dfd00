import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { NODE_PROOF, NodeProofs, type NodeRole } from './node-proof.ts'

const URL_OF_NODE = 'http://10.0.0.2:8787'
const MINUTE = 60_000

/** A request that another node has sent, and what this node makes of it when its clock shows another time. */
function received(role: NodeRole, skew: number, secretKey = 'secret') {
  const own = { operatorKey: 'operator', url: URL_OF_NODE }
  const sender = new NodeProofs({ ...own, secretKey, now: () => 1_000_000_000 })
  const receiver = new NodeProofs({ ...own, secretKey: 'secret', now: () => 1_000_000_000 + skew })
  const proof = sender.proofFor({ url: URL_OF_NODE }, role, 'GET', '/~acme/Contact')
  const request = {
    method: 'GET',
    url: '/~acme/Contact',
    headers: { [NODE_PROOF]: proof },
  } as unknown as IncomingMessage
  return { receiver, request }
}

test('a request of the operator continues with the key of the node', () => {
  const { receiver, request } = received('operator', -4 * MINUTE)

  receiver.receive(request)

  expect([receiver.isNode(request), request.headers.authorization]).toEqual([true, 'Bearer operator'])
})

test.each([-6 * MINUTE, 6 * MINUTE])('one of a node whose clock differs by %i ms is refused for its clock', (skew) => {
  const { receiver, request } = received('operator', skew)

  expect(() => receiver.receive(request)).toThrow('The clocks of two nodes differ by more than five minutes.')
  expect([receiver.isNode(request), request.headers.authorization]).toEqual([false, undefined])
})

test.each<[string, NodeRole, string]>([
  ['of a client, which has a key of its own', 'client', 'secret'],
  ['with a signature of another key', 'operator', 'another'],
])('one %s continues as it is, whatever the clocks show', (_, role, secretKey) => {
  const { receiver, request } = received(role, 6 * MINUTE, secretKey)

  receiver.receive(request)

  expect([receiver.isNode(request), request.headers.authorization]).toEqual([false, undefined])
})
