import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createOutbound } from './outbound.ts'

test('an answer that is longer than the limit is not read to its end', async () => {
  const server = createServer((_, response) => {
    const writing = setInterval(() => response.write('x'.repeat(1_000)), 1)
    response.on('close', () => clearInterval(writing))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  const answer = await createOutbound(true).send({ url, headers: {}, body: '', timeoutMs: 5_000, answerLimit: 10_000 })

  expect(answer).toEqual({ error: 'the answer is too long' })
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})
