import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Message, messagesIn } from './sse.ts'

test.each<[string, string, Message[]]>([
  ['a message has an id, a name and data', 'id: 7\nevent: a\ndata: {}\n\n', [{ id: '7', event: 'a', data: '{}' }]],
  ['lines of data are joined', 'data: a\ndata: b\n\n', [{ id: '', event: 'message', data: 'a\nb' }]],
  ['comments are skipped', ': alive\n\ndata:x\n\n', [{ id: '', event: 'message', data: 'x' }]],
  ['a message without data is none', 'retry: 10\n\nid: 3\n\n', []],
  [
    'an id stays until the next',
    'id: 3\ndata: a\n\ndata: b\n\n',
    [
      { id: '3', event: 'message', data: 'a' },
      { id: '3', event: 'message', data: 'b' },
    ],
  ],
  ['a message that was cut off is dropped', 'data: a\n\ndata: b\n', [{ id: '', event: 'message', data: 'a' }]],
  [
    'lines end in any way',
    'data: a\r\n\r\ndata: b\r\rdata: c\n\n',
    [
      { id: '', event: 'message', data: 'a' },
      { id: '', event: 'message', data: 'b' },
      { id: '', event: 'message', data: 'c' },
    ],
  ],
])('%s', async (_, text, expected) => {
  expect(await all(messagesIn(streamOf([new TextEncoder().encode(text)])))).toEqual(expected)
})

test('the messages do not depend on how the bytes were cut', async () => {
  const bytes = new TextEncoder().encode(
    'id: 1\r\ndata: Zoë 🌊\r\n\r\n: x\ndata: {"a":1}\r\ndata: b\r\n\r\nid: 2\rdata: c\r\r',
  )
  const whole = await all(messagesIn(streamOf([bytes, new TextEncoder().encode('\n')])))

  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const parts = edges.slice(1).map((edge, index) => bytes.slice(edges[index], edge))
      const messages = await all(messagesIn(streamOf([...parts, new TextEncoder().encode('\n')])))
      expect(messages).toEqual(whole)
    }),
  )
  expect(whole).toHaveLength(3)
})

function streamOf(parts: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift()
      if (part) controller.enqueue(part)
      else controller.close()
    },
  })
}

async function all(messages: AsyncIterable<Message>): Promise<Message[]> {
  const list: Message[] = []
  for await (const message of messages) list.push(message)
  return list
}
