import { MessageChannel } from 'node:worker_threads'
import { Problem } from '@tildebase/nouns'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { Flows } from './flows.ts'
import type { Chunk, Flow } from './messages.ts'
import { Wire } from './wire.ts'

const channels: MessageChannel[] = []

afterEach(() => {
  for (const { port1, port2 } of channels.splice(0)) {
    port1.close()
    port2.close()
  }
})

test('a stream arrives at the other thread as it was sent, whatever its chunks', async () => {
  const chunk = fc.oneof(fc.string(), fc.uint8Array({ maxLength: 300 }))
  await fc.assert(
    fc.asyncProperty(fc.array(chunk), async (chunks) => {
      const [here, there] = line()
      const stream = there.drink(1)

      here.pour(1, iterate(chunks))

      expect(await collect(stream)).toEqual(chunks)
    }),
    { numRuns: 50 },
  )
})

test('a writer runs no further ahead of its reader than the window', async () => {
  const [here, there] = line()
  const stream = there.drink(1)
  let written = 0
  const source = async function* () {
    for (; written < 100; written++) yield new Uint8Array(65_536)
  }

  here.pour(1, source())
  await quiet()
  const before = written
  await stream.next()
  await quiet()

  expect(before).toBeLessThan(6)
  expect(written).toBe(before + 1)
})

test('a reader that goes away ends the source', async () => {
  const [here, there] = line()
  const stream = there.drink(1)
  let ended = false
  const source = async function* () {
    try {
      for (;;) yield 'x'.repeat(65_536)
    } finally {
      ended = true
    }
  }

  here.pour(1, source())
  await stream.next()
  await stream.return()
  await quiet()

  expect(ended).toBe(true)
  expect(await stream.next()).toEqual({ done: true, value: undefined })
})

test('a source that fails breaks the stream with the same problem', async () => {
  const [here, there] = line()
  const stream = there.drink(1)
  const source = async function* () {
    yield 'first'
    throw new Problem('too_large', 'Too much.', { limit: 1 })
  }

  here.pour(1, source())

  expect(await stream.next()).toEqual({ done: false, value: 'first' })
  await expect(stream.next()).rejects.toMatchObject({ code: 'too_large', message: 'Too much.', about: { limit: 1 } })
})

test('a chunk that is part of a pool takes its own bytes along and leaves the pool whole', async () => {
  const [here, there] = line()
  const stream = there.drink(1)
  const pool = new Uint8Array(1_000).fill(7)

  here.pour(1, iterate([pool.subarray(10, 20)]))
  const { value } = await stream.next()

  expect((value as Uint8Array).buffer.byteLength).toBe(10)
  expect(pool).toHaveLength(1_000)
})

test('what goes to many streams at once crosses the line once', async () => {
  const [here, there, crossed] = line()
  const streams = [1, 2, 3].map((id) => there.drink(id))
  const shared = new TextEncoder().encode('told to all')

  for (const id of [1, 2, 3]) here.pour(id, iterate([shared]))
  const told = await Promise.all(streams.map(collect))

  expect(told).toEqual([[shared], [shared], [shared]])
  expect(crossed.filter((message) => message.do === 'chunk')).toEqual([{ do: 'chunk', ids: [1, 2, 3], chunk: shared }])
})

/** Two ends of a line between threads, and what has crossed it. */
function line(): [Flows, Flows, Flow[]] {
  const channel = new MessageChannel()
  channels.push(channel)
  const crossed: Flow[] = []
  const end = (port: MessageChannel['port1']): Flows => {
    const wire: Wire<Flow, Flow> = new Wire(port, (message) => {
      crossed.push(message)
      flows.receive(message)
    })
    const flows: Flows = new Flows(wire)
    return flows
  }
  return [end(channel.port1), end(channel.port2), crossed]
}

async function* iterate(chunks: readonly Chunk[]): AsyncGenerator<Chunk> {
  yield* chunks
}

async function collect(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

/** Long enough for every message that is in progress. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 200; i++) await new Promise<void>((done) => setImmediate(done))
}
