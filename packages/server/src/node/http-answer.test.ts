import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AnswerReader } from './http-answer.ts'

function read(text: string, cuts: readonly number[] = []): AnswerReader {
  const reader = new AnswerReader(true)
  const bytes = Buffer.from(text, 'latin1')
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  for (let i = 1; i < places.length; i++) reader.take(bytes.subarray(places[i - 1], places[i]))
  return reader
}

const ANSWERS: readonly [says: string, text: string, status: number, body: string, isKept: boolean][] = [
  ['no content', 'HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n', 204, '', true],
  ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 200, 'hello', true],
  ['no reason', 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n', 200, '', true],
  ['close', 'HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok', 200, 'ok', false],
  ['an older version', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 200, 'ok', false],
  [
    'an older version that keeps',
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n1',
    200,
    '1',
    true,
  ],
  [
    'hints first',
    'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 1\r\n\r\nx',
    500,
    'x',
    true,
  ],
  [
    'chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: x\r\n\r\n',
    200,
    'hello!',
    true,
  ],
  ['more than was asked', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\n', 200, 'x', false],
]

describe('an answer is read', () => {
  test.each(ANSWERS)('with %s', (_, text, status, body, isKept) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 6 }), (cuts) => {
        const reader = read(text, cuts)

        expect([reader.isComplete, reader.status, reader.text, reader.isKept]).toEqual([true, status, body, isKept])
      }),
    )
  })

  test('until the connection ends, when it names no length', () => {
    const reader = read('HTTP/1.1 200 OK\r\n\r\nall of it')
    expect(reader.isComplete).toBe(false)

    reader.end()

    expect([reader.isComplete, reader.text, reader.isKept]).toEqual([true, 'all of it', false])
  })

  test('and is not complete when the connection ends too early', () => {
    const reader = read('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf')

    reader.end()

    expect(reader.isComplete).toBe(false)
  })
})

test.each([
  'SSH-2.0-OpenSSH_9.6\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'HTTP/2 200\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n',
  `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`,
])('%j is refused', (text) => {
  expect(() => read(text)).toThrow(/^The answer /)
})
