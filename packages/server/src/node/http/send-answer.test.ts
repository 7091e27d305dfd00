import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { verifies } from '../../../../../test/verifies.ts'
import { Refusals } from '../watch/refusals.ts'
import { Reader } from './send-answer.ts'

const MIB = 1_048_576
/** More than the buffers of a connection hold. */
const MANY = 64

/** Sends a large body to a client that reads as `read` says. Returns the bytes that it got, and the disconnected readers. */
async function send(windowMs: number, isReading: boolean): Promise<[bytes: number, slow: number]> {
  const refusals = new Refusals()
  const server = createServer(async (_, response: ServerResponse) => {
    const reader = new Reader(response, refusals, windowMs)
    for (let at = 0; at < MANY && !response.destroyed; at++)
      if (!response.write(Buffer.alloc(MIB))) await reader.drained(response)
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const asked = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  const [response] = await once(asked, 'response')
  let bytes = 0
  response.on('error', () => {})
  if (isReading) response.on('data', (chunk: Buffer) => (bytes += chunk.length))
  const [connection] = await new Promise<[unknown]>((done) => server.getConnections((_, count) => done([count])))
  expect(connection).toBe(1)
  await Promise.race([once(response, 'close'), once(server, 'close')].concat(untilEmpty(server)))
  response.destroy()
  server.close()
  return [bytes, refusals.counts.get('slow_reader') ?? 0]
}

/** Done when the server has no connection any more. */
async function untilEmpty(server: ReturnType<typeof createServer>): Promise<unknown[]> {
  for (;;) {
    const count = await new Promise<number>((done) => server.getConnections((_, open) => done(open)))
    if (count === 0) return []
    await new Promise((next) => setTimeout(next, 20))
  }
}

verifies('answers.slow', 'a client that stops reading is disconnected', async () => {
  expect(await send(300, false)).toEqual([0, 1])
})

test('a client that reads gets all of its answer', async () => {
  expect(await send(20_000, true)).toEqual([MANY * MIB, 0])
})
