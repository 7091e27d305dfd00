import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { NodeRow } from '../protocol/replicated-log.ts'
import { Forwarder } from './forward.ts'
import { NodeProofs } from './node-proof.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/** What came of a request that a node passed on to an owner at this port. */
async function passedOn(port: number, init: RequestInit): Promise<string> {
  const url = `http://127.0.0.1:${port}`
  const owner: NodeRow = { session: 's', name: 'owner', url, beat: 1, draining: false, layout: 1, version: '1' }
  const proofs = new NodeProofs({ secretKey: 'secret', operatorKey: 'operator', url })
  const forwarder = new Forwarder(proofs, () => false)
  const node = await listen(async (request, response) => {
    const outcome = await forwarder.forward(owner, request, response, '127.0.0.1')
    if (outcome !== 'answered') response.end(outcome)
  })
  const answer = await fetch(`http://127.0.0.1:${node}/~acme/Contact`, init)
  const text = await answer.text()
  forwarder.close()
  return text
}

const WRITE = { method: 'POST', body: '{"name":"Ada"}' }

test('a write that the owner took before it died may have been done: no other node gets it', async () => {
  const dies = await listen((request) => request.once('data', () => request.destroy()))

  expect(await passedOn(dies, WRITE)).toBe('unknown')
})

test('a read that the owner took before it died is read elsewhere', async () => {
  const dies = await listen((request) => request.destroy())

  expect(await passedOn(dies, {})).toBe('retry')
})

test('a write that a dead owner did not take is done elsewhere', async () => {
  // Nothing listens there. A port that was free a moment ago may belong to another test by now.
  expect(await passedOn(1, WRITE)).toBe('retry')
})
